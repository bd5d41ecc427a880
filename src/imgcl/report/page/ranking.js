// One class against the others: curves, a threshold, and the nodes in the order of their scores.
const FEW = 5; // labels of a class below which its figures say little
const PAGE = 20; // rows of the table that are shown at first, and added at a time
const SHOWN_NODES = { all: "all nodes", unlabelled: "unlabelled nodes", right: "labelled, of the class", wrong: "labelled, of another class" };

const ranked = { run: 0, place: 0, threshold: 0, rows: PAGE, which: "all", text: "" };

const rankedRuns = runs.filter((run) => run.ranking);
const chosenRanking = () => rankedRuns[ranked.run].ranking;
const sought = (run = rankedRuns[ranked.run]) => run.ranking.classes[ranked.place];

// Nodes by rank; precision and recall as if classes were as common as among the nodes that are scored.
function curveOf(run) {
  const entry = sought(run);
  if (!entry.order) entry.order = Array.from(entry.rank, (_, i) => i).sort((a, b) => entry.rank[a] - entry.rank[b]);
  const { weight } = run.ranking.prior;
  let flagged = 0;
  let hits = 0;
  const found = [];
  for (const i of entry.order.filter((node) => nodes.class[node] >= 0)) {
    flagged += weight[nodes.class[i]];
    if (nodes.class[i] === entry.class) hits += weight[nodes.class[i]];
    found.push([flagged, hits]);
  }
  return found.map(([all, right]) => [hits ? right / hits : 0, all ? right / all : 0]);
}

// What a threshold gives: of all nodes how many are flagged, of labelled ones how many rightly.
function atThreshold() {
  const entry = sought();
  const { weight } = chosenRanking().prior;
  const sums = { flagged: 0, unlabelled: 0, weighted: 0, hits: 0, wanted: 0 };
  entry.p.forEach((p, i) => {
    const k = nodes.class[i];
    const w = k < 0 ? 0 : weight[k];
    if (k === entry.class) sums.wanted += w;
    if (p < ranked.threshold) return;
    sums.flagged += 1;
    sums.weighted += w;
    if (k < 0) sums.unlabelled += 1;
    if (k === entry.class) sums.hits += w;
  });
  const ratio = (a, b) => (b ? a / b : null);
  return { ...sums, precision: ratio(sums.hits, sums.weighted), recall: ratio(sums.hits, sums.wanted) };
}

// At most some hundred points of a curve: more are not seen, and make the page slow.
function thinned(points, most = 600) {
  const step = Math.max(1, Math.floor(points.length / most));
  return points.filter((_, i) => i % step === 0 || i === points.length - 1);
}

function drawPrecisionRecall(target) {
  const traces = rankedRuns.map((run) => {
    const points = thinned(curveOf(run));
    return {
      type: "scatter", mode: "lines", name: plain(run.name), x: points.map(([r]) => 100 * r), y: points.map(([, p]) => 100 * p),
      line: { color: RUN_COLOURS[(runs.indexOf(run) + 1) % RUN_COLOURS.length], width: 2 },
      hovertemplate: "recall %{x:.1f} %, precision %{y:.1f} %<extra></extra>",
    };
  });
  const share = 100 * sought().share;
  const { precision, recall } = atThreshold();
  traces.push(
    { type: "scatter", mode: "lines", name: "chance", x: [0, 100], y: [share, share], line: { color: style("--muted"), dash: "dot", width: 1 }, hoverinfo: "skip" },
    { type: "scatter", mode: "markers", name: "threshold", x: precision === null ? [] : [100 * recall], y: precision === null ? [] : [100 * precision],
      marker: { size: 12, color: style("--ink"), symbol: "diamond" }, hovertemplate: "threshold: recall %{x:.1f} %, precision %{y:.1f} %<extra></extra>" },
  );
  Plotly.react(target, traces, layout({
    height: 340, margin: { l: 50, r: 15, t: 50, b: 45 }, showlegend: true,
    xaxis: { title: title("recall, %"), range: [0, 102] }, yaxis: { title: title("precision, %"), range: [0, 102] },
  }), config);
}

function drawReliability(target) {
  const traces = rankedRuns.map((run) => {
    const bins = sought(run).reliability;
    return {
      type: "scatter", mode: "lines+markers", name: plain(run.name), x: bins.map((bin) => 100 * bin.probability), y: bins.map((bin) => 100 * bin.rate),
      line: { color: RUN_COLOURS[(runs.indexOf(run) + 1) % RUN_COLOURS.length], width: 1.5 }, marker: { size: 8 },
      customdata: bins.map((bin) => count(bin.nodes)),
      hovertemplate: "%{customdata} nodes: said %{x:.1f} %, true %{y:.1f} %<extra></extra>",
    };
  });
  const highest = Math.min(102, 8 + 100 * Math.max(0.1, ...rankedRuns.flatMap((run) => sought(run).reliability.flatMap((bin) => [bin.probability, bin.rate]))));
  traces.push({ type: "scatter", mode: "lines", name: "perfectly calibrated", x: [0, 100], y: [0, 100], line: { color: style("--muted"), dash: "dot", width: 1 }, hoverinfo: "skip" });
  Plotly.react(target, traces, layout({
    height: 340, margin: { l: 50, r: 15, t: 50, b: 45 }, showlegend: true,
    xaxis: { title: title("predicted probability, %"), range: [0, highest] }, yaxis: { title: title("observed share, %"), range: [0, highest] },
  }), config);
}

function fillRankingFacts() {
  const entry = sought();
  const name = className(entry.class);
  const digits = (value) => (value === null ? "–" : percent(value));
  const { rule, ece } = chosenRanking();
  find("ranking-facts").textContent =
    `Class ${name}: ${count(entry.labels)} labelled nodes. AUROC ${digits(entry.auroc)} %, AUPRC ${digits(entry.auprc)} % (chance: ${percent(entry.share)} %), ` +
    `recall ${digits(entry.recall_at_k)} % among as many nodes as the class has, Brier score ${entry.brier === null ? "–" : entry.brier.toFixed(3)}. Expected calibration error, of all classes: ${ece === null ? "–" : ece.toFixed(3)}.` +
    `${entry.labels < FEW ? ` With fewer than ${FEW} labels these figures, and those below, are hardly more than chance.` : ""}`;
  const told = entry.expected;
  const interval = ({ value, ci95 }) => `${value === null ? "unknown" : `${percent(value)} %`} [${percent(ci95[0])}, ${percent(ci95[1])}]`;
  find("ranking-rule").textContent = told
    ? `Decision rule ${rule} (another one: --decide). Expected for class ${name}: ${interval(told.flag_rate)} of the nodes, precision ${interval(told.precision)}, recall ${interval(told.recall)}.`
    : `Decision rule ${rule}.`;
}

function fillThreshold() {
  const { flagged, unlabelled, precision, recall } = atThreshold();
  find("threshold-value").textContent = `${(ranked.threshold / 100).toFixed(1)} %`;
  find("threshold-gives").textContent =
    `Flagged: ${count(flagged)} of ${count(nodes.id.length)} nodes (${percent(flagged / nodes.id.length)} %), ${count(unlabelled)} of them unlabelled. ` +
    `Precision ${percent(precision)} %, recall ${percent(recall)} %.`;
}

function rankedNodes() {
  const entry = sought();
  const { text, which } = ranked;
  const wanted = { all: () => true, unlabelled: (k) => k < 0, right: (k) => k === entry.class, wrong: (k) => k >= 0 && k !== entry.class }[which];
  curveOf(rankedRuns[ranked.run]); // the order is made there
  return entry.order.filter((i) => wanted(nodes.class[i]) && nodeName(i).toLowerCase().includes(text));
}

function fillRanking() {
  const entry = sought();
  const found = rankedNodes();
  find("ranking-table").replaceChildren(
    element("thead", {}, element("tr", {}, ...["rank", "node", "probability, %", "flagged", "label"].map((name) => element("th", { scope: "col", class: ["node", "label"].includes(name) ? "left" : null }, name)))),
    element("tbody", {}, ...found.slice(0, ranked.rows).map((i) => element("tr", {},
      element("td", {}, count(entry.rank[i])),
      element("th", { scope: "row", class: "left" }, element("button", { type: "button", class: "link", onclick: () => choose(i) }, nodeName(i))),
      element("td", {}, (entry.p[i] / 100).toFixed(1)),
      element("td", {}, entry.p[i] >= ranked.threshold ? "yes" : "no"),
      element("td", { class: "left" }, className(nodes.class[i])),
    ))),
  );
  find("ranking-more").hidden = found.length <= ranked.rows;
  find("ranking-count").textContent = `${count(Math.min(found.length, ranked.rows))} of ${count(found.length)} nodes`;
}

function drawRanking() {
  fillThreshold();
  fillRanking();
  for (const id of ["precision-recall", "reliability"]) if (drawn.has(find(id))) charts.get(find(id))(find(id));
}

function changeRanking() {
  ranked.place = Math.min(ranked.place, chosenRanking().classes.length - 1);
  ranked.threshold = Math.round(10000 * sought().threshold);
  ranked.rows = PAGE;
  find("threshold").value = ranked.threshold;
  fillRankingFacts();
  drawRanking();
}

function choice(id, options, change) {
  const select = find(id);
  select.append(...options.map((name, i) => element("option", { value: i }, name)));
  select.addEventListener("change", () => change(Number(select.value)));
  if (options.length < 2) select.parentElement.hidden = true;
}

function startRanking() {
  const { prior, calibration, classes: listed } = chosenRanking();
  find("ranking-note").textContent =
    `Every node has a probability for each class, from a linear model, boosted trees and a forest on all labels, averaged and calibrated (${calibration}) and at the class shares of ` +
    `${prior.source === "labels" ? "the labels" : `the nodes that are scored (${prior.source})`}. A labelled node is scored by a model that has not seen its label.`;
  choice("sought", listed.map((entry) => className(entry.class)), (place) => { ranked.place = place; changeRanking(); });
  choice("ranked-run", rankedRuns.map((run) => run.name), (run) => { ranked.run = run; changeRanking(); });
  choice("ranked-nodes", Object.values(SHOWN_NODES), (place) => { ranked.which = Object.keys(SHOWN_NODES)[place]; ranked.rows = PAGE; fillRanking(); });
  find("ranked-text").addEventListener("input", (event) => { ranked.text = event.target.value.trim().toLowerCase(); ranked.rows = PAGE; fillRanking(); });
  find("threshold").addEventListener("input", (event) => { ranked.threshold = Number(event.target.value); drawRanking(); });
  find("ranking-more").addEventListener("click", () => { ranked.rows += PAGE; fillRanking(); });
  chart(find("precision-recall"), "Precision over recall of the class that is sought; the sentence above has the numbers", drawPrecisionRecall);
  chart(find("reliability"), "How often nodes of a predicted probability belong to the class", drawReliability);
  changeRanking();
}
