// Tables and the words around them.
const METRICS = { accuracy: "accuracy", head: "head", middle: "middle", tail: "tail", macro_f1: "macro-F1", g_mean: "G-mean" };
const FINE = ["middle", "macro_f1", "g_mean"]; // left out where there is little room
if (!hasMiddle) delete METRICS.middle;

// What the classifiers do about imbalance; one of the reader's own has no entry.
const CLASSIFIERS = {
  plain: "no balancing",
  reweight: "every class has the same weight",
  pbs: "progressively balanced sampling of its labels",
  "logit-adjust": "the classes' shares are divided out",
  "balanced-softmax": "the classes' shares are part of its loss",
  "nearest-mean": "the class with the nearest mean",
  lda: "Gaussian classes with one covariance",
  best: "the best of plain, reweight and logit-adjust on validation nodes",
  ensemble: "the mean of a linear model, boosted trees and a forest, the classes' shares divided out",
  trees: "boosted trees or a random forest, classes weighted alike",
};

function cell(estimate) {
  const children = [percent(estimate.mean)];
  if (estimate.sd !== null) children.push(element("span", { class: "deviation" }, ` ± ${percent(estimate.sd)}`));
  return children;
}

function fillResults() {
  const table = find("results");
  const rows = runs.flatMap((run) => Object.entries(run.results).map(([classifier, entry]) => ({ run, classifier, entry })));
  // Bold is what the interval of the best does not tell from it: a tenth of a point is no victory.
  const least = Object.fromEntries(Object.keys(METRICS).map((metric) => {
    const best = rows.map((row) => row.entry.metrics[metric]).reduce((a, b) => ((b.mean ?? -1) > (a.mean ?? -1) ? b : a));
    return [metric, best.ci95 === null ? best.mean : best.ci95[0]];
  }));
  const alike = runs.every((run) => run.seeds === runs[0].seeds);
  const seeds = alike && runs[0].seeds > 1 ? ` and ${count(runs[0].seeds)} seeds of the pre-training` : "";
  table.replaceChildren(
    element("thead", {}, element("tr", {}, element("th", { scope: "col" }, "pre-training"), element("th", { scope: "col", class: "left" }, "classifier"),
      ...Object.entries(METRICS).map(([metric, title]) => element("th", { scope: "col", class: FINE.includes(metric) ? "fine" : null }, title)))),
    element("tbody", {}, ...rows.map(({ run, classifier, entry }) =>
      element("tr", {}, element("th", { scope: "row" }, run.name + (alike ? "" : ` (${count(run.seeds)} seeds)`)), element("td", { class: "left" }, classifier),
        ...Object.keys(METRICS).map((metric) => {
          const found = entry.metrics[metric];
          const marks = [found.mean !== null && rows.length > 1 && found.mean >= least[metric] ? "best" : "", FINE.includes(metric) ? "fine" : ""];
          return element("td", { class: marks.join(" ").trim() || null }, ...cell(found));
        })))),
  );
  fillReferences(table);
  const { splits, notes } = content.protocol;
  find("results-note").textContent =
    `Percent, mean ± standard deviation over ${splits} split${splits > 1 ? "s" : ""}${seeds}; bold: the best of a column${content.references ? " (rows to beat aside)" : ""}, and what lies in its 95 % interval. ` +
    `${hasMiddle ? "Head, middle and tail: mean recall of the common, medium and rare classes" : "Head and tail: recall of the common and of the rare class"}. ${content.conclusion ? "In sentences, [ ] is a 95 % interval of a difference in percentage points. " : ""}${notes.map((note) => `${note[0].toUpperCase()}${note.slice(1)}.`).join(" ")}`;
}

function fillReferences(table) {
  if (!content.references) return;
  const { rows, note, verdicts } = content.references;
  const lines = Object.entries(rows).flatMap(([title, entries]) => Object.entries(entries).map(([classifier, entry]) =>
    element("tr", { class: "reference" }, element("th", { scope: "row" }, `to beat: ${title}`), element("td", { class: "left" }, classifier),
      ...Object.keys(METRICS).map((metric) => element("td", { class: FINE.includes(metric) ? "fine" : null }, ...cell(entry.metrics[metric]))))));
  if (lines.length) table.append(element("tbody", {}, ...lines));
  find("references-note").textContent = [...verdicts, note ? `${note}.` : ""].join(" ").trim();
}

function fillPerClassTable() {
  const shown = compared();
  find("per-class-table").replaceChildren(
    element("thead", {}, element("tr", {}, element("th", { scope: "col" }, "class"), element("th", { scope: "col" }, "nodes"),
      ...shown.flatMap(({ name }) => ["recall", "precision"].map((metric) => element("th", { scope: "col" }, `${name}: ${metric}`))))),
    element("tbody", {}, ...bySize.map((k) => element("tr", {}, element("th", { scope: "row" }, classes[k].name), element("td", {}, count(classes[k].size)),
      ...shown.flatMap(({ entry }) => ["recall", "precision"].map((metric) => element("td", {}, ...cell(entry[metric][k]))))))),
  );
}

function list(texts) {
  return texts.length > 1 ? `${texts.slice(0, -1).join(", ")} and ${texts.at(-1)}` : texts[0];
}

const linear = () => !content.classifiers.some((name) => ["trees", "ensemble"].includes(name));

function describedClassifiers() {
  const known = content.classifiers.filter((name) => CLASSIFIERS[name]).map((name) => `${name}: ${CLASSIFIERS[name]}`);
  return known.length ? ` (${known.join("; ")})` : "";
}

function fillLead() {
  const { name, about, nodes: n, edges } = content.graph;
  find("title").textContent = name;
  const facts = [`${count(n)} nodes`];
  if (edges !== null) facts.push(`${count(edges)} edges`);
  if (classes.length) facts.push(`${classes.length} classes`);
  find("facts").textContent = facts.join(" · ");
  const lead = find("lead");
  if (about) lead.append(element("p", {}, `The graph: ${about}.`));
  if (!classes.length) {
    lead.append(element("p", {}, "The graph has no labels, so there is nothing to score: the map, the training and the settings are below."));
    return;
  }
  const taught = classes.map((entry) => entry.train);
  const total = (numbers) => numbers.reduce((a, b) => a + b, 0);
  const all = total(classes.map((entry) => entry.size));
  lead.append(
    element("p", {}, `Contrastive pre-training gave every node an embedding without looking at labels. A ${linear() ? "linear " : ""}classifier then learned from ` +
      `${count(total(taught))} of ${count(all)} labels, ${count(Math.max(...taught))} of the most common class and only ${count(Math.min(...taught))} of the rarest, ` +
      `and was tested on ${content.protocol.test === "natural" ? "nodes in the natural shares of the classes" : "equally many nodes of every class"}.` +
      `${runs.some((run) => run.ranking) ? " The ranking below learns from all labels." : ""}`),
    element("p", {}, "Two things can be balanced so that rare classes are not forgotten: the pre-training (ImGCL selects rows evenly over pseudo-classes) and the classifier" +
      `${describedClassifiers()}. ` +
      `${runs.length > 1 ? "Compared are" : "Shown is"} ${list(runs.map((run) => `${run.name} (${run.balanced ? "balanced pre-training" : "plain contrastive pre-training"})`))}.`),
  );
  if (runs.length === 1) {
    lead.append(element("p", { class: "muted" },
      `Give imgcl report the directory of a second run, for example one made with ${runs[0].balanced ? "--no-balance" : "--balance imgcl"}, to see both side by side and who earned the gain.`));
  }
  if (content.progress.length) {
    lead.append(element("h3", {}, "How far is the labelling?"), element("ul", {}, ...content.progress.map((sentence) => element("li", {}, sentence))));
  }
  if (content.conclusion) {
    find("conclusion").textContent = content.conclusion;
    find("conclusion").hidden = false;
  }
}

function fillNotes() {
  const { nodes: n } = content.graph;
  const sample = content.shown < n ? `A random ${count(content.shown)} of ${count(n)} nodes. ` : "";
  const names = { tsne: "t-SNE: neighbours are alike, distances between far groups mean little", pca: "the first two principal components", umap: "UMAP: neighbours are alike" };
  const compare = runs.length > 1 ? " A ring shows the same node in both maps." : "";
  const learned = classes.length ? " Predictions are those of a classifier that learned from the labels of one split." : "";
  find("map-note").textContent = `${sample}Every point is a node (${names[content.map] ?? content.map}). Point at one for its facts, drag to move, zoom with the buttons, double-click to reset.${compare}${learned}`;
  if (!classes.length) return;
  const sizes = classes.map((entry) => entry.size);
  find("classes-note").textContent =
    `The largest class has ${(Math.max(...sizes) / Math.max(1, Math.min(...sizes))).toFixed(1)} times as many nodes as the smallest. ` +
    `${hasMiddle ? "A third of the classes is called head (common), a third tail (rare), the rest middle" : "The common class is called head, the rare one tail"}. ` +
    "Colours are those of the map. The first chart counts the labelled nodes, the second the few labels that the classifier learns from in one split: the imbalance it has to cope with.";
  if (content.effects) {
    const [low, high] = content.effects.classifiers;
    const [without, balanced] = content.effects.runs.map((i) => runs[i].name);
    find("effects-note").textContent =
      `Both changes, one at a time: pre-training with ImGCL (${balanced}) instead of without (${without}), and the classifier ${high} instead of ${low}. ` +
      "First the four results, then their differences on the same splits, with 95 % intervals: an effect is clear when its interval misses 0.";
    fillSquare();
  }
}

function fillSquare() {
  const { runs: pair, classifiers } = content.effects;
  find("square").replaceChildren(
    element("thead", {}, element("tr", {}, element("th", { scope: "col" }, "accuracy, and recall of the tail"),
      ...classifiers.map((name) => element("th", { scope: "col" }, `classifier ${name}`)))),
    element("tbody", {}, ...pair.map((i, balanced) => element("tr", {}, element("th", { scope: "row" }, `${balanced ? "with" : "without"} ImGCL: ${runs[i].name}`),
      ...classifiers.map((name) => {
        const { accuracy, tail } = runs[i].results[name].metrics;
        return element("td", {}, percent(accuracy.mean), element("span", { class: "deviation" }, `, tail ${percent(tail.mean)}`));
      })))),
  );
}

function fillSettings() {
  const show = (value) => (value === null ? "–" : typeof value === "object" ? JSON.stringify(value) : String(value));
  find("settings-tables").append(...runs.map((run, i) =>
    element("details", { open: i === 0 && runs.length === 1 }, element("summary", {}, run.name),
      element("div", { class: "columns" }, ...Object.entries(run.settings).map(([section, values]) =>
        element("div", {}, element("h3", {}, section), element("dl", {}, ...Object.entries(values).flatMap(([name, value]) =>
          [element("dt", {}, name), element("dd", {}, show(value))]))))))));
}
