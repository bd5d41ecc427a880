"""What an unknown word may stand for."""

import pytest

from imgcl._core.words import did_you_mean, nearest_names

DATA = ["amazon-computers", "amazon-photo", "wiki-cs", "cora", "wiki-cs-structure"]


@pytest.mark.parametrize(
    ("word", "known", "near"),
    [
        ("Amazon_Photo", DATA, ["amazon-photo"]),
        ("photo", DATA, ["amazon-photo"]),
        ("amazon", DATA, ["amazon-computers", "amazon-photo"]),
        ("wikics", DATA, ["wiki-cs"]),
        ("tree", ["plain", "trees", "ensemble"], ["trees"]),
        ("drop", ["edge_drop", "feature_drop", "dim"], ["edge_drop", "feature_drop"]),
        ("no", ["nothing", "norway"], []),
        ("", ["none"], []),
        ("zebra", DATA, []),
    ],
)
def test_nearest_names(word, known, near):
    assert nearest_names(word, known) == near


def test_all_are_named_where_none_is_near():
    assert did_you_mean("x", ["a", "b"], more="or a path") == ": choose from a, b, or a path"
    assert did_you_mean("x", [], "it takes none") == ": it takes none"
    assert did_you_mean(3, ["a"]) == ": choose from a"


def test_thousands_of_names_are_not_listed():
    said = did_you_mean("x", [f"column-{i}" for i in range(2_000)])
    assert said.startswith(": choose from column-0, ")
    assert said.endswith("column-39, 1,960 more")
