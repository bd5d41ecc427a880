"""The results page of the baselines: our figures beside the paper's."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from imgcl.baselines.running import BASELINES, run_baseline
from imgcl.evaluate import EvaluationResult
from imgcl.evaluate.paper import paper_accuracy
from imgcl.evaluate.render import markdown_table
from imgcl.graph import Graph

CLASSIFIERS = ("plain", "pbs", "reweight")


def run_page(
    graphs: Sequence[Graph],
    command: str,
    names: Sequence[str] = tuple(BASELINES),
    imbalance: Any = "exp:100",
    splits: int = 20,
    random_state: int = 0,
    progress: Callable[[str], None] = lambda text: None,
) -> str:
    """Run baselines on graphs and write the page.

    Args:
        graphs: with labels, named as :func:`imgcl.load_graph` names them.
        command: the command that makes the page, for the page itself.
        names: baselines.
        imbalance: law of the training labels.
        splits: how many.
        random_state: seed.
        progress: called with a line for each baseline that is done.

    Returns:
        Markdown.
    """
    results: dict[str, dict[str, EvaluationResult]] = {}
    for graph in graphs:
        for name in names:
            result = run_baseline(name, graph, imbalance, None, splits, random_state)
            results.setdefault(graph.name, {})[name] = result
            best = ", ".join(f"{each} {result[each, 'accuracy'].percent()}" for each in result.classifiers)
            progress(f"{graph.name} {name}: {best}")
    return baselines_page(results, command)


def baselines_page(results: Mapping[str, Mapping[str, EvaluationResult]], command: str) -> str:
    """The page from results, by graph and then by baseline."""
    first = next(iter(next(iter(results.values())).values()))
    scores = first.of(first.classifiers[0])
    lines = [
        "# Baselines",
        "",
        f"Accuracy on balanced test nodes in percent, mean ± standard deviation over {len(scores.splits)} splits; "
        f"training labels follow `{first.protocol['imbalance']}`. In brackets: recall of the tail classes. Made by",
        "",
        f"    {command}",
        "",
        "The paper's figures stand in the last column (its Table 1; it does not say which classifier its walk and",
        "feature baselines had; for the GCN its plain and its PBS row are given). The ceiling is the same embedding",
        "with the probe trained on every label outside the test set.",
    ]
    for graph, by_name in results.items():
        rows = [_row(graph, name, result) for name, result in by_name.items()]
        lines += ["", f"## {graph}", "", markdown_table(["baseline", *CLASSIFIERS, "ceiling", "paper"], rows)]
    return "\n".join(lines) + "\n"


def _row(graph: str, name: str, result: EvaluationResult) -> list[str]:
    cells = [BASELINES[name].title]
    for classifier in CLASSIFIERS:
        if classifier not in result.classifiers:
            cells.append("-")
            continue
        tail = result[classifier, "tail"].mean
        cells.append(result[classifier, "accuracy"].percent() + ("" if tail is None else f" ({100 * tail:.1f})"))
    cells.append("-" if result.ceiling is None else result["ceiling", "accuracy"].percent())
    figures = [paper_accuracy(name, graph), paper_accuracy(name, graph, balanced=True)]
    shown = [f"{value:.2f}" for value in figures if value is not None]
    return [*cells, " -> ".join(shown) or "-"]
