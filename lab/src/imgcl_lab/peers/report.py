"""The page: beside published figures, every protocol, costs, ranks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from imgcl.evaluation import estimate
from imgcl.studies.grid import StudySpec
from imgcl.studies.report import Report, Table, titled
from imgcl.studies.results import Results
from imgcl.studies.study import Study
from imgcl_lab.peers.answer import answers
from imgcl_lab.peers.ranks import critical_difference, critical_difference_diagram, mean_ranks
from imgcl_lab.peers.rows import CITATION, EMBEDDING, GRAPHS, METRICS, ROWS, Row, found, points

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PUBLISHED = {  # balanced accuracy, step 10, 20 per class: means over seven base methods, as IceBerg's authors give them
    "base": (67.4, 49.2, 71.4),
    "TAM": (68.7, 51.1, 72.5),
    "BAT": (71.9, 60.0, 73.5),
    "double balancing": (74.2, 63.1, 77.2),
    "IceBerg": (75.7, 64.2, 77.5),
    "balanced softmax": (68.5, 53.7, 73.0),
}
MARGIN = 3.0  # points that a baseline may be below its published figure
HEADED = {"balanced_accuracy": "balanced accuracy", "macro_f1": "macro-F1", "tail": "tail recall"}
OPEN = "open"
TEXT = (
    "Self-supervised embeddings with a balanced classifier against supervised networks made for imbalance, all on the "
    "same splits. Protocols: `imgcl` (10 % of the nodes labelled by `exp:100`, balanced test), `step:r` (20 labels per "
    "class, 20 / r for the smaller half of the classes; natural test) and `igl:r` (10 % labelled by `exp:r`, balanced "
    "validation, natural test). The baselines follow their authors' implementations on one trainer: two layers of "
    "width 64, 200 epochs, the epoch and one of two weight decays chosen on validation nodes. Embedding: `imgcl "
    "pretrain` with its defaults, own and propagated features beside it. Percent, mean ± standard deviation over "
    "five splits. Tail: the third of the classes with the fewest labels."
)
BESIDE = (
    "In brackets: ours minus published. The published figures are means over seven base methods, with classes of "
    "larger numbers as the minority; here the smaller classes are, and a row has one base method."
)


def report(results: Results) -> Report:
    """Tables from the most general to the most special; the figure where there is enough to rank."""
    protocols = [name for name in results.values("imbalance") if _finished(results, name)]
    tables = [_beside_published(results), _ranking(results)]
    tables += [_protocol(results, name, metric) for name in protocols for metric in HEADED]
    tables.append(_costs(results))
    figures: dict[str, Callable[[], Figure]] = {}
    if (ranked := _ranked(results)) is not None:
        figures["peers-ranks"] = partial(critical_difference_diagram, *ranked)
    text = [*answers(results, ROWS, GRAPHS), TEXT]
    return Report("Measured against the peers", text, tables, figures, _data(results))


def _finished(results: Results, protocol: str) -> list[str]:
    """The graphs of a protocol on which at least half of the methods are finished."""
    graphs = [name for name in GRAPHS if results.find(dataset=name, imbalance=protocol)]
    return [
        name for name in graphs if 2 * sum(found(results, name, row, protocol) is not None for row in ROWS) >= len(ROWS)
    ]


def _beside_published(results: Results) -> Table:
    lines = []
    for row in ROWS:
        cells = []
        for dataset, figure in zip(CITATION, PUBLISHED.get(row.family, (None,) * 3), strict=True):
            known = found(results, dataset, row, "step:10")
            cells.append(OPEN if known is None else _difference(known, figure))
        lines.append([row.title, *cells, row.family or "-"])
    header = ["method", *map(titled, CITATION), "published with"]
    return Table("Beside published figures: balanced accuracy, `step:10`", header, lines, BESIDE)


def _difference(known: Mapping[str, Any], figure: float | None) -> str:
    ours = estimate(known["values"]["balanced_accuracy"])
    if figure is None:
        return ours.percent()
    gap = 100 * (ours.mean or 0.0) - figure
    return f"{ours.percent()} ({gap:+.1f}{', missed' if gap < -MARGIN else ''})"


def _protocol(results: Results, protocol: str, metric: str) -> Table:
    graphs = _finished(results, protocol)
    lines = []
    for row in ROWS:
        known = [found(results, name, row, protocol) for name in graphs]
        lines.append([row.title, *(OPEN if k is None else estimate(k["values"][metric]).percent() for k in known)])
    return Table(f"`{protocol}`: {HEADED[metric]}", ["method", *map(titled, graphs)], lines)


def _costs(results: Results) -> Table:
    """Processor seconds per split and memory, under the protocol that all graphs have."""
    graphs = _finished(results, "imgcl")
    lines = [[row.title, *(_cost(results, name, row) for name in graphs)] for row in ROWS]
    note = (
        "Processor seconds per split, two weight decays included, and megabytes beyond the graph's. An embedding is "
        "trained once for all splits and protocols: the seconds of its training stand behind the plus sign."
    )
    return Table("Costs, `imgcl`", ["method", *map(titled, graphs)], lines, note)


def _cost(results: Results, dataset: str, row: Row) -> str:
    known = found(results, dataset, row, "imgcl")
    if known is None:
        return OPEN
    splits = len(known["values"]["accuracy"])
    memory = "-" if known["megabytes"] is None else f"{known['megabytes']:.0f} MB"
    return f"{known['seconds'] / splits:.1f} s{_trained(results, dataset, row)}, {memory}"


def _trained(results: Results, dataset: str, row: Row) -> str:
    if row.name != EMBEDDING:
        return ""
    (point, *_) = results.find(dataset=dataset, method=row.label, imbalance="imgcl")
    line = results.line(point["pretrain"])
    return "" if line is None else f" + {line['seconds']:.0f} s"


def _ranked(results: Results) -> tuple[dict[str, float], int] | None:
    """Mean rank of every row by balanced accuracy, over the graphs and protocols where all rows are finished."""
    problems = dict.fromkeys((point["dataset"], point["imbalance"]) for point in results.points)
    table = []
    for dataset, protocol in problems:
        known = [found(results, dataset, row, protocol) for row in ROWS]
        if all(each is not None for each in known):
            table.append([float(np.mean(k["values"]["balanced_accuracy"])) for k in known if k is not None])
    if len(table) < 2:
        return None
    ranks = mean_ranks(np.array(table))
    return {row.title.replace("`", ""): float(rank) for row, rank in zip(ROWS, ranks, strict=True)}, len(table)


def _ranking(results: Results) -> Table:
    ranked = _ranked(results)
    if ranked is None:
        return Table("Ranks", ["method", "mean rank"], [], "Too few graphs are finished.")
    ranks, problems = ranked
    lines = [[name, f"{ranks[name]:.2f}"] for name in sorted(ranks, key=lambda name: ranks[name])]
    difference = critical_difference(len(ranks), problems)
    note = (
        f"Mean rank by balanced accuracy over {problems} pairs of graph and protocol, 1 is best. Two methods differ "
        f"at the 5 % level (Nemenyi) where their ranks are more than {difference:.2f} apart."
    )
    return Table("Ranks", ["method", "mean rank"], lines, note)


def _data(results: Results) -> list[dict[str, Any]]:
    lines = []
    for point in results.points:
        known = results.result(point)
        if known is not None:
            facts = {"dataset": point["dataset"], "protocol": point["imbalance"], "method": point["method"]}
            costs = {"seconds": known["seconds"], "megabytes": known["megabytes"]}
            for metric in METRICS:
                values = enumerate(known["values"][metric])
                lines += [{**facts, **costs, "metric": metric, "split": i, "value": value} for i, value in values]
    return lines


STUDY = Study(
    StudySpec(name="peers", datasets=GRAPHS, balances={"none": "none"}, preset="auto", seeds=1, splits=5),
    report,
    points,
    figures=True,
)
