"""``imgcl suggest``: from a run and the labels so far to the next nodes to label."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from imgcl._core.progress import stage
from imgcl._core.words import listed
from imgcl.cli.console import DataDir, check_out, option_words, put, say, warn
from imgcl.cli.progress import shown_progress

if TYPE_CHECKING:
    import pandas as pd

    from imgcl.labelling import Progress
    from imgcl.training import Run

DEFAULT_OUT = Path("to_label.csv")
DEFAULT_BUDGET = 50


def suggest(
    run: Annotated[Path, typer.Argument(help="Run directory.")],
    budget: Annotated[int, typer.Option(help="How many nodes to suggest.")] = DEFAULT_BUDGET,
    file: Annotated[
        Path | None, typer.Option("--out", help="CSV file to write (default: that of --labels, else to_label.csv).")
    ] = None,
    labels: Annotated[
        Path | None, typer.Option(help="CSV file of the batches so far, with its column label filled.")
    ] = None,
    strategy: Annotated[
        str, typer.Option(help="auto, cover, balanced, uncertain, search:CLASS or random; see docs/labelling.md.")
    ] = "auto",
    n_clusters: Annotated[int | None, typer.Option(help="Pseudo-classes of --strategy balanced.")] = None,
    graph: Annotated[str | None, typer.Option(help="Where the graph is now (default: where the run found it).")] = None,
    page: Annotated[
        Path | None, typer.Option(help="HTML file to write: a page to label the batch in, with a CSV file to download.")
    ] = None,
    show: Annotated[
        str | None, typer.Option(help="Features on the page: a,b,c (default: those in which a node is unusual).")
    ] = None,
    projection: Annotated[str, typer.Option("--map", help="How the page draws embeddings: tsne, pca, umap.")] = "tsne",
    seed: Annotated[int, typer.Option(help="Seed; the same gives the same batch.")] = 0,
    data_dir: DataDir = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object: nodes, and how far it is.")] = False,
) -> None:
    """Suggest which nodes to label next, the most useful first, and say how far the labelling is.

    Fill the column label of the file that is written, and pass it back with --labels: the next batch is added at its
    end. A node is suggested once, and no label is ever overwritten. Labels that the graph has for some of its nodes
    count as well.

    Examples:
      imgcl suggest runs/mine --budget 50 --out to_label.csv
      imgcl suggest runs/mine --budget 50 --labels to_label.csv
      imgcl suggest runs/mine --budget 50 --labels to_label.csv --page label.html
      imgcl suggest runs/mine --budget 10 --labels to_label.csv --strategy search:fraud
    """
    from imgcl.labelling import LabelFile, progress
    from imgcl.labelling import suggest as choose
    from imgcl.labelling.inputs import misspelt
    from imgcl.report.labelling import check_page
    from imgcl.training import Run
    from imgcl.training.source import embedded_graph

    target = file or labels or DEFAULT_OUT
    check_out("--out", target, [".csv"])
    if page is not None:
        check_out("--page", page, [".html", ".htm"])
    stored = Run(run)
    given = LabelFile() if labels is None else LabelFile.read(labels, stored.node_names or ())
    given.check_keeps(target)
    needed = strategy == "balanced" or page is not None
    loaded = embedded_graph(stored, graph, data_dir) if needed else None
    names = tuple(listed(show or ""))
    if page is not None:
        check_page(loaded, names, projection, len(stored.embedding))
    own = _labels_of_graph(stored)
    for remark in misspelt(sorted(set((given.labels or {}).values()) - {""}), stored):
        warn(remark)
    with shown_progress("suggestions", 4):
        with stage("", weight=3):
            batch = choose(stored, budget, given.labels, strategy, seed, graph=loaded, n_clusters=n_clusters)
        extended = given.extended(batch)
        extended.write(target)
        found = progress(stored, given.labels, batch=budget, random_state=seed) if given.n_labels or own else None
    if as_json:
        print(json.dumps(_facts(batch, found, target, page), allow_nan=False))
    for sentence in () if found is None or as_json else found.sentences():
        put(sentence)
    say(f"{target} ({len(batch):,} more nodes to label)", head="written")
    if page is not None:
        from imgcl.data.importing.recipe import feature_scales, logarithms
        from imgcl.report import labelling_content, write_report

        store = graph or str(stored.facts["graph"]["source"])
        facts: dict[str, Any] = {"name": stored.facts["graph"]["name"], "file_name": target.name, "progress": found}
        with shown_progress("page"):
            content = labelling_content(
                stored,
                extended,
                graph=loaded,
                show=names,
                scales=feature_scales(store),
                logarithms=logarithms(store),
                projection=projection,
                random_state=seed,
                **facts,
            )
        write_report(content, page)
        say(f"{page}, to label in a browser", head="written")
    same = {
        "budget": (budget, DEFAULT_BUDGET),
        "strategy": (strategy, "auto"),
        "n_clusters": (n_clusters, None),
        "graph": (graph, None),
    }
    searches = strategy.startswith("search:")
    say(_what_is_next(run, target, found, option_words(same), searches))


def _what_is_next(run: Path, file: Path, found: Progress | None, same: list[str], searches: bool) -> str:
    """Another round by the same options, or predictions where it hardly pays; a search goes on while it finds."""
    again = shlex.join(["imgcl", "suggest", str(run), "--labels", str(file), *same])
    last = shlex.join(["imgcl", "predict", str(run), "--labels", str(file), "--out", "predictions.csv"])
    if found is None or found.worth_it is not False or searches:
        return f"fill the column label of {file}, then: {again}"
    return f"fill the column label of {file} or leave it, then: {last}"


def _facts(batch: pd.DataFrame, found: Progress | None, file: Path, page: Path | None) -> dict[str, Any]:
    """The batch and how far the labelling is, as plain values with stable names."""
    table = batch.drop(columns="label")
    rows = table.astype(object).where(table.notna(), None).to_dict("records")
    facts: dict[str, Any] = {"path": str(file), "page": None if page is None else str(page), "suggested": rows}
    if found is None:
        return {**facts, "progress": None}
    recall = found.recall
    facts["progress"] = {
        "labels": found.labels,
        "asked": found.asked,
        "classes": [{"name": name, "labels": count} for name, count in found.counts.items()],
        "macro_recall": None if recall.mean is None else {"mean": recall.mean, "ci95": recall.ci95},
        "batch": found.batch,
        "gain": found.gain,
        "new_class": found.unseen,
        "worth_it": found.worth_it,
        "sentences": found.sentences(),
    }
    return facts


def _labels_of_graph(run: Run) -> int:
    """How many nodes have a label in the graph that counts; said, and also when they do not."""
    from imgcl.labelling.inputs import labels_of_graph

    codes = run.record.labels
    if codes is None or not (codes >= 0).any():
        return 0
    if labels_of_graph(run) is None:
        say("every node of the graph has a label: these labels are not used, as if nobody had labelled any")
        return 0
    known = int((codes >= 0).sum())
    say(f"{known:,} nodes have a label in the graph: they count as labelled")
    return known
