"""What a report needs, read from run directories."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imgcl._core.errors import InputError, RunError
from imgcl.balance import BalanceSettings
from imgcl.balance.centrality import centrality
from imgcl.data import about
from imgcl.graph import Graph
from imgcl.labelling import progress
from imgcl.labelling.files import is_batch
from imgcl.labelling.inputs import joined_labels, labels_in_file
from imgcl.report.content import Nodes, ReportRun
from imgcl.training import Run, RunConfig
from imgcl.training.pretrain import scoped_graph
from imgcl.training.settings import LEARNED
from imgcl.training.source import reference_blocks, run_graph

BATCH = 50  # further labels whose worth a report speaks of, as many as `imgcl suggest` suggests


def read_runs(paths: Sequence[str | Path], *, own_features: bool = True) -> list[ReportRun]:
    """The runs of a report; directories that differ by their seed alone are one run with several seeds.

    Args:
        paths: run directories.
        own_features: evaluate all blocks of the runs; else the learned block alone.

    Raises:
        RunError: when a directory is not a finished run, or the runs are of different graphs.
    """
    if not paths:
        raise InputError("a report needs at least one run directory")
    stored = [Run(path) for path in paths]
    first = stored[0].facts["graph"]["fingerprint"]
    for run in stored[1:]:
        if run.facts["graph"]["fingerprint"] != first:
            raise RunError(f"{run.path} and {stored[0].path} were trained on different graphs: report them one by one")
    groups: dict[str, list[Run]] = {}
    for run in stored:
        # A scope that thins the graph has a split of its own for every seed: those are not seeds of one evaluation.
        other = {"device"} if run.split is not None else {"seed", "device"}
        same = run.config.model_dump(mode="json", exclude=other)
        groups.setdefault(json.dumps(same, sort_keys=True), []).append(run)
    names = [run_name(members[0].config) for members in groups.values()]
    return [
        _report_run(name if names.count(name) == 1 else f"{name} ({members[0].path.name})", members, own_features)
        for name, members in zip(names, groups.values(), strict=True)
    ]


def run_name(config: RunConfig) -> str:
    """What to call a run.

    Example:
        >>> from imgcl.balance import BalanceSettings
        >>> run_name(RunConfig(method="gbt")), run_name(RunConfig(method="dgi", balance=BalanceSettings()))
        ('GBT', 'DGI + ImGCL')
    """
    method = config.method.rpartition(":")[2].rpartition(".")[2]  # of package.module:Class the class
    return method.upper() + (" + ImGCL" if config.balance is not None else "")


def run_settings(config: RunConfig, **sections: Any) -> dict[str, Any]:
    """Settings by section, for the table at the end of a report."""
    stored = config.model_dump(mode="json")
    settings: dict[str, Any] = {
        "run": {key: stored[key] for key in ("method", "preset", "seed", "device")},
        "method": config.build_settings().model_dump(mode="json"),
        "training": stored["training"],
        "balance": stored["balance"] or {"ImGCL": "off"},
    }
    if config.extended:
        settings["run"]["extended"] = ", ".join(f"after epoch {epoch} of {of}" for epoch, of in config.extended)
    if config.scope.scope != "train":
        settings["scope"] = stored["scope"]
    return settings | sections


def _report_run(name: str, members: list[Run], own_features: bool) -> ReportRun:
    first = members[0]
    blocks = [run.blocks if own_features else {LEARNED: run.embedding} for run in members]
    config = first.config
    facts = first.facts
    seeds = ", ".join(str(run.config.seed) for run in members)
    settings = run_settings(config, graph=facts["graph"], versions={**facts["versions"], "threads": facts["threads"]})
    settings["run"] |= {"seed": seeds, "blocks": ", ".join(blocks[0])}
    return ReportRun(
        name=name,
        balanced=config.balance is not None,
        embeddings=[each[LEARNED] for each in blocks],
        blocks=blocks,
        history=first.history,
        pseudo_labels=_pseudo_labels(first),
        split=first.split,
        settings=settings,
    )


def _pseudo_labels(run: Run) -> NDArray[np.int64] | None:
    """Pseudo-labels of the last labelling; none without ImGCL, or when pre-training saw other nodes than the map."""
    if run.config.balance is None or run.config.scope.scope != "train" or not run.has_checkpoint:
        return None
    labels = run.checkpoint().tensors.get("selector/labels")
    return None if labels is None or not len(labels) else labels.numpy()


def read_nodes(
    path: str | Path, *, graph: str | None = None, labels: str | Path | None = None, data_dir: str | Path | None = None
) -> tuple[Nodes, str | None]:
    """What is known about the nodes of a run.

    Args:
        path: run directory.
        graph: where the graph is now, if not where the run found it; it must be the same graph.
        labels: CSV file of labels, in the place of the graph's; one of ``imgcl suggest`` stands beside them.
        data_dir: directory with raw files.

    Returns:
        The nodes, and what to tell the user: labels of the graph that count, or a graph that could not be read.
    """
    run = Run(path)
    facts, n_nodes = run.facts["graph"], len(run.embedding)
    names = run.node_names
    given: Any = run.labels if (run.path / "labels.npy").exists() else None
    class_names, remarks = run.class_names, list[str]()
    if labels is not None:
        listed, unknown = labels_in_file(run, labels)
        given, added = joined_labels(run, listed, labels)
        class_names, remarks = None, [*unknown, *added]
    found, problem = run_graph(run, graph, data_dir)
    if problem is not None:
        remarks.append(f"{problem}: no degree, no centrality; pass its path (`graph`)")
    known = Nodes(facts["name"], n_nodes) if found is None else graph_nodes(_embedded(found, run), run.config.balance)
    names_and_labels: dict[str, Any] = {"labels": given, "class_names": class_names, "node_names": names}
    if given is not None:
        features, note = reference_blocks(run, graph, data_dir)
        names_and_labels |= {"features": features, "features_note": note}
    if labels is not None:
        counted = (run, listed) if is_batch(labels) else (run.blocks, given)  # the labels that count
        far = progress(*counted, batch=BATCH)
        names_and_labels["progress"] = far.sentences()
    nodes = replace(known, graph=facts["name"], about=about(facts["source"]), **names_and_labels)
    return nodes, "; ".join(remarks) or None


def _embedded(graph: Graph, run: Run) -> Graph:
    scoped = scoped_graph(graph, run.config)
    return graph if scoped is None else scoped.embed


def graph_nodes(graph: Graph, balance: BalanceSettings | None = None) -> Nodes:
    """What a graph says about its nodes, with the centrality that ``balance`` names, PageRank without it."""
    settings = balance or BalanceSettings()
    kind = "pagerank" if settings.centrality in ("given", "none") else settings.centrality
    return Nodes(
        graph=graph.name,
        n_nodes=graph.n_nodes,
        labels=graph.y,
        class_names=graph.class_names,
        node_names=graph.node_names,
        n_edges=graph.n_edges,
        degree=graph.degree,
        centrality=(kind, centrality(graph, kind, damping=settings.damping)),
    )
