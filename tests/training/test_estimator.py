import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline

import imgcl
from imgcl.balance import BalanceSettings
from imgcl.training.estimator import make_balance

SMALL = {"epochs": 4, "settings": {"dim": 8}}


def test_constructor_does_no_work_and_parameters_survive_clone():
    model = imgcl.ImGCL(method="nonsense", n_clusters=-5, balance="x=y")
    assert clone(model).get_params() == model.get_params()
    assert model.set_params(method="gbt").method == "gbt"


def test_fit_embeds_every_node_and_transform_embeds_another_graph(small_graph):
    model = imgcl.ImGCL(**SMALL, random_state=1).fit(small_graph)
    assert model.embedding_.shape == (small_graph.n_nodes, 8)
    assert model.embedding_.dtype == np.float32
    assert np.array_equal(model.transform(small_graph), model.embedding_)
    assert len(model.history_["loss"]) == 4


@pytest.mark.parametrize(
    ("parameters", "balanced"),
    [
        ({}, False),
        ({"balance": None, "n_clusters": 3}, False),
        ({"preset": "fast", "balance": None}, False),
        ({"balance": "imgcl"}, True),
        ({"n_clusters": 3}, True),
        ({"preset": "fast"}, True),
        ({"preset": "paper"}, True),
    ],
)
def test_who_asks_for_the_selection_gets_it_and_nobody_else(small_graph, parameters, balanced):
    model = imgcl.ImGCL(**SMALL, **parameters).fit(small_graph)
    assert bool(model.history_["labellings"]) == balanced


def test_torch_geometric_data_is_taken_as_it_is(small_graph):
    data = small_graph.to_pyg()
    ours = imgcl.ImGCL(**SMALL).fit_transform(small_graph)
    assert np.array_equal(imgcl.ImGCL(**SMALL).fit_transform(data), ours)


def test_transform_before_fit_says_what_to_do(small_graph):
    with pytest.raises(NotFittedError, match=r"call fit\(graph\) first"):
        imgcl.ImGCL().transform(small_graph)


@pytest.mark.parametrize("form", ["centrality=none", {"centrality": "none"}, BalanceSettings(centrality="none")])
def test_balance_in_every_form(form):
    assert make_balance(form, n_clusters=4) == BalanceSettings(centrality="none", n_clusters=4)


@pytest.mark.parametrize("nothing", [-1, None, np.nan, "", pd.NA])
def test_nodes_without_a_label_never_reach_the_classifier_of_a_pipeline(small_graph, nothing):
    y = [nothing if i in (3, 5) else int(k) for i, k in enumerate(small_graph.y)]
    pipeline = make_pipeline(imgcl.ImGCL(**SMALL), LogisticRegression())
    with pytest.raises(imgcl.ImgclError, match=r"no label for 2 of .* nodes \(the first is y\[3\]\): .* y\[labelled\]"):
        pipeline.fit(small_graph, y)
    with pytest.raises(imgcl.ImgclError, match="no label for 2"):
        imgcl.ImGCL(**SMALL).fit(small_graph, y)


def test_a_pipeline_learns_the_classes_and_the_targets_it_is_given(small_graph):
    classifier = make_pipeline(imgcl.ImGCL(**SMALL), LogisticRegression()).fit(small_graph, small_graph.y)
    assert classifier.classes_.tolist() == np.unique(small_graph.y).tolist()
    targets = np.linspace(-1, 1, small_graph.n_nodes)  # -1 is a number like any other here
    assert (
        make_pipeline(imgcl.ImGCL(**SMALL), Ridge()).fit(small_graph, targets).predict(small_graph).shape
        == targets.shape
    )


def test_mistakes_are_told_at_fit(small_graph):
    with pytest.raises(imgcl.ImgclError, match="unknown method 'nonsense'"):
        imgcl.ImGCL(method="nonsense").fit(small_graph)
    with pytest.raises(imgcl.ImgclError, match="unknown balance setting 'x'"):
        imgcl.ImGCL(balance="x=y").fit(small_graph)
