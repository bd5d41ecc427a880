"""Columns whose scale or tail outweighs all others: named by an import, and mended by logarithms."""

import warnings

import numpy as np
import pandas as pd
import pytest
from import_samples import do_import, write

import imgcl
from imgcl._core.errors import InputError
from imgcl.data.importing import ImportSettings, import_tables
from imgcl.data.importing.recipe import Recipe, rules_of
from imgcl.data.importing.remarks import remarks
from imgcl.data.store import open_store

N = 400
RNG = np.random.default_rng(0)
NODES = pd.DataFrame(
    {
        "id": np.arange(N),
        "night": RNG.random(N),
        "amount": np.exp(RNG.normal(5, 2.2, N)),
        "word": (RNG.random(N) < 0.005).astype(float),
        "town": RNG.choice(["bath", "york"], N),
    }
)
EDGES = pd.DataFrame({"src": NODES["id"][:-1].to_numpy(), "dst": NODES["id"][1:].to_numpy()})


def said(tmp_path, *features, nodes=NODES, **rules):
    return list(remarks(do_import(tmp_path, nodes, EDGES, features=features, **rules)[0]))


def test_scale_and_tail_are_named_with_what_mends_them(tmp_path):
    scale, tail = said(tmp_path, "night", "amount")
    assert scale.startswith("features differ in scale: column 'amount' has numbers of about 1,")
    assert "of 1 or less" in scale
    assert "`standardise=True`" in scale
    assert tail.startswith("1 column has a few values far larger")
    assert tail.endswith("`log='amount'`")


def test_what_is_said_goes_away_when_it_is_done(tmp_path):
    every = ("night", "amount", "word", "town")
    assert said(tmp_path, *every, standardise=True, log="amount") == []


@pytest.mark.parametrize("features", [("night", "word"), ("amount",), ("word", "town")])
def test_scale_is_about_other_columns(tmp_path, features):
    assert not [line for line in said(tmp_path, *features) if "scale" in line]


def test_categories_are_small_beside_numbers(tmp_path):
    assert "scale" in said(tmp_path, "town", "years", nodes=NODES.assign(years=RNG.uniform(1990, 2020, N)))[0]


@pytest.mark.parametrize("size", [1e-3, 1.0, 1e12])
def test_rare_words_and_short_tails_are_no_heavy_ones(tmp_path, size):
    nodes = NODES.assign(short=size * RNG.exponential(1, N))
    assert said(tmp_path, "short", "word", nodes=nodes, standardise=True) == []


def test_huge_numbers_and_constant_columns_are_measured(tmp_path):
    nodes = NODES.assign(huge=1e99 * NODES["amount"] / NODES["amount"].max(), one=1.0, none=[*[None] * (N - 1), 2.0])
    (line,) = said(tmp_path, "huge", "one", "none", nodes=nodes, standardise=True, missing="mean")
    assert line.endswith("`log='huge'`")


def test_few_rows_say_nothing(tmp_path):
    few = NODES[:40].assign(amount=[*range(39), 1e9])
    report, _ = do_import(tmp_path, few, EDGES[:39], features=("night", "amount"))
    assert report.shapes == {}


def test_logarithms_by_hand_and_before_all_else(tmp_path):
    nodes = NODES.assign(amount=[-9.0, *NODES["amount"][1:-1], None])
    _, graph = do_import(tmp_path, nodes, EDGES, features=("night", "amount"), log=("amount",), missing="mean")
    logs = np.sign(nodes["amount"]) * np.log1p(np.abs(nodes["amount"]))
    assert np.allclose(graph.x[:, 1], logs.fillna(logs.mean()), rtol=1e-6)
    assert np.allclose(graph.x[:, 0], nodes["night"])


def test_a_repeated_import_takes_the_same_logarithms(tmp_path):
    report, graph = do_import(tmp_path, NODES, EDGES, features=("n*", "a*"), log=("am*",), standardise=True)
    tables = {"nodes": write(NODES[::-1], tmp_path / "n.csv"), "edges": write(EDGES, tmp_path / "e.csv")}
    again = import_tables(ImportSettings(**tables, like=report.path), tmp_path / "again.store")
    assert np.allclose(open_store(again.path).x[::-1], graph.x, atol=1e-6)
    assert list(remarks(again)) == []
    with pytest.raises(InputError, match=r"`log` is night, but .* was imported with am"):
        import_tables(ImportSettings(**tables, like=report.path, log="night"), tmp_path / "other.store")


def test_rules_tell_logarithms_from_numbers(tmp_path):
    report, _ = do_import(tmp_path, NODES, EDGES, features=("night", "amount"))
    plain, recipe = rules_of(str(report.path)), Recipe.read(report.path)
    logs = tuple(column.model_copy(update={"log": column.name == "amount"}) for column in recipe.columns)
    recipe.model_copy(update={"columns": logs}).write(report.path)
    assert rules_of(str(report.path)) != plain


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ({"log": "town"}, "`log` has 'town', and feature columns of numbers are night, amount"),
        ({"log": "amuont"}, "`log` has 'amuont'"),
        ({"log": ("x*",)}, r"`log` has 'x\*'"),
        ({"log": "amount", "features": ()}, "`log` is about feature columns"),
    ],
)
def test_logarithms_of_what_has_none(tmp_path, rules, message):
    with pytest.raises(InputError, match=message):
        do_import(tmp_path, NODES, EDGES, **{"features": ("night", "amount", "town"), **rules})


def test_frames_say_it_too():
    columns = {"features": ["night", "amount"]}
    with pytest.warns(UserWarning, match="far larger than all others"):
        imgcl.Graph.from_frames(NODES, EDGES, standardise=True, **columns)
    with warnings.catch_warnings(record=True) as caught:
        imgcl.Graph.from_frames(NODES, EDGES, standardise=True, log="amount", **columns)
    assert caught == []
