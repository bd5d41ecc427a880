// Small tools: elements, numbers, colours of the page, charts that are drawn when they come into view.

// Every text of the data becomes a text node: markup in a name stays text.
function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value !== null && value !== false) made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

const find = (id) => document.getElementById(id);

// plotly reads a few tags and entities in its texts: with these three escaped it shows them as they are.
function plain(text) {
  return String(text).replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

function short(text, length = 16) {
  const characters = [...String(text)];
  return plain(characters.length > length ? `${characters.slice(0, length - 1).join("")}…` : characters.join(""));
}

const count = (value) => value.toLocaleString("en");
const percent = (value, digits = 1) => (value === null || value === undefined ? "–" : (100 * value).toFixed(digits));

function style(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

// All axis titles have one size, whatever their chart.
const title = (text) => ({ text, font: { size: 13 }, standoff: 8 });

const config = { responsive: true, displaylogo: false, modeBarButtonsToRemove: ["select2d", "lasso2d", "autoScale2d"] };

function layout(more = {}) {
  const axis = { gridcolor: style("--grid"), zerolinecolor: style("--line"), linecolor: style("--line"), automargin: true };
  const { xaxis = {}, yaxis = {}, ...rest } = more;
  return {
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    font: { color: style("--ink"), family: "system-ui, sans-serif", size: 13 },
    margin: { l: 50, r: 15, t: 30, b: 45 },
    legend: { orientation: "h", x: 0, y: 1.02, yanchor: "bottom" },
    hoverlabel: { bgcolor: style("--paper"), bordercolor: style("--line"), font: { color: style("--ink") } },
    modebar: { bgcolor: "rgba(0,0,0,0)", color: style("--muted"), activecolor: style("--accent") },
    ...rest,
    xaxis: { ...axis, ...xaxis },
    yaxis: { ...axis, ...yaxis },
  };
}

// Charts draw themselves when they come into view, and again when what they depend on changes.
const charts = new Map();
const drawn = new Set();

function chart(target, label, draw) {
  target.setAttribute("aria-label", label);
  charts.set(target, draw);
  observer.observe(target);
}

function drawNow(target) {
  observer.unobserve(target);
  drawn.add(target);
  charts.get(target)(target);
}

const observer = new IntersectionObserver(
  (entries) => entries.filter((entry) => entry.isIntersecting).forEach((entry) => drawNow(entry.target)),
  { rootMargin: "300px" },
);

function redraw() {
  drawn.forEach((target) => charts.get(target)(target));
}

function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  find("theme").textContent = theme === "dark" ? "Light" : "Dark";
  redraw();
}

function startTheme() {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  setTheme(dark.matches ? "dark" : "light");
  dark.addEventListener("change", () => setTheme(dark.matches ? "dark" : "light"));
  find("theme").addEventListener("click", () =>
    setTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark"),
  );
}

// On paper everything is there, in light colours: charts that were not in view yet, what is folded, and no more than fits its width.
function startPrinting() {
  const page = document.documentElement;
  let before = null;
  let folded = [];
  addEventListener("beforeprint", () => {
    before ??= page.dataset.theme;
    folded = [...folded, ...document.querySelectorAll("details:not([open])")];
    folded.forEach((details) => { details.open = true; });
    page.classList.add("printing");
    charts.forEach((_, target) => drawn.has(target) || drawNow(target));
    setTheme("light");
    // Now, not after a moment as Plotly.Plots.resize does: the browser prints when this returns.
    drawn.forEach((target) => Plotly.relayout(target, { width: target.clientWidth }));
  });
  addEventListener("afterprint", () => {
    page.classList.remove("printing");
    folded.forEach((details) => { details.open = false; });
    folded = [];
    setTheme(before);
    drawn.forEach((target) => Plotly.Plots.resize(target));
    before = null;
  });
}
