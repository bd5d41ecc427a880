"""From a raw file to classes of all nodes: seconds, and accuracy on balanced test nodes.

Labels are the training and validation nodes of the first split of ``exp:100``. Three ways, each in a process of its
own, imports and reading included:

- ours: the defaults of ``imgcl pretrain`` and ``imgcl predict --decide balanced``;
- pyg: GBT as in its repository on torch_geometric's layers with a CSR adjacency, for the published number of epochs
  (its newer file: 1,000), then scikit-learn's cross-validated logistic regression with classes weighted alike;
- trees: scikit-learn's boosting on S^2 X, 128 principal components, classes weighted alike.

IMGCL_DATA=<directory with the raw files> python benchmarks/time_to_result.py [--graphs NAME …] [--json]
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from common import arguments, show
from isolated import alone

GRAPHS = ("amazon-photo", "amazon-computers", "dblp")
EPOCHS = 1000


def ours(name: str) -> dict[str, Any]:
    start = time.perf_counter()
    import imgcl
    from imgcl.evaluation import predict

    graph = imgcl.load_graph(name)
    model = imgcl.ImGCL().fit(graph)
    given, truth = _labels(graph)
    classes = predict(model.blocks_, given, decision="balanced")["class"].astype(int).to_numpy()
    return _result(start, classes, truth)


def pyg(name: str) -> dict[str, Any]:
    start = time.perf_counter()
    import torch
    from sklearn.preprocessing import normalize

    import imgcl
    from reference_methods import epoch_of, gbt_network, pyg_data
    from references import WAYS

    graph = imgcl.load_graph(name)
    data, way = pyg_data(graph), WAYS["csr"]
    encoder, loss = gbt_network(way, data)
    epoch = epoch_of(list(encoder.parameters()), loss)
    for _ in range(EPOCHS):
        epoch()
    with torch.no_grad():
        rows = encoder.eval()(data.x, way.normalised(data.edge_index, data.num_nodes)).numpy()
    given, truth = _labels(graph)
    return _result(start, _regression(normalize(rows), given), truth)


def trees(name: str) -> dict[str, Any]:
    start = time.perf_counter()
    from sklearn.ensemble import HistGradientBoostingClassifier

    import imgcl
    from imgcl.baselines import propagated_features

    graph = imgcl.load_graph(name)
    rows = propagated_features(graph)
    given, truth = _labels(graph)
    known = given >= 0
    model = HistGradientBoostingClassifier(class_weight="balanced", random_state=0).fit(rows[known], given[known])
    return _result(start, model.predict(rows), truth)


def _regression(rows: np.ndarray, given: np.ndarray) -> np.ndarray:
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import GridSearchCV

    known = given >= 0
    model = LogisticRegression(class_weight="balanced", max_iter=5000)
    grid = {"C": [2.0**i for i in range(-10, 11, 2)]}
    search = GridSearchCV(model, grid, scoring="balanced_accuracy", cv=5).fit(rows[known], given[known])
    return np.asarray(search.predict(rows))


def _labels(graph: Any) -> tuple[np.ndarray, tuple[np.ndarray, np.ndarray]]:
    """Labels to learn from (-1: none), and test nodes with their classes."""
    from imgcl.imbalance import make_splits

    [split] = make_splits(graph.y, "exp:100", 1)
    known = np.concatenate([split.train, split.val])
    given = np.full(graph.n_nodes, -1)
    given[known] = graph.y[known]
    return given, (np.asarray(split.test), np.asarray(graph.y)[split.test])


def _result(start: float, classes: np.ndarray, truth: tuple[np.ndarray, np.ndarray]) -> dict[str, Any]:
    nodes, right = truth
    return {"seconds": time.perf_counter() - start, "accuracy": float((classes[nodes] == right).mean())}


WAYS_TO_A_RESULT: dict[str, Callable[[str], dict[str, Any]]] = {"ours": ours, "pyg": pyg, "trees": trees}


def measure(graph: str) -> dict[str, Any]:
    found = {name: alone(way, graph) for name, way in WAYS_TO_A_RESULT.items()}
    result: dict[str, Any] = {
        "ours_s": found["ours"]["seconds"],
        "reference_s": found["pyg"]["seconds"],
        "ratio": found["pyg"]["seconds"] / found["ours"]["seconds"],
        "peak_mb": found["ours"]["peak_mb"],
        "trees_s": found["trees"]["seconds"],
    }
    return result | {f"{name}_accuracy": each["accuracy"] for name, each in found.items()}


def main() -> None:
    parser = arguments(__doc__ or "")
    parser.add_argument("--graphs", nargs="*", default=GRAPHS, help="names of graphs")
    options = parser.parse_args()
    results = {graph: measure(graph) for graph in options.graphs}
    if options.json:
        show("time_to_result", results, True)
        return
    for graph, result in results.items():
        show(graph, result, False)


if __name__ == "__main__":
    main()
