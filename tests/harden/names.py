"""Names of any kind, from a graph over its import and its labels to predictions, compared with plain Python."""

from __future__ import annotations

import csv
import json
import tempfile
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path

import networkx as nx
import numpy as np
import pandas as pd

from harden.names_cases import MISSING, MISSING_IN_FILES, Case, draw
from harden.suites import Outcome, suite
from imgcl._core.errors import InputError
from imgcl.data.importing import ImportSettings, import_tables
from imgcl.data.store import open_store
from imgcl.evaluation import align_labels, evaluate, predict, read_labels
from imgcl.graph import Graph


@suite("results", "names: graph, import, labels, evaluation, prediction as plain Python has them", full=1000, part=30)
def names(n: int) -> Outcome:
    """Every step gives what plain Python gives, or refuses a name that two nodes or classes share, with that name."""
    outcome = Outcome()
    for seed in range(n):
        outcome.count(attempt(draw(seed)))
    return outcome


def attempt(case: Case) -> str | None:
    """What is wrong with one case, in one line."""
    for step in (as_graph, from_networkx, imported, labels_file, predicted, evaluated):
        with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
            warnings.simplefilter("error")
            try:
                problem = step(case, Path(folder))
            except Exception as error:
                problem = f"{type(error).__name__}: {error}"
        if problem is not None:
            return f"case {case.seed}, {step.__name__}: {problem}"
    return None


def refused(case: Case, action: Callable[[], object], name: str | None = None) -> str | None:
    """A problem unless the action refuses the name that is there twice."""
    wanted = repr(case.twice if name is None else name)
    try:
        action()
    except InputError as error:
        return None if wanted in str(error) else f"the refusal does not name {wanted}: {error}"
    return f"two are called {wanted}, and that was not refused"


def same(what: str, found: Sequence[object], expected: Sequence[object]) -> str | None:
    """A problem unless both are equal."""
    if list(found) == list(expected):
        return None
    pairs = zip(found, expected, strict=False)
    first = next(((a, b) for a, b in pairs if a != b), (len(found), len(expected)))
    return f"{what}: {first[0]!r} instead of {first[1]!r}"


def numbers(case: Case) -> list[int]:
    return [-1 if label is None else case.classes.index(label) for label in case.labels]


def embedding(case: Case) -> np.ndarray:
    """Classes far apart, so that every classifier finds them."""
    centres = 10 * np.eye(len(case.classes), 5)
    noise = np.random.default_rng(case.seed).normal(scale=0.1, size=(len(case.truth), 5))
    return np.array([centres[case.classes.index(name)] for name in case.truth]) + noise


def as_graph(case: Case, folder: Path) -> str | None:
    """Node and class names of a graph from arrays."""

    def make(class_names: Sequence[str] = case.classes, node_names: Sequence[str] = case.names) -> Graph:
        edges = np.array(case.edges).T
        y = [case.random("y").choice((None, np.nan, pd.NA, *MISSING)) if k < 0 else k for k in numbers(case)]
        return Graph.from_edges(edges, np.eye(len(case.names)), y, node_names=node_names, class_names=class_names)

    twins = [*case.classes[:-1], case.classes[0]]
    problem = refused(case, lambda: make(twins, range(len(case.names))), twins[0])
    if problem is not None or case.twice is not None:
        return problem or refused(case, make)
    graph = make()
    called = [None if k < 0 else graph.class_names[k] for k in graph.y]
    return same("node names", graph.node_names, case.names) or same("classes", called, case.labels)


def from_networkx(case: Case, folder: Path) -> str | None:
    """Numbers and texts as nodes of networkx."""
    distinct = list(dict.fromkeys(case.names))
    keys = [int(name) if str(name).isdecimal() and str(int(name)) == name else name for name in distinct]
    source = nx.Graph()
    for key, k in zip(keys, numbers(case), strict=False):
        source.add_node(key, x=[1.0], **({} if k < 0 else {"y": k}))
    graph = Graph.from_networkx(source)
    whole = next((key for key in keys if isinstance(key, int)), None)
    if whole is not None:
        source.add_node(str(whole), x=[1.0])
        problem = refused(case, lambda: Graph.from_networkx(source), str(whole))
        if problem is not None:
            return problem
    found = [-1] * len(distinct) if graph.y is None else graph.y.tolist()
    return same("node names", graph.node_names, distinct) or same("labels", found, numbers(case)[: len(distinct)])


def imported(case: Case, folder: Path) -> str | None:
    """The same graph from tables, compared with pandas."""
    rng = case.random("import")
    kind, words = rng.choice((("csv", MISSING_IN_FILES), ("parquet", (None, *MISSING))))
    identifier, label, number, text, source, target = case.columns
    cells = [rng.choice(words) if name is None else name for name in case.labels]
    order = rng.sample([identifier, label, number, text], 4)
    columns = {identifier: case.names, label: cells, number: range(len(cells)), text: case.texts}
    nodes = pd.DataFrame(columns)[order]
    ends = [[case.names[pair[i]] for pair in case.edges] for i in (0, 1)]
    edges = pd.DataFrame({source: ends[0], target: ends[1]})
    for frame, name in ((nodes, "nodes"), (edges, "edges")):
        path = folder / f"{name}.{kind}"
        frame.to_parquet(path, index=False) if kind == "parquet" else frame.to_csv(path, index=False)
    settings = ImportSettings(
        edges=str(folder / f"edges.{kind}"),
        nodes=str(folder / f"nodes.{kind}"),
        id_column=identifier,
        src=source,
        dst=target,
        label=label,
        features=(number, text),
    )
    if case.twice is not None:
        return refused(case, lambda: import_tables(settings, folder / "g.store"))
    graph = open_store(import_tables(settings, folder / "g.store").path)
    dummies = pd.get_dummies(nodes[text]).sort_index(axis=1)
    called = [None if k < 0 else graph.class_names[k] for k in graph.y]
    joined = {(i, int(j)) for i in range(graph.n_nodes) for j in graph.adjacency[[i]].indices}
    expected = {pair for i, j in case.edges if i != j for pair in ((i, j), (j, i))}
    features = [number, *(f"{text}={value}" for value in dummies.columns)]
    return (
        same("node names", graph.node_names, case.names)
        or same("classes", called, case.labels)
        or same("feature names", graph.feature_names, features)
        or same("features", graph.x.tolist(), np.column_stack([nodes[number], dummies]).astype(float).tolist())
        or same("edges", sorted(joined), sorted(expected))
    )


def labels_file(case: Case, folder: Path) -> str | None:
    """Labels of some nodes in a file, with a header or without."""
    rng = case.random("file")
    rows = [
        (name, rng.choice(MISSING_IN_FILES) if label is None else label)
        for name, label in zip(case.names, case.labels, strict=True)
    ]
    rows = rng.sample(rows, rng.randint(1, len(rows)))
    header = rng.random() < 0.5
    with (folder / "labels.csv").open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream).writerows([("node", "label"), *rows] if header else rows)

    def read() -> list[object]:
        return align_labels(read_labels(folder / "labels.csv", case.names), len(case.names), case.names).tolist()

    if not header and looks_like_a_header(*rows[0]):
        return refused(case, read, rows[0][0])
    if case.twice is not None:
        return refused(case, read)
    given = {name: "" if label in MISSING_IN_FILES else label.strip() for name, label in rows}
    return same("labels", read(), [given.get(name) for name in case.names])


def looks_like_a_header(node: str, label: str) -> bool:
    """By the words of the documentation; a number is a node."""
    return node.lower() in ("node", "id", "name") or (label.lower() in ("label", "class") and not node.isdecimal())


def predicted(case: Case, folder: Path) -> str | None:
    """A class for every node from the labels of some, by name."""
    given = {name: label for name, label in zip(case.names, case.labels, strict=True) if label is not None}
    if case.twice is not None:
        return refused(case, lambda: predict(embedding(case), given, "plain", node_names=case.names))
    frame = predict(embedding(case), given, "plain", node_names=case.names)
    return same("nodes", frame["node"], case.names) or same("predictions", frame["class"], case.truth)


def evaluated(case: Case, folder: Path) -> str | None:
    """Every class of an evaluation is in its JSON object, by its name."""
    z, codes = embedding(case), np.array(numbers(case))
    twins = [*case.classes[:-1], case.classes[0]]
    problem = refused(case, lambda: evaluate(z, codes, "natural", "plain", 1, class_names=twins), twins[0])
    by_name = evaluate(z, list(case.labels), "natural", "plain", 1, ceiling=0, train_fraction=0.4)
    by_number = evaluate(z, codes, "natural", "plain", 1, ceiling=0, train_fraction=0.4, class_names=case.classes)
    recalls = [json.loads(result.to_json())["plain"]["recall"] for result in (by_name, by_number)]
    return (
        problem
        or same("classes", list(recalls[0]), case.classes)
        or same("recalls", list(recalls[0].items()), list(recalls[1].items()))
    )
