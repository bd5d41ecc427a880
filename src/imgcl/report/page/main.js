// Put everything into its place; sections without data are taken away.
function startClassifier() {
  const box = find("classifier");
  if (content.classifiers.length < 2) {
    box.remove();
    return;
  }
  for (const name of content.classifiers) {
    const input = element("input", { type: "radio", name: "classifier", value: name, checked: name === state.classifier });
    input.addEventListener("change", () => {
      state.classifier = name;
      fillPerClassTable();
      redraw();
    });
    box.append(element("label", {}, input, ` ${name}`));
  }
}

function startSections() {
  const scored = classes.length > 0;
  const keep = {
    ranking: rankedRuns.length > 0,
    classes: scored,
    "per-class": scored,
    confusion: scored,
    effects: content.effects !== null,
    training: runs.some((run) => run.loss.length),
  };
  Object.entries(keep).forEach(([id, wanted]) => wanted || find(id).remove());
  find("contents").append(...Array.from(document.querySelectorAll("main > section"), (section) =>
    element("li", {}, element("a", { href: `#${section.id}` }, section.dataset.title))));
}

function startCharts() {
  if (classes.length) {
    chart(find("distribution"), "Bars: number of nodes and of training labels of every class, largest first", drawDistribution);
    for (const metric of ["recall", "precision"]) {
      chart(find(metric), `Bars: ${metric} of every class, one bar for each run; the table below has the numbers`, drawPerClass(metric));
    }
    runs.forEach((run, i) => {
      const target = element("div", { class: "chart", id: `confusion-${i}`, role: "img" });
      find("confusions").append(element("div", {}, element("h3", {}, run.name), target));
      chart(target, `Confusion matrix of ${run.name}`, drawConfusion(run));
    });
  }
  if (content.effects) chart(find("effects-chart"), "Effects of balancing pre-training and classifier, with intervals", drawEffects);
  if (find("losses")) {
    chart(find("losses"), "Loss over the epochs", drawLosses);
    runs.filter((run) => run.labellings.length).forEach((run) => {
      const target = element("div", { class: "chart shares", role: "img" });
      find("shares").append(
        element("h3", {}, `${run.name}: from the classes as they are to a balanced selection`),
        element("p", { class: "muted" }, "At every labelling the embeddings are clustered into pseudo-classes. The first chart shows how large they are, the second how large they are " +
          "among the rows that the loss is computed on: more and more equal as training goes on."),
        target,
      );
      chart(target, `Shares of the pseudo-classes of ${run.name} at every labelling`, drawShares(run));
    });
  }
}

startSections();
startClassifier();
fillLead();
fillNotes();
if (classes.length) {
  fillResults();
  fillPerClassTable();
}
fillSettings();
startTheme();
startPrinting();
startMap();
if (rankedRuns.length) startRanking();
startCharts();
document.documentElement.dataset.ready = "true";
