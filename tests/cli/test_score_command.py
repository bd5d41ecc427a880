"""``imgcl score`` tells where the nodes are other ones than the scorer expects."""

from __future__ import annotations

import pytest

import imgcl

GRAPH = "synthetic:class_sizes={},feature_signal=3,seed=0"


@pytest.fixture(scope="module")
def scorer(tmp_path_factory):
    graph = imgcl.load_graph(GRAPH.format("160/40"))
    embedding = imgcl.ImGCL(epochs=5, settings={"dim": 8})
    path = tmp_path_factory.mktemp("scored") / "scorer"
    imgcl.ImGCLClassifier(embedding, classifier="plain").fit(graph, graph.y).save(path)
    return path


@pytest.mark.parametrize(("sizes", "warned"), [("160/40", False), ("40/160", True)])
def test_a_share_that_was_not_to_be_expected_is_said(called, scorer, tmp_path, sizes, warned):
    said = "these nodes differ from those of the training graph, and precision and recall may as well"
    done = called("score", scorer, GRAPH.format(sizes), "--out", tmp_path / "s.csv")
    assert (said in " ".join(done.stderr.split())) is warned
