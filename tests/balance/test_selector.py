from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from imgcl._core.errors import InputError
from imgcl.balance import CLUSTERERS, BalancedSelector, BalanceSettings
from imgcl.balance.clusters import ClusterTask
from imgcl.data import synthetic_graph
from imgcl.graph import Graph

EPOCHS = 40


@pytest.fixture(scope="module")
def graph() -> Graph:
    return synthetic_graph(class_sizes=[200, 60, 40], mean_degree=8, n_features=16, seed=3)


class Encoder:
    """Embeddings that drift with every call, and a count of the calls."""

    def __init__(self, graph: Graph) -> None:
        assert graph.y is not None
        generator = np.random.default_rng(0)
        self.base = generator.normal(size=(graph.n_nodes, 6)) + 4 * np.eye(6)[graph.y]
        self.drift = generator.normal(size=self.base.shape)
        self.calls = 0

    def at(self, epoch: int) -> torch.Tensor:
        return torch.tensor(self.base + 0.02 * epoch * self.drift, dtype=torch.float32, requires_grad=True)

    def __call__(self) -> torch.Tensor:
        self.calls += 1
        return self.at(self.calls)


def run(selector: BalancedSelector, encoder: Encoder, epochs: range) -> list[list[int]]:
    return [selector(epoch, embed=lambda epoch=epoch: encoder.at(epoch)).tolist() for epoch in epochs]


def test_rows_are_distinct_sorted_and_as_many_as_asked(graph: Graph) -> None:
    selector = BalancedSelector(graph, n_clusters=3, epochs=EPOCHS)
    for rows in run(selector, Encoder(graph), range(EPOCHS)):
        assert len(rows) == 30
        assert rows == sorted(set(rows))
    assert selector.rows.dtype == torch.long
    assert len(selector.weights) == 30


def test_labels_are_made_eight_times_and_embeddings_are_asked_for_only_then(graph: Graph) -> None:
    selector, encoder = BalancedSelector(graph, n_clusters=3, epochs=EPOCHS), Encoder(graph)
    for epoch in range(EPOCHS):
        selector(epoch, embed=encoder)
    assert encoder.calls == 8
    assert [entry["epoch"] for entry in selector.history] == list(range(0, 40, 5))
    assert [entry["alpha"] for entry in selector.history] == pytest.approx([1 - t / 40 for t in range(0, 40, 5)])


def test_the_selection_becomes_balanced_over_training(graph: Graph) -> None:
    selector = BalancedSelector(graph, n_clusters=3, epochs=EPOCHS, diagnose=graph.y, min_cluster_fraction=0.0)
    run(selector, Encoder(graph), range(EPOCHS))
    first, last = selector.history[0], selector.history[-1]
    assert first["sizes"] == pytest.approx([200, 60, 40], abs=2) or sorted(first["sizes"]) == pytest.approx(
        [40, 60, 200], abs=2
    )
    assert max(first["drawn"]) == pytest.approx(2 / 3, abs=0.04)
    assert max(last["drawn"]) == pytest.approx(0.125 * 2 / 3 + 0.875 / 3, abs=0.04)
    assert first["agreement"] is None
    assert last["agreement"] == pytest.approx(1.0, abs=0.05)
    assert last["ari"] == pytest.approx(1.0, abs=0.05)
    assert last["nmi"] == pytest.approx(1.0, abs=0.05)
    assert last["true_drawn"] is not None
    assert sum(last["true_drawn"]) == pytest.approx(1)


def test_without_labels_for_diagnosis_nothing_is_said_about_the_truth(graph: Graph) -> None:
    selector = BalancedSelector(graph, n_clusters=3, epochs=EPOCHS)
    run(selector, Encoder(graph), range(1))
    assert selector.history[0]["ari"] is None
    assert selector.history[0]["true_drawn"] is None


def test_labels_for_diagnosis_do_not_change_the_selection(graph: Graph) -> None:
    plain = BalancedSelector(graph, n_clusters=3, epochs=EPOCHS)
    assert graph.y is not None
    diagnosed = BalancedSelector(graph, n_clusters=3, epochs=EPOCHS, diagnose=np.where(graph.y == 2, -1, graph.y))
    assert run(plain, Encoder(graph), range(EPOCHS)) == run(diagnosed, Encoder(graph), range(EPOCHS))


def test_pseudo_classes_keep_their_numbers(graph: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    assert graph.y is not None
    numbering = iter([[0, 1, 2], [2, 0, 1]])
    monkeypatch.setitem(CLUSTERERS, "renumbered", lambda task: np.array(next(numbering))[graph.y])
    selector = BalancedSelector(graph, n_clusters=3, epochs=2, clusters="renumbered")
    for epoch in range(2):
        selector(epoch)
        assert np.array_equal(selector.labels, graph.y)  # type: ignore[arg-type]
    assert selector.history[1]["agreement"] == 1.0


def test_every_labelling_has_a_seed_of_its_own(graph: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    seeds: list[int] = []

    def remember(task: ClusterTask) -> np.ndarray:
        seeds.append(task.seed)
        return np.zeros(300, dtype=np.int64)

    monkeypatch.setitem(CLUSTERERS, "remembered", remember)
    for seed in (0, 1, 0):
        selector = BalancedSelector(graph, n_clusters=3, epochs=2, clusters="remembered", random_state=seed)
        selector(0)
        selector(1)
    assert len(set(seeds)) == 4
    assert seeds[4:] == seeds[:2]


def test_a_clusterer_that_makes_too_many_labels_is_refused(graph: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(CLUSTERERS, "careless", lambda task: np.full(300, 3))
    with pytest.raises(InputError, match=r"clusters=careless made the label 3: labels must be 0\.\.2"):
        BalancedSelector(graph, n_clusters=3, epochs=2, clusters="careless")(0)


@pytest.mark.parametrize("resample_every", [None, 1, 3])
@pytest.mark.parametrize("stop", [1, 7, 20])
def test_a_resumed_selector_continues_bit_for_bit(graph: Graph, resample_every: int | None, stop: int) -> None:
    def fresh() -> BalancedSelector:
        return BalancedSelector(graph, n_clusters=3, epochs=EPOCHS, resample_every=resample_every, random_state=5)

    whole = fresh()
    expected = run(whole, Encoder(graph), range(EPOCHS))
    begun = fresh()
    run(begun, Encoder(graph), range(stop))
    state = begun.state_dict()
    tensors = {key: value for key, value in state.items() if isinstance(value, torch.Tensor)}
    values = json.loads(json.dumps({key: value for key, value in state.items() if key not in tensors}))
    resumed = fresh()
    resumed.load_state_dict({**tensors, **values})
    assert torch.equal(resumed.rows, begun.rows)
    assert run(resumed, Encoder(graph), range(stop, EPOCHS)) == expected[stop:]
    assert resumed.history == whole.history
    assert torch.equal(resumed.weights, whole.weights)


def test_torch_saves_the_state_and_loads_it_by_its_default(graph: Graph, tmp_path: Path) -> None:
    selector = BalancedSelector(graph, n_clusters=3, epochs=EPOCHS)
    run(selector, Encoder(graph), range(5))
    torch.save({"selector": selector.state_dict()}, tmp_path / "checkpoint.pt")
    resumed = BalancedSelector(graph, n_clusters=3, epochs=EPOCHS)
    resumed.load_state_dict(torch.load(tmp_path / "checkpoint.pt")["selector"])  # weights_only: no array of numpy
    assert run(resumed, Encoder(graph), range(5, EPOCHS)) == run(selector, Encoder(graph), range(5, EPOCHS))


def test_a_state_of_other_settings_or_another_graph_is_refused(graph: Graph) -> None:
    selector = BalancedSelector(graph, n_clusters=3, epochs=EPOCHS)
    run(selector, Encoder(graph), range(1))
    for other in (
        BalancedSelector(graph, n_clusters=4, epochs=EPOCHS),
        BalancedSelector(graph, n_clusters=3, epochs=EPOCHS + 1),
        BalancedSelector(graph, n_clusters=3, epochs=EPOCHS, random_state=1),
        BalancedSelector(graph.subgraph(np.arange(100)), n_clusters=3, epochs=EPOCHS),
    ):
        with pytest.raises(InputError, match="cannot resume"):
            other.load_state_dict(selector.state_dict())


def test_seeds_decide(graph: Graph) -> None:
    first = run(BalancedSelector(graph, n_clusters=3, epochs=EPOCHS, random_state=1), Encoder(graph), range(10))
    assert first == run(BalancedSelector(graph, n_clusters=3, epochs=EPOCHS, random_state=1), Encoder(graph), range(10))
    assert first != run(BalancedSelector(graph, n_clusters=3, epochs=EPOCHS, random_state=2), Encoder(graph), range(10))


def test_the_draw_may_be_refreshed_more_often_than_the_labels(graph: Graph) -> None:
    selector = BalancedSelector(graph, n_clusters=3, epochs=EPOCHS, resample_every=1, alpha="constant:1")
    encoder = Encoder(graph)
    draws = [tuple(selector(epoch, embed=encoder).tolist()) for epoch in range(EPOCHS)]
    assert encoder.calls == 8
    assert len(set(draws)) == EPOCHS
    assert len(selector.history) == 8


def test_every_source_of_a_graph_gives_the_same_rows(graph: Graph) -> None:
    data = graph.to_pyg()
    sources: list[Any] = [
        graph,
        data,
        data.edge_index,
        data.edge_index.numpy(),
        graph.adjacency,
        sp.csr_matrix(graph.adjacency),
    ]
    rows = [
        run(BalancedSelector(source, 3, epochs=EPOCHS, n_nodes=300), Encoder(graph), range(6)) for source in sources
    ]
    assert all(other == rows[0] for other in rows)


def test_one_stage_clusters_the_features_once(graph: Graph) -> None:
    selector = BalancedSelector(graph, n_clusters=3, epochs=EPOCHS, stage="one")

    def embed() -> torch.Tensor:
        raise AssertionError("one stage needs no embeddings")

    for epoch in range(EPOCHS):
        selector(epoch, embed=embed)
    assert [entry["agreement"] for entry in selector.history] == [None] + [1.0] * 7
    edge_index = graph.to_pyg().edge_index
    given = BalancedSelector(
        edge_index, 3, epochs=EPOCHS, n_nodes=300, stage="one", features=torch.tensor(np.array(graph.x))
    )
    assert given(0).tolist() == BalancedSelector(graph, 3, epochs=EPOCHS, stage="one")(0).tolist()
    with pytest.raises(InputError, match="pass features="):
        BalancedSelector(edge_index, 3, epochs=EPOCHS, n_nodes=300, stage="one")(0)


def test_communities_and_given_labels_need_no_embeddings(graph: Graph) -> None:
    assert len(BalancedSelector(graph, 3, epochs=EPOCHS, clusters="communities")(0)) == 30
    selector = BalancedSelector(graph, epochs=EPOCHS, clusters="given", labels=torch.tensor(np.array(graph.y)))
    selector(39)
    assert selector.n_clusters == 3
    assert selector.history[0]["sizes"] == [200, 60, 40]


def test_the_number_of_clusters_can_be_chosen(graph: Graph) -> None:
    selector, encoder = BalancedSelector(graph, n_clusters="auto", epochs=EPOCHS), Encoder(graph)
    assert selector.n_clusters is None
    selector(0, embed=encoder)
    assert encoder.calls == 1
    assert selector.n_clusters == 3
    resumed = BalancedSelector(graph, n_clusters="auto", epochs=EPOCHS)
    resumed.load_state_dict(selector.state_dict())
    assert resumed.n_clusters == 3


def test_alpha_may_be_a_function_and_centrality_an_array(graph: Graph) -> None:
    favourite = np.zeros(300)
    favourite[7] = 1.0
    selector = BalancedSelector(
        graph, 3, epochs=EPOCHS, alpha=lambda progress: 0.25, centrality=favourite, settings=BalanceSettings(floor=0.0)
    )
    rows = selector(0, embed=Encoder(graph))
    assert selector.history[0]["alpha"] == 0.25
    assert 7 in rows.tolist()
    assert selector.settings.alpha == "given"
    assert selector.settings.centrality == "given"
    for stored in ({"alpha": "given"}, {"centrality": "given"}):
        with pytest.raises(InputError, match="pass it as"):
            BalancedSelector(graph, 3, epochs=EPOCHS, settings=BalanceSettings.make(stored))


def test_epochs_counted_from_one_and_skipped_epochs_are_fine(graph: Graph) -> None:
    selector, encoder = BalancedSelector(graph, 3, epochs=EPOCHS), Encoder(graph)
    for epoch in range(1, EPOCHS + 1, 3):
        assert len(selector(epoch, embed=encoder)) == 30
    assert encoder.calls == 8


@pytest.mark.parametrize("selection", ["poisson", "replacement"])
def test_other_kinds_of_selection(graph: Graph, selection: str) -> None:
    selector = BalancedSelector(graph, 3, epochs=EPOCHS, selection=selection, resample_every=1)
    lengths = {len(rows) for rows in run(selector, Encoder(graph), range(EPOCHS))}
    assert (len(lengths) > 1) == (selection == "poisson")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_clusters": 301}, "n_clusters is 301, but the graph has 300 nodes"),
        ({}, "n_clusters is missing"),
        (
            {"n_clusters": 3, "fraction": 0.001},
            "fraction 0.001 of 300 nodes selects none: use a fraction of at least 0.00333",
        ),
        ({"n_clusters": 3, "epochs": 0}, "epochs is 0"),
        ({"n_clusters": 3, "clusters": "given"}, "clusters='given' needs labels"),
        ({"clusters": "given", "labels": [0, 1]}, r"labels have shape \(2,\), expected \(300,\)"),
        ({"clusters": "given", "labels": np.full(300, -1)}, r"labels\[0\] is -1: every node needs a class"),
        ({"clusters": "given", "labels": np.full(300, 0.5)}, "classes must be integers"),
        ({"n_clusters": 3, "diagnose": [0]}, r"diagnose have shape \(1,\)"),
        ({"n_clusters": 3, "n_nodes": 7}, "n_nodes is 7, but the graph has 300 nodes"),
        ({"n_clusters": 3, "clustering": "kmeans"}, "unknown balance setting 'clustering'"),
        ({"n_clusters": 3, "centrality": [1.0]}, r"the given centrality has shape \(1,\)"),
    ],
)
def test_bad_arguments_are_explained(graph: Graph, arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        BalancedSelector(graph, **{"epochs": EPOCHS, **arguments})


def test_bad_calls_are_explained(graph: Graph) -> None:
    selector = BalancedSelector(graph, 3, epochs=EPOCHS)
    with pytest.raises(InputError, match="epoch is -1"):
        selector(-1)
    with pytest.raises(InputError, match="call the selector with embed="):
        selector(0)
    with pytest.raises(InputError, match="there are 7 rows to cluster but 300 nodes"):
        selector(0, embed=lambda: torch.zeros(7, 2))
    with pytest.raises(InputError, match="300 of 300 rows to cluster are not finite"):
        selector(0, embed=lambda: torch.full((300, 2), torch.nan))
    with pytest.raises(InputError, match="cannot read a graph from list"):
        BalancedSelector([[0, 1]], 3, epochs=EPOCHS)


def test_isolated_nodes_at_the_end_need_the_number_of_nodes() -> None:
    edge_index = torch.tensor([[0, 1, 2], [1, 2, 0]])
    selector = BalancedSelector(edge_index, 1, epochs=1, fraction=0.5)
    with pytest.raises(InputError, match="pass n_nodes="):
        selector(0, embed=lambda: torch.zeros(5, 2))
    assert len(BalancedSelector(edge_index, 1, epochs=1, fraction=0.6, n_nodes=5)(0, embed=lambda: torch.eye(5))) == 3


def test_permuting_the_nodes_permutes_labels_and_probabilities(graph: Graph) -> None:
    encoder, order = Encoder(graph), np.random.default_rng(1).permutation(300)
    one = BalancedSelector(graph, 3, epochs=EPOCHS)
    other = BalancedSelector(graph.subgraph(order), 3, epochs=EPOCHS)
    one(0, embed=lambda: encoder.at(0))
    other(0, embed=lambda: encoder.at(0)[order])
    assert one.labels is not None
    assert other.labels is not None
    names = {tuple(pair) for pair in zip(other.labels, one.labels[order], strict=True)}
    assert len(names) == 3  # the same clusters under other numbers
    weight = dict(zip(one.rows.tolist(), one.weights.tolist(), strict=True))
    again = dict(zip(order[other.rows.numpy()].tolist(), other.weights.tolist(), strict=True))
    shared = weight.keys() & again.keys()
    assert shared
    assert all(weight[node] == pytest.approx(again[node], rel=1e-5) for node in shared)
