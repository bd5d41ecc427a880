"""The graph of a run, where it can still be found, and its features as what an embedding has to beat."""

from __future__ import annotations

from pathlib import Path

from imgcl._core.errors import ImgclError, InputError
from imgcl.data import load_graph
from imgcl.evaluation import FeatureSource
from imgcl.graph import Graph
from imgcl.graph.structure import is_structural
from imgcl.training.blocks import Rows, apply_reductions, fit_reductions, graph_of
from imgcl.training.pretrain import scoped_graph
from imgcl.training.run import Run
from imgcl.training.settings import BLOCKS, LEARNED

STRUCTURAL = "the graph has no features of its own: these are structural ones, made from its edges"


def run_graph(
    run: Run, given: str | None = None, data_dir: str | Path | None = None
) -> tuple[Graph | None, str | None]:
    """The graph that a run was made for, as it was given; or ``None``, and why it cannot be read.

    Args:
        run: the run.
        given: where the graph is now; by default where the run found it.
        data_dir: directory with raw files.

    Raises:
        InputError: when what was given is another graph; also whatever reading it raises.
    """
    source, facts = given or run.facts["graph"]["source"], run.facts["graph"]
    try:
        made = is_structural(run.feature_names)
        graph = load_graph(source, features="structure" if made else "auto", data_dir=data_dir)
    except ImgclError as error:
        if given is not None:
            raise
        return None, f"the graph {source!r} cannot be read ({error})"
    if graph.fingerprint == facts["fingerprint"]:
        return graph, None
    if given is not None:
        raise InputError(f"`graph` {given} is not the graph of {run.path}: their fingerprints differ")
    return None, f"{source!r} is another graph now than at pre-training"


def embedded_graph(run: Run, given: str | None = None, data_dir: str | Path | None = None) -> Graph:
    """The graph whose nodes a run embeds.

    Args:
        run: the run.
        given: where the graph is now; by default where the run found it.
        data_dir: directory with raw files.

    Raises:
        InputError: when it is not there any more, or has changed.
    """
    graph, problem = _embedded_graph(run, given, data_dir)
    if graph is None:
        raise InputError(f"{problem}: pass its path (`graph`)")
    return graph


def reference_blocks(
    run: Run, given: str | None = None, data_dir: str | Path | None = None
) -> tuple[dict[str, Rows], str | None]:
    """The blocks of features of a run's nodes, also where the run does not keep them, and what to know of them.

    Args:
        run: the run.
        given: where its graph is now, if it is needed.
        data_dir: directory with raw files.

    Returns:
        Blocks by name, and a remark: why there are none, or that they are made from edges.
    """
    remark = STRUCTURAL if is_structural(run.feature_names) else None
    blocks = {name: rows for name, rows in run.blocks.items() if name != LEARNED}
    if {*BLOCKS} - {LEARNED} <= {*blocks}:
        return blocks, remark
    graph, problem = run_graph(run, given, data_dir)
    if graph is None:
        return {}, f"no features to compare with: {problem}"
    if not graph.n_features:
        return {}, "no features to compare with: the graph has none"
    scoped = scoped_graph(graph, run.config)
    seen, embedded = (graph, graph) if scoped is None else (scoped.pretrain, scoped.embed)
    return apply_reductions(fit_reductions(seen, BLOCKS, run.config.seed), embedded), remark


def feature_sources(run: Run, given: str | None = None) -> tuple[dict[str, FeatureSource], str | None]:
    """The features that a run's blocks are made of, for :func:`imgcl.evaluation.explain`.

    Args:
        run: the run.
        given: where its graph is now; only wide features need it.

    Returns:
        Sources by block, and why some are missing.
    """
    wide = {name for name, reduction in run.reductions.items() if reduction.components is not None}
    graph, problem = _embedded_graph(run, given) if wide else (None, None)
    sources = {
        name: FeatureSource(reduction, run.feature_names, None if graph is None else graph_of(name, graph))
        for name, reduction in run.reductions.items()
        if name not in wide or graph is not None
    }
    return sources, None if problem is None else f"features are not named: {problem}"


def _embedded_graph(run: Run, given: str | None, data_dir: str | Path | None = None) -> tuple[Graph | None, str | None]:
    """The graph whose nodes are the rows of the embedding; or ``None``, and why it cannot be read."""
    graph, problem = run_graph(run, given, data_dir)
    scoped = None if graph is None else scoped_graph(graph, run.config)
    return graph if scoped is None else scoped.embed, problem
