// The maps: one per compared run, the same colours, filter and node in all of them.
const webgl = (() => {
  try {
    return Boolean(document.createElement("canvas").getContext("webgl"));
  } catch {
    return false;
  }
})();

const COLOURS = {
  class: { label: "true class", has: () => classes.length > 0, kind: "class", value: () => nodes.class },
  predicted: { label: "predicted class", has: () => classes.length > 0, kind: "class", value: (run) => run.predicted[state.classifier] },
  correct: { label: "right or wrong", has: () => classes.length > 0, kind: "correct", value: (run) => correctness(run) },
  pseudo: { label: "pseudo-label (last labelling)", has: () => runs.some((run) => run.pseudo), kind: "class", value: (run) => run.pseudo },
  centrality: { label: `centrality (${content.nodes.centralityName})`, has: () => nodes.centrality !== null, kind: "scale",
    value: () => nodes.centrality, scale: () => "rank among all nodes: dark is the least central" },
  degree: { label: "degree", has: () => nodes.degree !== null, kind: "scale", value: () => nodes.degree.map((d) => 1000 * Math.log10(1 + d)),
    scale: () => `degree, ${count(least(nodes.degree))} to ${count(-least(nodes.degree.map((d) => -d)))}, on a logarithmic scale` },
};

const CORRECT = [
  ["right", "--good"],
  ["wrong", "--bad"],
  ["no label to compare with", "--unknown"],
];

const least = (values) => values.reduce((a, b) => Math.min(a, b), Infinity);

function correctness(run) {
  const predicted = run.predicted[state.classifier];
  return Int8Array.from(nodes.class, (k, i) => (k < 0 ? 2 : Number(k !== predicted[i])));
}

// Rare classes are drawn last, above the common ones.
const drawOrder = (() => {
  const order = Array.from(nodes.id, (_, i) => i);
  if (!nodes.class) return order;
  const size = (i) => (nodes.class[i] < 0 ? Infinity : classes[nodes.class[i]].size);
  return order.sort((a, b) => size(b) - size(a) || a - b);
})();

function visibleNodes() {
  return nodes.class ? drawOrder.filter((i) => !state.hidden.has(nodes.class[i])) : drawOrder;
}

// A scale of flat steps: plotly maps numbers to colours much faster than it parses one text per point.
function steps(colours) {
  const n = colours.length;
  return colours.flatMap((colour, i) => [[i / n, colour], [(i + 1) / n, colour]]);
}

function marker(run, shown) {
  const mode = COLOURS[state.colour];
  const values = mode.value(run);
  const size = Math.max(3, Math.min(8, 260 / Math.sqrt(nodes.id.length)));
  const base = { size, opacity: 0.85, line: { width: 0 } };
  if (!values) return { ...base, color: style("--unknown") };
  const color = shown.map((i) => values[i]);
  if (mode.kind === "scale") {
    return { ...base, color, colorscale: "Viridis", showscale: false };
  }
  const colours = mode.kind === "correct" ? CORRECT.map(([, name]) => style(name)) : categories(values).map(classColour);
  const offset = mode.kind === "correct" ? 0 : -1; // the first step is for nodes without a class
  return { ...base, color, cmin: offset - 0.5, cmax: offset + colours.length - 0.5, colorscale: steps(colours), showscale: false };
}

function categories(values) {
  let most = classes.length;
  for (const value of values) if (value >= most) most = value + 1;
  return Array.from({ length: most + 1 }, (_, k) => k - 1);
}

function drawMap(side) {
  return (target) => {
    const run = runs[state.sides[side]];
    const shown = visibleNodes();
    const hiddenAxis = { visible: false, range: [-1.08, 1.08], gridcolor: "rgba(0,0,0,0)" };
    const trace = {
      type: webgl ? "scattergl" : "scatter", mode: "markers", hoverinfo: "none",
      x: Float32Array.from(shown, (i) => run.x[i]), y: Float32Array.from(shown, (i) => run.y[i]),
      marker: marker(run, shown),
    };
    target.shown = shown;
    Plotly.react(target, [trace], layout({
      height: target.clientHeight, margin: { l: 0, r: 0, t: 34, b: 0 }, showlegend: false, hovermode: "closest", dragmode: "pan",
      title: { text: `${short(run.name, 40)}${COLOURS[state.colour].value(run) ? "" : " has no pseudo-labels"}`, font: { size: 14 }, x: 0.02, xanchor: "left", y: 0.985, yanchor: "top" },
      xaxis: hiddenAxis, yaxis: { ...hiddenAxis, scaleanchor: "x" }, uirevision: run.name,
    }), { ...config, scrollZoom: false });
    if (!target.listening) {
      target.listening = true;
      target.on("plotly_hover", (event) => showTip(target.shown[event.points[0].pointIndex], event.event));
      target.on("plotly_unhover", hideTip);
      target.on("plotly_click", (event) => choose(target.shown[event.points[0].pointIndex]));
      target.on("plotly_relayout", () => placeRings(state.node));
    }
    placeRings(state.node);
  };
}

function nodeFacts(i) {
  const facts = [];
  if (nodes.name) facts.push(["number", count(nodes.id[i])]);
  if (nodes.class) facts.push(["class", className(nodes.class[i]) + (nodes.class[i] < 0 ? "" : ` (${classes[nodes.class[i]].group})`)]);
  for (const run of runs) {
    const predicted = run.predicted[state.classifier];
    if (predicted) facts.push([`${run.name} says`, `${className(predicted[i])}, ${run.confidence[state.classifier][i]} % sure`]);
    if (run.pseudo) facts.push([`${run.name} pseudo-label`, String(run.pseudo[i] + 1)]);
  }
  if (nodes.role) facts.push(["in this split", ROLES[nodes.role[i]]]);
  if (nodes.degree) facts.push(["degree", count(nodes.degree[i])]);
  if (nodes.centrality) facts.push(["centrality", `more central than ${percent(nodes.centrality[i], 0)} % of nodes`]);
  return facts;
}

function factList(i) {
  return element("dl", {}, ...nodeFacts(i).flatMap(([name, value]) => [element("dt", {}, name), element("dd", {}, value)]));
}

function showTip(i, event) {
  const tip = find("tip");
  tip.replaceChildren(element("strong", {}, nodeName(i)), factList(i));
  tip.hidden = false;
  const x = Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8);
  const y = Math.min(event.clientY + 14, innerHeight - tip.offsetHeight - 8);
  tip.style.left = `${Math.max(4, x)}px`;
  tip.style.top = `${Math.max(4, y)}px`;
  placeRings(i);
}

function hideTip() {
  find("tip").hidden = true;
  placeRings(state.node);
}

// The same node in every map.
function placeRings(i) {
  document.querySelectorAll(".map").forEach((target, side) => {
    target.querySelector(".ring")?.remove();
    const size = target._fullLayout;
    if (i === null || !size || !target.shown?.includes(i)) return;
    const run = runs[state.sides[side]];
    const ring = element("div", { class: "ring" });
    ring.style.left = `${size.xaxis._offset + size.xaxis.d2p(run.x[i])}px`;
    ring.style.top = `${size.yaxis._offset + size.yaxis.d2p(run.y[i])}px`;
    target.append(ring);
  });
}

function choose(i) {
  state.node = i;
  find("node").replaceChildren(element("strong", {}, nodeName(i)), factList(i));
  placeRings(i);
}

function findNode(text) {
  const wanted = text.trim();
  const position = nodes.name ? nodes.name.indexOf(wanted) : -1;
  const i = position >= 0 ? position : wanted === "" ? -1 : nodes.id.indexOf(Number(wanted));
  if (i >= 0) choose(i);
  else find("node").replaceChildren(element("span", { class: "empty" }, `There is no node “${wanted}” on this map.`));
}

function drawLegend() {
  const mode = COLOURS[state.colour];
  const line = (colour, text) => {
    const swatch = element("span", { class: "swatch" });
    swatch.style.background = colour;
    return element("div", {}, swatch, text);
  };
  let lines = [];
  if (mode.kind === "correct") {
    const known = nodes.class.includes(-1) ? CORRECT : CORRECT.slice(0, 2);
    lines = known.map(([text, name]) => line(style(name), text));
  }
  else if (mode.kind === "scale") lines = [line("#440154", "low"), line("#21918c", "middle"), line("#fde725", "high"), element("div", { class: "muted" }, mode.scale())];
  else if (state.colour === "pseudo") lines = [element("div", { class: "muted" }, "One colour for each pseudo-class; they have no names.")];
  find("legend").replaceChildren(...lines);
  // Only then are the colours of the filter those of the map.
  find("filter")?.classList.toggle("legend", state.colour === "class" || state.colour === "predicted");
}

function drawMaps() {
  drawLegend();
  document.querySelectorAll(".map").forEach((target) => drawn.has(target) && charts.get(target)(target));
}

function startMap() {
  const select = find("colour");
  const known = Object.entries(COLOURS).filter(([, mode]) => mode.has());
  if (!known.some(([name]) => name === state.colour)) state.colour = known[0]?.[0] ?? "pseudo";
  select.append(...known.map(([name, mode]) => element("option", { value: name, selected: name === state.colour }, mode.label)));
  select.addEventListener("change", () => {
    state.colour = select.value;
    drawMaps();
  });
  find("find").addEventListener("submit", (event) => {
    event.preventDefault();
    findNode(find("find-text").value);
  });
  state.sides.forEach((_, side) => {
    const target = element("div", { class: "map", id: `map-${side}`, role: "img" });
    find("maps").append(target);
    chart(target, `Map of the embeddings of ${runs[state.sides[side]].name}: every point is a node`, drawMap(side));
  });
  if (runs.length > 2) {
    find("sides").append(...state.sides.map((chosen, side) => {
      const options = runs.map((run, i) => element("option", { value: i, selected: i === chosen }, run.name));
      const pick = element("select", { id: `side-${side}` }, ...options);
      pick.addEventListener("change", () => {
        state.sides[side] = Number(pick.value);
        drawMaps();
      });
      return element("label", {}, side ? " and " : "Compare ", pick);
    }));
  }
  startFilter();
  drawLegend();
}

function startFilter() {
  const filter = find("filter");
  if (!classes.length) {
    filter.remove();
    return;
  }
  const counts = new Map();
  for (const k of nodes.class) counts.set(k, (counts.get(k) ?? 0) + 1);
  const boxes = new Map();
  const change = (wanted) => {
    boxes.forEach((box, k) => {
      box.checked = wanted(k);
      if (box.checked) state.hidden.delete(k);
      else state.hidden.add(k);
    });
    drawMaps();
  };
  const groups = GROUPS.filter((group) => classes.some((entry) => entry.group === group));
  const quick = [["all", () => true], ["none", () => false], ...groups.map((group) => [group, (k) => k >= 0 && classes[k].group === group])];
  filter.append(element("div", { class: "buttons" }, ...quick.map(([name, wanted]) =>
    element("button", { type: "button", onclick: () => change(wanted) }, name))));
  for (const k of [...bySize, ...(counts.has(-1) ? [-1] : [])]) {
    const box = element("input", { type: "checkbox", checked: true, value: k });
    box.addEventListener("change", () => {
      if (box.checked) state.hidden.delete(k);
      else state.hidden.add(k);
      drawMaps();
    });
    boxes.set(k, box);
    const swatch = element("span", { class: "swatch" });
    swatch.style.background = classColour(k);
    filter.append(element("label", {}, box, swatch, element("span", {}, className(k)), element("span", { class: "count" }, count(counts.get(k) ?? 0))));
  }
}
