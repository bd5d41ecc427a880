"""A graph with relations side by side gives an embedding a block for each, also of other graphs and after saving."""

import numpy as np
import pytest

import imgcl
from imgcl import Graph, InputError
from imgcl.training.run import Run


def graph_of(seed: int, names: tuple[str, ...] = ("product", "a/b")) -> Graph:
    rng = np.random.default_rng(seed)
    edges = {name: rng.integers(0, 60, size=(2, 90)) for name in names}
    x, y = rng.normal(size=(60, 4)), np.repeat([0, 1], [45, 15])
    return Graph.from_relations(edges, x, y, n_nodes=60, relations="side-by-side", edge_weight={names[0]: [2.0] * 90})


def propagated(graph: Graph, like: Graph, name: str) -> np.ndarray:
    """Standardised features of ``graph``, twice through S of the relation, from the definition."""
    a = graph.relation(name).adjacency.toarray() + np.eye(60)
    scale = 1 / np.sqrt(a.sum(axis=1))
    s = a * scale[:, None] * scale
    return s @ s @ ((graph.x - like.x.mean(axis=0)) / like.x.std(axis=0, ddof=1))


@pytest.fixture(scope="module")
def model() -> imgcl.ImGCL:
    return imgcl.ImGCL(n_clusters=2, epochs=2, settings={"dim": 8}).fit(graph_of(0))


def test_every_relation_has_its_block(model) -> None:
    assert list(model.blocks_) == ["learned", "own", "neighbours", "neighbours:a/b", "neighbours:product"]
    for name in ("product", "a/b"):
        expected = propagated(graph_of(0), graph_of(0), name)
        assert model.blocks_[f"neighbours:{name}"] == pytest.approx(expected, abs=1e-5)


def test_of_another_graph_and_from_a_run(model, tmp_path) -> None:
    model.save(tmp_path / "run")
    assert (tmp_path / "run" / "neighbours-a%2Fb.npy").exists()
    assert Run(tmp_path / "run").whole
    blocks = imgcl.ImGCL.load(tmp_path / "run").transform_blocks(graph_of(1))
    expected = propagated(graph_of(1), graph_of(0), "a/b")
    assert blocks["neighbours:a/b"] == pytest.approx(expected, abs=1e-5)


def test_a_graph_that_lacks_a_relation(model) -> None:
    with pytest.raises(InputError, match=r"has no relation 'a/b' side by side: it has 'product'; the embedding has a"):
        model.transform_blocks(graph_of(1, ("product",)))


def test_the_learned_block_alone_needs_none() -> None:
    alone = imgcl.ImGCL(n_clusters=2, epochs=2, settings={"dim": 8}, blocks="learned").fit(graph_of(0))
    assert list(alone.blocks_) == ["learned"]
