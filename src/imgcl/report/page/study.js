// The page of a study.
const content = JSON.parse(document.getElementById("content").textContent);
const SERIES_COLOURS = ["#7F8C99", "#1F86C7", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9", "#B8A900"];
const chosen = { metric: null, text: "" };

// The texts of a study are those of its Markdown page: `code` is the only markup in them.
function prose(text) {
  return text.split("`").map((part, i) => (i % 2 ? element("code", {}, part) : part));
}

function drawEstimates(target) {
  const rows = content.rows.filter((row) => row.metric === chosen.metric && row.mean !== null && row.group.toLowerCase().includes(chosen.text));
  const groups = [...new Set(rows.map((row) => row.group))];
  const series = [...new Set(content.rows.map((row) => row.series))];
  const traces = series.map((name, i) => {
    const mine = rows.filter((row) => row.series === name);
    const ends = (key) => mine.map((row) => (row[key] === null ? 0 : 100 * Math.abs(row[key] - row.mean)));
    return {
      type: "scatter", mode: "markers", name: plain(name || "value"), x: mine.map((row) => 100 * row.mean),
      y: mine.map((row) => groups.indexOf(row.group) + (i - (series.length - 1) / 2) * (0.6 / series.length)),
      error_x: { type: "data", symmetric: false, array: ends("high"), arrayminus: ends("low"), thickness: 1.5, width: 3 },
      marker: { size: 8, color: SERIES_COLOURS[i % SERIES_COLOURS.length] },
      customdata: mine.map((row) => plain(row.group)),
      hovertemplate: `%{customdata}<br>${plain(name)}: %{x:.1f}<extra></extra>`,
    };
  }).filter((trace) => trace.x.length);
  Plotly.react(target, traces, layout({
    height: Math.max(260, 110 + 34 * groups.length),
    xaxis: { title: title(`${plain(chosen.metric)}, percent, 95 % interval`) },
    yaxis: { tickvals: groups.map((_, j) => j), ticktext: groups.map((group) => short(group, target.clientWidth < 560 ? 18 : 48)), range: [groups.length - 0.5, -0.5], zeroline: false },
  }), config);
}

function startExplore() {
  const metrics = [...new Set(content.rows.map((row) => row.metric))];
  if (!metrics.length) {
    find("explore").remove();
    return;
  }
  [chosen.metric] = metrics;
  find("metric").append(...metrics.map((metric) => element("option", { value: metric }, metric)));
  find("metric").addEventListener("change", (event) => {
    chosen.metric = event.target.value;
    redraw();
  });
  find("search").addEventListener("input", (event) => {
    chosen.text = event.target.value.trim().toLowerCase();
    redraw();
  });
  chart(find("estimates"), "Estimates with their intervals; the tables below have the numbers", drawEstimates);
}

find("title").textContent = content.title;
find("summary").append(...content.text.map((paragraph) => element("p", {}, ...prose(paragraph))));
if (content.open || content.failed) {
  find("summary").append(element("p", { class: "callout" }, `Not complete: ${count(content.open)} cells are open, ${count(content.failed)} failed.`));
}
find("summary").append(...Object.entries(content.missing).map(([name, why]) => element("p", { class: "muted" }, `${name}: ${why}`)));
for (const table of content.tables) {
  find("tables").append(
    element("h2", {}, table.title),
    element("div", { class: "scroll" }, element("table", {},
      element("thead", {}, element("tr", {}, ...table.header.map((cell) => element("th", { scope: "col" }, cell)))),
      element("tbody", {}, ...table.rows.map((row) => element("tr", {}, ...row.map((cell) => element("td", {}, cell))))))),
    element("p", { class: "muted" }, ...prose(table.note)),
  );
}
for (const [name, address] of Object.entries(content.figures)) {
  find("figures").append(element("figure", {}, element("img", { src: address, alt: name }), element("figcaption", { class: "muted" }, name)));
}
if (!Object.keys(content.figures).length) find("figures").remove();
find("made").append(element("dl", {}, ...Object.entries(content.facts).flatMap(([name, value]) => [element("dt", {}, name), element("dd", {}, value)])));
startTheme();
startPrinting();
startExplore();
document.documentElement.dataset.ready = "true";
