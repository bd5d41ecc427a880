// The content of the page, and the one place where its arrays are decoded.
const content = JSON.parse(document.getElementById("content").textContent);

const ARRAYS = { int8: Int8Array, int16: Int16Array, int32: Int32Array, float32: Float32Array };

function decode(stored) {
  if (!stored) return null;
  const bytes = Uint8Array.from(atob(stored.data), (character) => character.charCodeAt(0));
  return new ARRAYS[stored.type](bytes.buffer);
}

function decodeAll(byName) {
  return Object.fromEntries(Object.entries(byName).map(([name, stored]) => [name, decode(stored)]));
}

const nodes = {
  id: decode(content.nodes.id),
  name: content.nodes.name,
  degree: decode(content.nodes.degree),
  centrality: decode(content.nodes.centrality),
  class: decode(content.nodes.class),
  role: decode(content.nodes.role),
};

const runs = content.runs.map((run) => ({
  ...run,
  x: Float32Array.from(decode(run.x), (value) => value / 32767),
  y: Float32Array.from(decode(run.y), (value) => value / 32767),
  pseudo: decode(run.pseudo),
  predicted: decodeAll(run.predicted),
  confidence: decodeAll(run.confidence),
  ranking: run.ranking && {
    ...run.ranking,
    classes: run.ranking.classes.map((entry) => ({ ...entry, p: decode(entry.p), rank: decode(entry.rank) })),
  },
}));

const classes = content.classes;
const bySize = classes.map((_, k) => k).sort((a, b) => classes[b].size - classes[a].size || a - b);
const hasMiddle = classes.some((entry) => entry.group === "middle"); // two classes have no middle

// What the reader has chosen; every chart is a function of it.
const state = {
  classifier: content.classifiers[content.classifiers.length - 1] ?? null,
  colour: classes.length ? "class" : "pseudo",
  hidden: new Set(), // class numbers, -1 for nodes without a label
  sides: runs.slice(0, 2).map((_, i) => i),
  node: null, // position of the node that was asked for
};

const ROLES = ["not used", "training label", "validation", "test"];

function nodeName(i) {
  return nodes.name ? nodes.name[i] : `node ${nodes.id[i]}`;
}

function className(k) {
  return k < 0 ? "unlabelled" : classes[k].name;
}

// Class colours: Okabe and Ito's, then more around the colour circle. They serve on light and on dark paper.
const PALETTE = ["#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9", "#B8A900", "#8C6BB1", "#A65628", "#7F8C99"];

function classColour(k) {
  if (k < 0) return style("--unknown");
  return k < PALETTE.length ? PALETTE[k] : `hsl(${Math.round((k * 137.5) % 360)} 60% ${45 + 12 * (k % 2)}%)`;
}

const RUN_COLOURS = ["#7F8C99", "#1F86C7", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9", "#B8A900"];
