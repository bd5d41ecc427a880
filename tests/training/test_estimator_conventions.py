"""What scikit-learn's ``check_estimator`` asks of an estimator, as far as it applies to one whose input is a graph."""

import inspect
import logging
import pickle
import re
from copy import deepcopy
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import check_is_fitted

import imgcl
from imgcl.balance import BalanceSettings

SMALL = {"epochs": 3, "settings": {"dim": 8}}
FITTED = ("config_", "embedding_", "history_", "n_features_in_")


@pytest.fixture(scope="module")
def named(small_graph):
    return replace(small_graph, feature_names=tuple(f"f{i}" for i in range(small_graph.n_features)))


def state(model):
    """Everything that a fit leaves behind, as values to compare."""
    return {name: getattr(model, name) for name in (*FITTED, "feature_names_in_") if hasattr(model, name)}


def assert_same_state(model, before):
    now = state(model)
    assert now.keys() == before.keys()
    for name, value in before.items():
        assert now[name] is value or np.array_equal(now[name], value) or now[name] == value


# ---------------------------------------------------------------------- parameters


def test_constructor_stores_its_parameters_and_nothing_else():
    model = imgcl.ImGCL()
    parameters = inspect.signature(imgcl.ImGCL).parameters
    assert vars(model).keys() == parameters.keys() == model.get_params().keys()
    assert all(getattr(model, name) is parameter.default for name, parameter in parameters.items())


def test_parameters_are_kept_as_they_were_given(small_graph):
    given = {"settings": {"dim": 8}, "balance": {"centrality": "none"}, "random_state": np.random.RandomState(1)}
    model = imgcl.ImGCL(epochs=2, **given).fit(small_graph)
    assert all(model.get_params()[name] is value for name, value in given.items())
    assert given["settings"] == {"dim": 8}
    assert given["balance"] == {"centrality": "none"}


def test_set_params_changes_the_next_fit(small_graph):
    model = imgcl.ImGCL(**SMALL).set_params(epochs=2, method="grace", settings={"dim": 4, "projection": 4})
    assert model.fit(small_graph).embedding_.shape[1] == 4
    assert (model.config_.method, model.config_.training.epochs) == ("grace", 2)
    with pytest.raises(ValueError, match="Invalid parameter 'nothing'"):
        model.set_params(nothing=1)


def test_clone_has_the_parameters_and_not_the_fit(small_graph):
    model = imgcl.ImGCL(**SMALL, random_state=4).fit(small_graph)
    copy = clone(model)
    assert copy.get_params() == model.get_params()
    with pytest.raises(NotFittedError):
        check_is_fitted(copy)
    assert np.array_equal(copy.fit(small_graph).embedding_, model.embedding_)


def test_repr_shows_what_differs_from_the_defaults(small_graph):
    model = imgcl.ImGCL(method="grace", random_state=7)
    assert repr(model) == "ImGCL(method='grace', random_state=7)"
    assert repr(imgcl.ImGCL(**SMALL).fit(small_graph)) == "ImGCL(epochs=3, settings={'dim': 8})"


# ---------------------------------------------------------------------- before and after a fit


@pytest.mark.parametrize("call", ["transform", "get_feature_names_out"])
def test_not_fitted(small_graph, call):
    arguments = (small_graph,) if call == "transform" else ()
    with pytest.raises(NotFittedError):
        getattr(imgcl.ImGCL(), call)(*arguments)
    assert not hasattr(imgcl.ImGCL(), "feature_names_in_")


def test_fit_returns_the_estimator_and_is_repeatable(small_graph):
    model = imgcl.ImGCL(**SMALL)
    assert model.fit(small_graph) is model
    check_is_fitted(model)
    first = model.embedding_
    assert np.array_equal(model.fit(small_graph).embedding_, first)
    assert np.array_equal(imgcl.ImGCL(**SMALL).fit_transform(small_graph), first)


def test_transform_changes_nothing_and_gives_the_same_again(small_graph):
    model = imgcl.ImGCL(**SMALL, method="bgrl").fit(small_graph)
    before = deepcopy(state(model))
    first = model.transform(small_graph)
    assert np.array_equal(model.transform(small_graph), first)
    assert np.array_equal(first, model.embedding_)
    assert not np.shares_memory(first, model.embedding_)
    assert_same_state(model, before)


def test_inputs_stay_as_they_are(small_graph):
    data = small_graph.to_pyg()
    before = {name: value.clone() for name, value in data.to_dict().items() if hasattr(value, "clone")}
    model = imgcl.ImGCL(epochs=2, settings={"dim": 8, "normalise": "column"}).fit(data)
    model.transform(data)
    assert all(value.equal(data[name]) for name, value in before.items())


def test_names_and_numbers_of_features(small_graph, named):
    model = imgcl.ImGCL(**SMALL).fit(named)
    assert model.n_features_in_ == 16
    assert model.feature_names_in_.tolist() == list(named.feature_names)
    assert model.feature_names_in_.dtype == object
    assert model.get_feature_names_out().tolist() == [f"imgcl{i}" for i in range(8)]
    model.fit(small_graph)
    assert not hasattr(model, "feature_names_in_")


def test_features_are_matched_by_name(named):
    model = imgcl.ImGCL(**SMALL).fit(named)
    turned = replace(named, x=named.x[:, ::-1].copy(), feature_names=named.feature_names[::-1])
    np.testing.assert_allclose(model.transform(turned), model.embedding_, rtol=1e-4, atol=1e-6)
    other = replace(named, feature_names=("new", *named.feature_names[1:]))
    with pytest.raises(imgcl.ImgclError, match="'f0' is missing, 'new' is unknown"):
        model.transform(other)


def test_columns_are_standardised_by_the_statistics_of_the_fit(small_graph):
    model = imgcl.ImGCL(epochs=3, settings={"dim": 8, "normalise": "column"}).fit(small_graph)
    moved = replace(small_graph, x=small_graph.x * 3 + 7)
    assert np.abs(model.transform(moved) - model.embedding_).max() > 1e-2
    apart = imgcl.Graph.from_scipy(small_graph.adjacency * 0, small_graph.x)
    alone = apart.subgraph([0, 1])
    np.testing.assert_allclose(model.transform(alone), model.transform(apart)[:2], rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("batch_size", [0, 32])
@pytest.mark.parametrize("method", ["gbt", "bgrl", "mvgrl", "infograph"])
def test_a_fitted_estimator_can_be_pickled(named, method, batch_size):
    settings = {"dim": 8, "normalise": "column", "batch_size": batch_size}
    model = imgcl.ImGCL(method, epochs=2, settings=settings).fit(named)
    again = pickle.loads(pickle.dumps(model))  # noqa: S301 (our own)
    assert_same_state(again, state(model))
    assert np.array_equal(again.transform(named), model.transform(named))
    assert np.array_equal(deepcopy(model).transform(named), model.transform(named))


def test_output_as_a_table(small_graph):
    named = replace(small_graph, node_names=tuple(f"n{i}" for i in range(small_graph.n_nodes)))
    model = imgcl.ImGCL(**SMALL).set_output(transform="pandas")
    table = model.fit_transform(named)
    assert list(table.columns) == list(model.get_feature_names_out()) == [f"imgcl{i}" for i in range(8)]
    assert tuple(table.index) == named.node_names
    np.testing.assert_array_equal(table.to_numpy(), model.embedding_)
    pd.testing.assert_frame_equal(model.transform(named), table, atol=1e-5)
    assert tuple(model.transform(small_graph).index) == tuple(range(small_graph.n_nodes))
    table.iloc[0, 0] = 7
    assert model.embedding_[0, 0] != 7
    assert isinstance(model.set_output(transform="default").transform(named), np.ndarray)
    with sklearn.config_context(transform_output="pandas"):
        assert tuple(imgcl.ImGCL(**SMALL).fit_transform(named).index) == named.node_names


def test_in_a_pipeline(small_graph):
    pipeline = make_pipeline(imgcl.ImGCL(**SMALL), StandardScaler())
    z = pipeline.fit_transform(small_graph)
    np.testing.assert_allclose(pipeline.transform(small_graph), z, atol=1e-5)
    assert pipeline.set_params(imgcl__epochs=2)[0].epochs == 2


# ---------------------------------------------------------------------- refits


REFUSED = {
    "graph": ({}, 3),
    "labels": ({"n_clusters": 10**6}, None),
    "method": ({"method": "nonsense"}, None),
    "setting": ({"settings": {"dim": -1}}, None),
    "size": ({"settings": {"dim": 10**12}}, None),
    "balance": ({"balance": 3}, None),
    "seed": ({"random_state": 0.7}, None),
    "device": ({"device": "meta"}, None),
    "exploded": ({"settings": {"dim": 8, "lr": 1e30}, "epochs": 30}, None),
}


@pytest.mark.parametrize(("parameters", "graph"), REFUSED.values(), ids=REFUSED.keys())
def test_a_refit_that_fails_leaves_the_earlier_fit(named, parameters, graph):
    model = imgcl.ImGCL(**SMALL).fit(named)
    before, z = state(model), model.transform(named)
    model.set_params(**parameters)
    with pytest.raises(imgcl.ImgclError):
        model.fit(named if graph is None else graph)
    assert_same_state(model, before)
    assert np.array_equal(model.transform(named), z)


def test_a_first_fit_that_fails_leaves_nothing(small_graph):
    model = imgcl.ImGCL(epochs=30, settings={"dim": 8, "lr": 1e30})
    with pytest.raises(imgcl.ImgclError):
        model.fit(small_graph)
    assert vars(model).keys() == model.get_params().keys()


# ---------------------------------------------------------------------- what parameters may be


@pytest.mark.parametrize("make", [np.random.RandomState, np.random.default_rng])
def test_every_fit_draws_its_seed_from_a_generator(small_graph, make):
    model = imgcl.ImGCL(**SMALL, random_state=make(3))
    seeds = [model.fit(small_graph).config_.seed for _ in range(2)]
    assert seeds[0] != seeds[1]
    assert imgcl.ImGCL(**SMALL, random_state=make(3)).fit(small_graph).config_.seed == seeds[0]
    again = imgcl.ImGCL(**SMALL, random_state=seeds[1]).fit(small_graph)
    assert np.array_equal(again.embedding_, model.embedding_)


def test_no_random_state_is_another_seed_each_time(small_graph):
    model = imgcl.ImGCL(**SMALL, random_state=None)
    assert model.fit(small_graph).config_.seed != model.fit(small_graph).config_.seed


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"random_state": 0.7}, r"random_state is 0\.7: give a whole number, a numpy RandomState"),
        ({"device": "mps"}, r"device 'mps' cannot be used \(.*\): choose auto, cpu, cuda"),
        ({"device": "meta"}, "device 'meta' cannot be used"),
        ({"balance": 3}, "balance is 3: give 'auto', 'imgcl' or True, None or False"),
        ({"settings": "dim=3"}, "settings is 'dim=3': give a mapping"),
        ({"settings": {"dim": 10**12}}, "training with dim=1000000000000, layers=2 .* GB of memory, there are"),
        ({"settings": {"layers": 10**12}}, "layers=1000000000000 .* GB of memory"),
        ({"method": "grace", "settings": {"projection": 10**13}}, "projection=10000000000000 .* GB of memory"),
    ],
)
def test_what_is_refused_in_one_line(small_graph, parameters, message):
    with pytest.raises(imgcl.ImgclError, match=message) as refused:
        imgcl.ImGCL(**parameters).fit(small_graph)
    assert "\n" not in str(refused.value)


def test_balance_as_yes_or_no(small_graph):
    chosen = {value: imgcl.ImGCL(**SMALL, balance=value).fit(small_graph) for value in (True, False)}
    assert chosen[True].config_.balance == BalanceSettings()
    assert chosen[False].config_.balance is None


def test_no_device_is_the_default_one(small_graph):
    assert imgcl.ImGCL(**SMALL, device=None).fit(small_graph).config_.device == "auto"


def test_verbose_says_epochs_through_the_logger(small_graph, caplog):
    caplog.set_level("INFO", logger="imgcl")
    quiet = imgcl.ImGCL(epochs=20, settings={"dim": 8}, blocks="learned")
    told = quiet.fit_transform(small_graph, verbose=1)
    assert caplog.messages[0].startswith("gbt on synthetic: epoch 2/20, loss ")
    assert clone(imgcl.ImGCL(verbose=2)).verbose == 2
    assert np.array_equal(told, quiet.fit(small_graph).embedding_)


def test_verbose_is_seen_without_logging_and_only_when_asked(small_graph, capsys, monkeypatch):
    monkeypatch.setattr(logging.getLogger("imgcl"), "propagate", False)  # pytest has set up logging
    model = imgcl.ImGCL(epochs=20, settings={"dim": 8}, blocks="learned")
    model.fit(small_graph)
    assert capsys.readouterr() == ("", "")
    model.set_params(verbose=1).fit(small_graph)
    assert len(re.findall(r"^gbt on synthetic: epoch \d+/20, loss", capsys.readouterr().err, re.MULTILINE)) == 10
    labels = [int(k) if node % 2 else -1 for node, k in enumerate(small_graph.y)]
    classifier = imgcl.ImGCLClassifier(model.set_params(verbose=0), classifier="plain")
    classifier.fit(small_graph, labels, verbose=1)
    assert "classifier plain: " in capsys.readouterr().err
    assert model.fit(small_graph, verbose=0) is model
    assert capsys.readouterr().err == ""
