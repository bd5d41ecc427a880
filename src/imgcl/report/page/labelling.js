// The page: one card at a time, its choices, the map, and what is left to do.
const PALETTE = ["#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9", "#B8A900", "#8C6BB1", "#A65628", "#7F8C99"];
const colourOf = (name) => PALETTE[Math.max(0, classNames().indexOf(name)) % PALETTE.length];
const list = (items) => element("ul", {}, ...items.map((item) => element("li", {}, item)));
const withLabel = (each) => (each.label === null ? each.node : `${each.node} (${each.label})`);

function say(text) {
  find("said").textContent = text;
}

function refuse(text) {
  find("wrong").textContent = text;
  find("wrong").hidden = !text;
}

function show(at) {
  entered.at = at;
  keep();
  draw();
}

function draw() {
  drawState();
  drawCard();
  drawChoices();
  drawAll();
  drawMap();
}

function drawState() {
  const found = [...classCounts().values()].filter((n) => n > 0).length;
  find("counted").textContent = `${labelled()} of ${cards.length} labelled · ${found} ${found === 1 ? "class" : "classes"} found`;
  find("bar").value = labelled() / cards.length;
  find("undo").disabled = entered.history.length === 0;
  find("back").disabled = entered.at === 0;
  find("skip").disabled = entered.at === cards.length - 1;
  find("clear").disabled = labelOf(entered.at) === null;
  if (!kept) refuse("This browser keeps nothing: download the CSV file before you close the page.");
}

function drawCard() {
  const card = cards[entered.at];
  const label = labelOf(entered.at);
  find("place").textContent = `${entered.at + 1} of ${cards.length}${label === null ? "" : ` · labelled ${label}`}`;
  find("node").textContent = card.node;
  find("details").replaceChildren(...parts(card).map(([title, body]) => element("div", {}, element("h3", {}, title), body)));
}

function parts(card) {
  const shown = [];
  if (card.facts.length) {
    shown.push(["Features", element("dl", {}, ...card.facts.flatMap(([name, value]) => [element("dt", {}, name), element("dd", {}, value)]))]);
  }
  if (card.neighbours) {
    const some = card.neighbours.some.map(withLabel);
    const more = card.neighbours.count - some.length;
    shown.push([`Neighbours (${count(card.neighbours.count)})`, list(more > 0 ? [...some, `and ${count(more)} more`] : some.length ? some : ["none"])]);
  }
  if (card.nearest.length) {
    shown.push(["Most similar labelled nodes", list(card.nearest.map((each) => `${withLabel(each)}, similarity ${each.similarity}`))]);
  }
  shown.push(["Why this node", list(why(card.why))]);
  return shown;
}

function why(reason) {
  const said = [];
  if (reason.cluster_size) {
    const typical = reason.typical === "1.0" ? "the most typical of" : "one of";
    said.push(`${typical} ${count(Number(reason.cluster_size))} nodes in cluster ${reason.cluster}`);
  }
  if (reason.expected) said.push(`expected: ${reason.expected} (${percent(Number(reason.probability), 0)} %)`);
  return said.length ? said : ["suggested earlier"];
}

// Buttons stay where they are while classes are the same, so that the focus stays too.
function drawChoices() {
  const box = find("choices");
  const names = classNames();
  if (names.length !== box.children.length || names.some((name, i) => box.children[i].dataset.name !== name)) {
    box.replaceChildren(...names.map(choiceButton));
    find("known").replaceChildren(...names.map((name) => element("option", { value: name })));
  }
  const counts = classCounts();
  names.forEach((name, i) => {
    box.children[i].setAttribute("aria-pressed", String(labelOf(entered.at) === name));
    box.children[i].querySelector(".count").textContent = count(counts.get(name));
  });
}

function choiceButton(name, i) {
  const key = i < 9 ? element("kbd", {}, String(i + 1)) : null;
  const swatch = element("span", { class: "swatch", style: `background:${colourOf(name)}`, "aria-hidden": "true" });
  return element("button", { type: "button", "data-name": name, onclick: () => choose(name) }, key, swatch, element("span", {}, name), element("span", { class: "count" }));
}

function drawAll() {
  find("all").replaceChildren(...cards.map((card, i) => {
    const label = labelOf(i);
    const text = label === null ? card.node : `${card.node}: ${label}`;
    return element("li", {}, element("button", { type: "button", "aria-current": i === entered.at ? "true" : null, onclick: () => { show(i); find("card").focus(); } }, text));
  }));
}

function choose(name) {
  const card = entered.at;
  refuse("");
  setLabel(card, name);
  const next = nextOpen(card);
  say(`${cards[card].node} labelled ${name}. ${labelled()} of ${cards.length}. ${next === null ? "All are labelled: download the CSV file." : `Next: ${cards[next].node}.`}`);
  show(next ?? card);
}

function nextOpen(card) {
  for (let step = 1; step <= cards.length; step += 1) {
    const next = (card + step) % cards.length;
    if (labelOf(next) === null) return next;
  }
  return null;
}

function chooseTyped(event) {
  event.preventDefault();
  const name = find("new-class").value.trim();
  if (!name) return;
  if (reserved.has(name)) {
    refuse(`In the file “${name}” means that there is no label: choose another name.`);
    return;
  }
  if (!classNames().includes(name)) entered.extra.push(name);
  find("new-class").value = "";
  find("new-class").blur();
  choose(name);
}

function undo() {
  const card = takeBack();
  if (card === null) return;
  say(`Undone: ${cards[card].node}.`);
  show(card);
}

function clearLabel() {
  if (labelOf(entered.at) === null) return;
  setLabel(entered.at, null);
  say(`${cards[entered.at].node} has no label any more.`);
  show(entered.at);
}

function download() {
  const address = URL.createObjectURL(new Blob([csvText()], { type: "text/csv" }));
  element("a", { href: address, download: content.file }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
  say(`${content.file} downloaded with ${labelled()} new labels.`);
}

function step(by) {
  const at = entered.at + by;
  if (at >= 0 && at < cards.length) {
    show(at);
    say(`${cards[at].node}, ${at + 1} of ${cards.length}.`);
  }
}

const ACTIONS = { u: undo, x: clearLabel, ArrowRight: () => step(1), ArrowLeft: () => step(-1), n: () => find("new-class").focus() };

function pressed(event) {
  const typing = event.target.matches("input:not([type=checkbox]), select, textarea");
  if (event.key === "Escape" && typing) event.target.blur();
  if (typing || event.ctrlKey || event.metaKey || event.altKey || !find("keys").checked) return;
  const name = /^[1-9]$/.test(event.key) ? classNames()[Number(event.key) - 1] : undefined;
  const action = name === undefined ? ACTIONS[event.key] : () => choose(name);
  if (!action) return;
  event.preventDefault();
  action();
}

const ARRAYS = { int8: Int8Array, int16: Int16Array, int32: Int32Array };

function decode(stored) {
  const bytes = Uint8Array.from(atob(stored.data), (character) => character.charCodeAt(0));
  return new ARRAYS[stored.type](bytes.buffer);
}

const plane = content.map && { x: decode(content.map.x), y: decode(content.map.y), class: decode(content.map.class) };

function drawMap() {
  const canvas = find("map");
  if (!plane) {
    canvas.closest("figure").hidden = true;
    return;
  }
  const pen = canvas.getContext("2d");
  const size = canvas.width;
  const place = (value) => ((value / 32767) * 0.47 + 0.5) * size;
  const dot = (i, radius) => { pen.beginPath(); pen.arc(place(plane.x[i]), size - place(plane.y[i]), radius, 0, 7); pen.fill(); };
  pen.clearRect(0, 0, size, size);
  pen.fillStyle = style("--unknown");
  plane.class.forEach((k, i) => k < 0 && dot(i, 2.5));
  plane.class.forEach((k, i) => { if (k >= 0) { pen.fillStyle = colourOf(content.map.names[k]); dot(i, 7); } });
  content.map.cards.forEach((i, card) => { if (labelOf(card) !== null) { pen.fillStyle = colourOf(labelOf(card)); dot(i, 7); } });
  const here = content.map.cards[entered.at];
  pen.strokeStyle = style("--ink");
  pen.lineWidth = 5;
  pen.beginPath();
  pen.arc(place(plane.x[here]), size - place(plane.y[here]), 15, 0, 7);
  pen.stroke();
  canvas.setAttribute("aria-label", `Map of the embedding; ${cards[entered.at].node} is ringed.`);
  find("map-note").textContent = "The embedding in the plane: labelled nodes in the colour of their class, this node ringed.";
}

function start() {
  restore();
  charts.set(find("map"), drawMap); // drawn again when the colours of the page change
  drawn.add(find("map"));
  find("title").textContent = `Label ${content.graph.name}`;
  find("facts").textContent = `${count(cards.length)} nodes, the most useful first; stop whenever you like.`;
  find("how-far").hidden = content.progress.length === 0;
  find("sentences").append(...content.progress.map((sentence) => element("p", {}, sentence)));
  find("other").addEventListener("submit", chooseTyped);
  for (const [id, action] of Object.entries({ undo, download, clear: clearLabel, back: () => step(-1), skip: () => step(1) })) {
    find(id).addEventListener("click", action);
  }
  document.addEventListener("keydown", pressed);
  draw();
  startTheme();
  document.documentElement.dataset.ready = "true";
}

start();
