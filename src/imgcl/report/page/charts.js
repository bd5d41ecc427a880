// The charts that are not maps.
const GROUPS = ["head", "middle", "tail"];

const noLines = { showgrid: false, zeroline: false }; // of an axis with names instead of numbers

// Room for the second chart's numbers and title, as a fraction of a column.
const gap = (target) => Math.min(0.4, 150 / target.clientWidth);

function groupColour(name) {
  return style(`--${name}`);
}

// Head, middle and tail as lines between the bars and words above them.
function groupMarks(xaxis = "x", yref = "paper") {
  const starts = GROUPS.map((group) => [group, bySize.findIndex((k) => classes[k].group === group)]).filter(([, first]) => first >= 0);
  return {
    shapes: starts.slice(1).map(([, first]) => ({ type: "line", xref: xaxis, yref, x0: first - 0.5, x1: first - 0.5, y0: 0, y1: 1,
      line: { color: style("--muted"), width: 1, dash: "dot" } })),
    annotations: starts.map(([group, first]) => ({ xref: xaxis, yref, x: first - 0.45, y: 1, text: group, showarrow: false, xanchor: "left",
      yanchor: "bottom", font: { color: groupColour(group), size: 12 } })),
  };
}

function drawDistribution(target) {
  const sets = [
    ["size", "labelled nodes", ""],
    ["train", `labels to learn from (${content.protocol.imbalance})`, "2"],
  ];
  const traces = sets.map(([key, , side]) => ({
    type: "bar", xaxis: `x${side}`, yaxis: `y${side}`, showlegend: false,
    x: bySize.map((_, i) => i), y: bySize.map((k) => classes[k][key]),
    text: bySize.map((k) => count(classes[k][key])), textposition: "outside", cliponaxis: false,
    marker: { color: bySize.map(classColour) },
    customdata: bySize.map((k) => [plain(classes[k].name), classes[k].group]),
    hovertemplate: "%{customdata[0]} (%{customdata[1]}): %{y:,}<extra></extra>",
  }));
  const narrow = target.clientWidth < 640;
  const ticks = { tickvals: bySize.map((_, i) => i), ticktext: bySize.map((k) => short(classes[k].name)) };
  const base = layout();
  const marks = sets.map(([, , side]) => groupMarks(`x${side}`, `y${side} domain`));
  Plotly.react(target, traces, layout({
    height: narrow ? 560 : 340,
    grid: { rows: narrow ? 2 : 1, columns: narrow ? 1 : 2, pattern: "independent", xgap: gap(target), ygap: 0.35 },
    xaxis: { ...ticks, ...noLines }, yaxis: { title: title(plain(sets[0][1])), rangemode: "tozero" },
    xaxis2: { ...base.xaxis, ...ticks, ...noLines }, yaxis2: { ...base.yaxis, title: title(plain(sets[1][1])), rangemode: "tozero" },
    shapes: marks.flatMap(({ shapes }) => shapes), annotations: marks.flatMap(({ annotations }) => annotations),
  }), config);
}

// What the bars of a class compare: the runs, or the classifiers of the only run.
function compared() {
  const [only] = runs;
  return runs.length === 1
    ? content.classifiers.map((name) => ({ name, entry: only.results[name] }))
    : runs.map((run) => ({ name: run.name, entry: run.results[state.classifier] })).filter(({ entry }) => entry);
}

function drawPerClass(metric) {
  return (target) => {
    const traces = compared().map(({ name, entry }, i) => {
      const values = bySize.map((k) => entry[metric][k]);
      const ends = (side) => values.map((v) => (v.ci95 === null ? 0 : Math.abs(v.ci95[side] - v.mean) * 100));
      return {
        type: "bar", name: plain(name), x: bySize.map((_, place) => place), y: values.map((v) => 100 * v.mean),
        error_y: { type: "data", symmetric: false, array: ends(1), arrayminus: ends(0), thickness: 1, width: 2,
          color: style("--muted") },
        marker: { color: RUN_COLOURS[i % RUN_COLOURS.length] },
        customdata: bySize.map((k) => plain(classes[k].name)),
        hovertemplate: `%{customdata}: %{y:.1f} %<extra>${plain(name)}</extra>`,
      };
    });
    Plotly.react(target, traces, layout({
      height: 310, barmode: "group", bargap: 0.25, showlegend: true, margin: { l: 50, r: 15, t: 50, b: 45 },
      legend: { orientation: "h", x: 0, y: 1.09, yanchor: "bottom" },
      xaxis: { tickvals: bySize.map((_, i) => i), ticktext: bySize.map((k) => short(classes[k].name)), ...noLines },
      yaxis: { title: title(`${metric}, %`), range: [0, 104], tickvals: [0, 25, 50, 75, 100] },
      ...groupMarks(),
    }), config);
  };
}

function drawConfusion(run) {
  return (target) => {
    const entry = run.results[state.classifier];
    if (!entry) return;
    const rows = bySize.map((k) => {
      const counts = bySize.map((j) => entry.confusion[k][j]);
      const total = counts.reduce((a, b) => a + b, 0);
      return counts.map((value) => (total ? (100 * value) / total : null));
    });
    const labels = bySize.map((k) => short(classes[k].name, 14));
    const dark = document.documentElement.dataset.theme === "dark";
    const few = bySize.length <= 12 && target.clientWidth > 120 + 28 * bySize.length; // room for a number in every field
    const places = bySize.map((_, i) => i);
    const written = few ? places.flatMap((i) => places.map((j) => [j, i, rows[i][j]])).filter(([, , z]) => z >= 0.5) : [];
    Plotly.react(target, [{
      type: "heatmap", z: rows, x: places, y: places, zmin: 0, zmax: 100,
      colorscale: dark ? [[0, "#12181f"], [0.15, "#173a57"], [1, "#2b7fc4"]] : [[0, "#ffffff"], [0.15, "#cfe3f3"], [1, "#0b5a9a"]],
      showscale: !few, xgap: 1, ygap: 1,
      customdata: bySize.map((k) => bySize.map((j) => [plain(classes[k].name), plain(classes[j].name)])),
      hovertemplate: "%{customdata[0]} taken for %{customdata[1]}: %{z:.1f} %<extra></extra>",
    }, {
      type: "scatter", mode: "text", x: written.map(([x]) => x), y: written.map(([, y]) => y), text: written.map(([, , z]) => z.toFixed(0)),
      textfont: { size: 13, color: written.map(([, , z]) => (dark || z > 72 ? "#ffffff" : "#1b2530")) }, hoverinfo: "skip",
    }], layout({
      height: Math.min(520, Math.max(320, target.clientWidth)), margin: { l: 60, r: 24, t: 34, b: 60 }, showlegend: false,
      xaxis: { tickvals: places, ticktext: labels, title: title("what the classifier said"), range: [-0.5, places.length - 0.5], ...noLines },
      yaxis: { tickvals: places, ticktext: labels, title: title("true class"), range: [places.length - 0.5, -0.5], ...noLines },
    }), config);
  };
}

const EFFECTS = {
  "pre-training": "balanced pre-training (ImGCL)",
  interaction: "both beyond their sum",
  both: "both together",
};
const METRIC_COLOURS = { accuracy: "--ink", head: "--head", middle: "--middle", tail: "--tail" };

function effectName(name) {
  const [low, high] = content.effects.classifiers;
  return name === "classifier" ? plain(`${high} in place of ${low}`) : EFFECTS[name] ?? plain(name);
}

function drawEffects(target) {
  const names = Object.keys(content.effects.rows);
  const metrics = Object.keys(content.effects.rows[names[0]]);
  const traces = metrics.map((metric, i) => {
    const values = names.map((name) => content.effects.rows[name][metric]);
    const ends = (side) => values.map((v) => (v.ci95 === null ? 0 : 100 * Math.abs(v.ci95[side] - v.mean)));
    return {
      type: "scatter", mode: "markers", name: metric, x: values.map((v) => (v.mean === null ? null : 100 * v.mean)),
      y: names.map((_, j) => j + (i - (metrics.length - 1) / 2) * 0.18),
      error_x: { type: "data", symmetric: false, array: ends(1), arrayminus: ends(0), thickness: 2, width: 4 },
      marker: { size: 9, color: style(METRIC_COLOURS[metric] ?? "--ink"), symbol: ["circle", "square", "diamond", "triangle-up"][i % 4] },
      customdata: values.map((v) => (v.ci95 === null ? "" : `, 95 % interval ${(100 * v.ci95[0]).toFixed(1)} to ${(100 * v.ci95[1]).toFixed(1)}`)),
      hovertemplate: `${metric}: %{x:+.1f} points%{customdata}<extra></extra>`,
    };
  });
  Plotly.react(target, traces, layout({
    height: 360,
    xaxis: { title: title("gain in percentage points"), zeroline: true,
      zerolinecolor: style("--ink"), zerolinewidth: 1 },
    yaxis: { tickvals: names.map((_, j) => j), ticktext: names.map((name) => (target.clientWidth < 560 ? name : effectName(name))),
      range: [names.length - 0.5, -0.5], zeroline: false },
  }), config);
}

function drawLosses(target) {
  const base = layout();
  const more = {};
  const trained = runs.filter((run) => run.loss.length);
  const traces = trained.map((run, i) => {
    more[`xaxis${i ? i + 1 : ""}`] = { ...base.xaxis, title: title("epoch") };
    more[`yaxis${i ? i + 1 : ""}`] = { ...base.yaxis, title: title(`loss of ${short(run.name, 26)}`) };
    return {
      type: "scatter", mode: "lines", name: plain(run.name), y: run.loss, x: run.loss.map((_, epoch) => epoch),
      xaxis: `x${i ? i + 1 : ""}`, yaxis: `y${i ? i + 1 : ""}`,
      line: { color: RUN_COLOURS[runs.indexOf(run) % RUN_COLOURS.length], width: 1.5 },
      hovertemplate: "epoch %{x}: %{y:.4g}<extra></extra>",
    };
  });
  const columns = target.clientWidth < 640 ? 1 : Math.min(2, trained.length);
  const rows = Math.ceil(trained.length / columns);
  Plotly.react(target, traces, layout({
    height: 70 + 220 * rows, showlegend: false, grid: { rows, columns, pattern: "independent", xgap: gap(target), ygap: 0.3 }, ...more,
  }), config);
}

function drawShares(run) {
  return (target) => {
    const labellings = run.labellings;
    const n = labellings[0].sizes.length;
    const base = layout();
    const traces = [];
    for (let k = 0; k < n; k += 1) {
      for (const [side, whole] of [["", "of all nodes"], ["2", "of the selected rows"]]) {
        const share = labellings.map((entry) => {
          const values = side ? entry.drawn : entry.sizes;
          // Pseudo-classes have no names that last: they are compared by rank, the largest first.
          const order = entry.sizes.map((_, j) => j).sort((a, b) => entry.sizes[b] - entry.sizes[a]);
          return (100 * values[order[k]]) / values.reduce((a, b) => a + b, 0);
        });
        traces.push({
          type: "bar", x: labellings.map((_, i) => i + 1), y: share, xaxis: `x${side}`, yaxis: `y${side}`,
          marker: { color: classColour(k) }, showlegend: false,
          hovertemplate: `labelling %{x}, pseudo-class ${k + 1}: %{y:.1f} % ${whole}<extra></extra>`,
        });
      }
    }
    const narrow = target.clientWidth < 640;
    const axes = (text) => [
      { ...base.xaxis, title: title("labelling"), dtick: 1 },
      { ...base.yaxis, title: title(text), range: [0, 100] },
    ];
    const [x1, y1] = axes("share of all nodes, %");
    const [x2, y2] = axes("share of the selected rows, %");
    Plotly.react(target, traces, layout({
      height: narrow ? 560 : 320, barmode: "stack",
      grid: { rows: narrow ? 2 : 1, columns: narrow ? 1 : 2, pattern: "independent", xgap: gap(target), ygap: 0.3 },
      xaxis: x1, yaxis: y1, xaxis2: x2, yaxis2: y2,
    }), config);
  };
}
