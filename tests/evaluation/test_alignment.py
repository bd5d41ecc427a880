"""Labels as a mapping, a Series or one per node mean the same labels, wherever labels are taken."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import imgcl
from imgcl import InputError
from imgcl.evaluation import explain, fit_scorer, predict
from imgcl.evaluation.alignment import by_name, names_of, ordered_labels
from imgcl.labelling import progress

N = 60
NAMES = [f"item-{i}" for i in range(N)]
RNG = np.random.default_rng(5)
CLASSES = np.array(["tea", "salt"])[(np.arange(N) % 3 == 0).astype(int)]
Z = RNG.standard_normal((N, 4)) + 3 * (CLASSES == "salt")[:, None]
FRAME = pd.DataFrame(Z, index=NAMES)
KNOWN = np.where(np.arange(N) % 2 == 0, CLASSES, None)
SHUFFLED = RNG.permutation(N)
SCORER = fit_scorer({"learned": Z}, KNOWN, "reweight")


def forms():
    """The same labels in all forms, rows that are missing left out where they can be."""
    series = pd.Series(KNOWN, index=NAMES)
    return {
        "array": KNOWN,
        "list": KNOWN.tolist(),
        "dict": {name: label for name, label in zip(NAMES, KNOWN, strict=True) if label is not None},
        "dict of numbers": {i: label for i, label in enumerate(KNOWN) if label is not None},
        "shuffled Series": series.iloc[SHUFFLED],
        "partial Series": series.dropna()[::-1],
        "category": series.astype("category").iloc[SHUFFLED],
        "default index": pd.Series(KNOWN),
        "row numbers": pd.Series(KNOWN, index=range(7, 7 + N)),
    }


FORMS = forms()


@pytest.mark.parametrize("form", FORMS)
def test_predict_and_fit_scorer(form):
    expected = predict(Z, KNOWN, "reweight", node_names=NAMES)
    pd.testing.assert_frame_equal(predict(Z, FORMS[form], "reweight", node_names=NAMES), expected)
    pd.testing.assert_frame_equal(predict(FRAME, FORMS[form], "reweight"), expected)  # names are the index
    scorer = fit_scorer({"learned": FRAME}, FORMS[form], "reweight")
    assert scorer.predict({"learned": Z}).tolist() == SCORER.predict({"learned": Z}).tolist()
    assert explain(scorer, {"learned": FRAME}, FORMS[form], [1])[0].labelled[0].node % 2 == 0


@pytest.mark.parametrize("form", ["dict", "shuffled Series", "default index"])
def test_evaluate(form):
    options = {"imbalance": "natural", "classifier": "plain", "splits": 2, "ceiling": 0}
    expected = imgcl.evaluate(Z, KNOWN, **options).to_json()
    assert imgcl.evaluate(Z, FORMS[form], node_names=NAMES, **options).to_json() == expected
    graph = imgcl.Graph.from_edges([[0], [1]], x=Z, node_names=NAMES)
    assert imgcl.evaluate(Z, FORMS[form], graph=graph, **options).to_json() == expected


@pytest.mark.parametrize("form", ["dict", "shuffled Series", "default index"])
def test_suggest_and_progress(form):
    expected = imgcl.suggest(Z, 3, KNOWN, node_names=NAMES)
    pd.testing.assert_frame_equal(imgcl.suggest(FRAME, 3, FORMS[form]), expected)
    assert str(progress(FRAME, FORMS[form])) == str(progress(Z, KNOWN))


@given(st.permutations(range(6)), st.sets(st.integers(0, 5), min_size=1))
def test_a_series_is_aligned_by_name(order, kept):
    names = ["a", "b", "c", "10", "11", "12"]
    series = pd.Series(range(6), index=names).iloc[order]
    series = series[[name in {names[i] for i in kept} for name in series.index]]
    aligned = ordered_labels(series, np.zeros((6, 1)), names)
    assert aligned.tolist() == [i if i in kept else None for i in range(6)]


def test_numbers_as_names():
    names = ["5", "6", "7"]
    by_position = pd.Series(["x", "y", "z"])
    assert by_name(by_position, 3, names) is by_position  # the default index: positions, though no name is 0
    assert by_name(pd.Series(["x", "y"], index=[7, 5]), 3, names) == {7: "x", 5: "y"}
    assert by_name(pd.Series(["x", "y"], index=[7.0, 5.0]), 3, names) == {7.0: "x", 5.0: "y"}  # after a join
    cut = pd.Series(["x", "y", "z"], index=[1, 2, 4])  # as cross-validation cuts a Series: names no node
    assert by_name(cut, 3, names) is cut


def test_a_series_with_the_type_of_a_joined_index_is_by_name():
    """Of ids with gaps pandas makes floats: 5.0 is node 5, not a name of nobody."""
    aligned = ordered_labels(pd.Series(["x", "y", "z"], index=[7.0, 5.0, 6.0]), np.zeros((3, 1)), ["5", "6", "7"])
    assert aligned.tolist() == ["y", "z", "x"]
    assert ordered_labels({1.0: "x"}, np.zeros((2, 1))).tolist() == [None, "x"]


def test_without_names_a_series_is_taken_by_position():
    labels = pd.Series(["x", "y"], index=[4, 0])
    assert by_name(labels, 2) is labels
    assert ordered_labels(labels, [[1.0], [2.0]]) is labels


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (pd.Series(["x", "y"], index=["a", "z"]), "index has 'z', which is not a node's name .1 such.: leave it out"),
        (pd.Series(["x", "y"], index=["A", "B"]), "index has 'A', which is not a node's name .2 such.: leave it out"),
        (pd.Series(["x", "y"], index=[1, 0]), "index is the node numbers in another order: pass labels.sort_index"),
        (pd.Series(["x"], index=[8]), "a Series of 1 labels, whose index names none of the 2 nodes"),
        (pd.Series(["x"]), "a Series of 1 labels, whose index names none of the 2 nodes"),
        (pd.Series(["x", "y"], index=["a", "a"]), r"labels.index\[0\] and labels.index\[1\] are both 'a'"),
        ({"z": "x"}, "labels have node 'z', which is not a node name or a node number"),
    ],
)
def test_what_is_refused(labels, message):
    with pytest.raises(InputError, match=message):
        ordered_labels(labels, [[1.0], [2.0]], ["a", "b"])


def test_rows_of_a_frame_in_another_order_than_the_nodes_are_refused():
    """Labels follow one order and rows the other: every label would be that of another node."""
    graph = imgcl.Graph.from_edges([[0], [1]], x=Z, node_names=NAMES)
    shuffled = FRAME.iloc[SHUFFLED]
    for use in (
        lambda: imgcl.evaluate(shuffled, FORMS["shuffled Series"], "natural", "plain", 2, graph=graph),
        lambda: imgcl.evaluate(shuffled, KNOWN, "natural", "smooth", 2, graph=graph),
        lambda: predict(shuffled, KNOWN, "plain", node_names=NAMES),
        lambda: fit_scorer({"learned": shuffled}, FORMS["dict"], "plain", node_names=NAMES),
        lambda: imgcl.suggest(shuffled, 3, strategy="balanced", graph=graph),
    ):
        with pytest.raises(
            InputError, match=r"row 0 of the embedding is 'item-\d+' by its index, but node 0 is 'item-0'"
        ):
            use()
    assert predict(FRAME, KNOWN, "plain", node_names=range(N))["node"].tolist() == list(range(N))  # new names


def test_the_index_of_blocks():
    assert names_of({"learned": FRAME, "own": Z}) == NAMES
    assert names_of({"learned": pd.DataFrame(Z)}) is None
    with pytest.raises(InputError, match="DataFrames with different indexes"):
        names_of({"learned": FRAME, "own": FRAME[::-1]})
