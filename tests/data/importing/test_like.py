"""An import that repeats the recipe of an earlier one: the same features, whatever the new tables hold."""

import json
import shutil

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from import_samples import write

from imgcl._core.checksums import json_checksum
from imgcl._core.errors import GraphError, InputError
from imgcl.data.importing import ImportSettings, Unseen, import_tables
from imgcl.data.store import open_store

NODES = pd.DataFrame(
    {
        "id": ["a", "b", "c", "d"],
        "age": [1.0, 3.0, 5.0, 7.0],  # mean 4, deviation sqrt(5)
        "post": ["007", "x1", "007", "y"],
        "kind": ["ok", "bad", "ok", None],
    }
)
EDGES = pd.DataFrame({"src": ["a", "b", "c"], "dst": ["b", "c", "d"]})
GROWN = pd.DataFrame(
    {
        "kind": ["new", "ok", None],
        "post": ["y", "8", "9"],
        "more": [1, 2, 3],
        "age": [4.0, None, 9.0],
        "id": ["a", "b", "z"],
    }
)
RULES = {"features": ("post", "age"), "label": "kind", "standardise": True, "missing": "mean"}


def make(folder, nodes, stem, edges=EDGES, kind="csv", **options):
    tables = {"nodes": write(nodes, folder / f"{stem}.{kind}"), "edges": write(edges, folder / f"{stem}-e.{kind}")}
    report = import_tables(ImportSettings(**tables, **options), folder / f"{stem}.store")
    return report, open_store(report.path)


def grown(folder, nodes=GROWN, edges=EDGES[:1], **options):
    return make(folder, nodes, "grown", edges, like=folder / "first.store", **options)


@pytest.fixture
def first(tmp_path):
    _, graph = make(tmp_path, NODES, "first", **RULES)
    assert graph.feature_names == ("post=007", "post=x1", "post=y", "age")
    return graph


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_categories_means_and_classes_of_the_first_import(tmp_path, first, kind):
    report, graph = make(tmp_path, GROWN, "grown", EDGES[:1], kind, like=tmp_path / "first.store")
    assert graph.feature_names == first.feature_names
    np.testing.assert_allclose(graph.x, [[0, 0, 1, 0], [0, 0, 0, 0], [0, 0, 0, 5**0.5]], rtol=1e-6)
    assert report.unseen == {"post": Unseen(nodes=2, values=2, example="8")}
    assert graph.class_names == ("bad", "ok", "new")  # known classes keep their numbers, also where no node has them
    assert graph.y.tolist() == [2, 1, -1]
    assert (report.new_classes, report.without_label) == (("new",), None)


def test_leading_zeros_are_compared_as_text(tmp_path, first):
    report, graph = grown(tmp_path, GROWN.assign(post=["007", "007", "7"]))  # alone, this column would be numbers
    assert graph.x[:, 0].tolist() == [1, 1, 0]
    assert report.unseen["post"] == Unseen(1, 1, "7")


def test_the_same_tables_give_the_same_store(tmp_path, first):
    report, graph = grown(tmp_path, NODES, EDGES)
    assert graph.fingerprint == first.fingerprint
    assert (report.unseen, report.new_classes) == ({}, ())
    recipes = [(tmp_path / f"{name}.store" / "recipe.json").read_bytes() for name in ("first", "grown")]
    assert recipes[0] == recipes[1]


def test_a_repeated_import_can_be_repeated(tmp_path, first):
    grown(tmp_path)
    report, graph = make(tmp_path, GROWN.assign(kind="last"), "third", EDGES[:1], like=tmp_path / "grown.store")
    assert graph.feature_names == first.feature_names
    assert graph.class_names == ("bad", "ok", "new", "last")
    assert report.new_classes == ("last",)


def test_nodes_without_labels(tmp_path, first):
    report, graph = grown(tmp_path, GROWN.drop(columns="kind"))
    assert graph.y is None
    assert report.without_label == "kind"
    shutil.rmtree(report.path)
    with pytest.raises(InputError, match=r"lacks columns that .*first\.store was imported from \(`like`\): 'kind'"):
        grown(tmp_path, GROWN.drop(columns="kind"), label="kind")


def test_all_columns_that_lack_are_named(tmp_path, first):
    with pytest.raises(InputError, match=r"grown\.csv lacks columns that .*: 'post', 'age'; it has kind, more, id"):
        grown(tmp_path, GROWN.drop(columns=["age", "post"]))
    with pytest.raises(InputError, match=r"grown-e\.csv lacks columns that .*: 'src', 'dst'; it has a, b"):
        grown(tmp_path, edges=pd.DataFrame({"a": ["a"], "b": ["b"]}))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"src": "from"}, "`src` is 'from', but .*first.store was imported with 'src'"),
        ({"features": ("age",)}, "`features` is age, but .* was imported with post,age"),
        ({"features": ()}, "`features` is none, but .* was imported with post,age"),
        ({"standardise": False}, "`standardise` is False, but .* was imported with True"),
        ({"missing": "zero"}, "`missing` is 'zero', but .* was imported with 'mean'"),
        ({"dtype": "float16"}, "`dtype` is 'float16'"),
        ({"label": None}, "`label` is None, but .* was imported with 'kind'"),
    ],
)
def test_settings_that_contradict_the_recipe(tmp_path, first, options, message):
    with pytest.raises(InputError, match=message):
        grown(tmp_path, **options)


def test_settings_that_agree_or_are_free(tmp_path, first):
    edges = pd.DataFrame({"src": ["a", "b"], "dst": ["b", "nobody"]})
    report, _ = grown(tmp_path, edges=edges, **RULES, on_dangling="drop", name="other")
    assert report.dangling == 1


def test_patterns_mean_the_columns_that_they_meant(tmp_path):
    make(tmp_path, NODES.rename(columns={"age": "f1"}), "first", features=("f*",))
    table = GROWN.rename(columns={"age": "f1", "more": "f0"}).fillna({"f1": 2.0})
    for options in ({}, {"features": ("f*",)}, {"features": ("f1",)}):
        report, graph = grown(tmp_path, table, **options)
        assert graph.feature_names == ("f1",)
        assert graph.x[:, 0].tolist() == [4, 2, 9]
        shutil.rmtree(report.path)


def test_values_that_the_recipe_cannot_take(tmp_path, first):
    with pytest.raises(InputError, match=r"column 'age' is 'old' in row 2, and held numbers in the import"):
        grown(tmp_path, GROWN.assign(age=["4", "old", "9"]))
    with pytest.raises(InputError, match=r"column 'age' is 1e\+30 in row 1 \(id 'a'\): .* it exceeds 1e\+15"):
        grown(tmp_path, GROWN.assign(age=[1e30, 1.0, 2.0]))
    report, graph = grown(tmp_path, GROWN.assign(age=None))  # nothing but gaps: the mean of the first import
    assert graph.x[:, 3].tolist() == [0, 0, 0]
    assert report.nodes == 3


def test_gaps_without_a_rule_for_them(tmp_path):
    make(tmp_path, NODES, "first", features=("age",))
    with pytest.raises(InputError, match=r"'age' has 1 missing values, and .*first\.store was imported without a rule"):
        grown(tmp_path)


def test_gaps_get_the_mean_of_the_first_import(tmp_path):
    make(tmp_path, NODES, "first", features=("age",), missing="mean")
    _, graph = grown(tmp_path)
    assert graph.x[:, 0].tolist() == [4, 4, 9]


def test_structural_features_are_made_anew(tmp_path):
    import_tables(ImportSettings(edges=write(EDGES, tmp_path / "e.csv")), tmp_path / "first.store")
    settings = ImportSettings(edges=write(EDGES[:2], tmp_path / "f.csv"), like=tmp_path / "first.store", features=())
    assert import_tables(settings, tmp_path / "second.store").nodes == 3


def test_the_table_of_nodes_is_needed_again(tmp_path, first):
    settings = ImportSettings(edges=str(tmp_path / "first-e.csv"), like=tmp_path / "first.store")
    with pytest.raises(InputError, match=r"there is no table of nodes: give it \(`nodes`\)"):
        import_tables(settings, tmp_path / "grown.store")


def test_stores_without_a_recipe(tmp_path, first):
    (tmp_path / "first.store" / "recipe.json").unlink()
    with pytest.raises(GraphError, match=r"has no recipe to repeat \(`like`\): .*; import its tables again"):
        grown(tmp_path)
    shutil.rmtree(tmp_path / "first.store")
    with pytest.raises(GraphError, match=r"first\.store is not a graph store \(`like`\)"):
        grown(tmp_path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"columns": [{"name": "age", "kind": "DOUBLE", "deviation": 0.0}]}, "greater than 0"),
        ({"columns": [{"name": "age", "kind": "DOUBLE", "mean": "DROP TABLE nodes"}]}, "valid number"),
        ({"other": 1}, "Extra inputs"),
        ({"settings": {"directed_as": "sideways"}}, "both"),
        ({"format": "imgcl-import-recipe-9"}, "has format 'imgcl-import-recipe-9'"),
        ({"checksum": "0"}, "its checksum does not fit"),
    ],
)
def test_a_recipe_that_somebody_changed(tmp_path, first, change, message):
    path = tmp_path / "first.store" / "recipe.json"
    content = json.loads(path.read_text(encoding="utf-8")) | change
    if "checksum" not in change:
        content.pop("checksum")
        content["checksum"] = json_checksum(content)
    path.write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(GraphError, match=message):
        grown(tmp_path)


values = st.sampled_from(["red", "blue", "7", "07", "a'b", "ü", "a=b"])


@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(old=st.lists(values, min_size=2, max_size=5), new=st.lists(values, min_size=2, max_size=5))
def test_every_known_value_has_its_feature_and_every_other_is_counted(tmp_path_factory, old, new):
    folder = tmp_path_factory.mktemp("like")
    edges = pd.DataFrame({"src": ["n0"], "dst": ["n1"]})
    tables = [
        pd.DataFrame({"id": [f"n{i}" for i in range(len(column))], "c": column, "kind": "k"}) for column in (old, new)
    ]
    make(folder, tables[0], "first", edges, "parquet", features=("c",))
    report, graph = make(folder, tables[1], "grown", edges, "parquet", like=folder / "first.store")
    names = list(graph.feature_names)
    assert names == [f"c={value}" for value in sorted(set(old))]
    for row, value in zip(graph.x, new, strict=True):
        assert row.tolist() == [float(name == f"c={value}") for name in names]
    unseen = [value for value in new if value not in old]
    assert report.unseen == ({"c": Unseen(len(unseen), len(set(unseen)), min(unseen))} if unseen else {})


@pytest.mark.parametrize("word", ["yes", "true", "10:00", "2024-01-01"])
def test_words_are_no_numbers_where_numbers_were(tmp_path, first, word):
    nodes = GROWN.assign(age=word)
    with pytest.raises(InputError, match=f"column 'age' is '{word}' in row 1, and held numbers"):
        grown(tmp_path, nodes)


def test_days_are_compared_as_they_are_written(tmp_path):
    days = pd.DataFrame({"id": ["a", "b", "c"], "day": ["13/02/2024", "03/02/2024", "02/03/2024"]})
    make(tmp_path, days, "first", EDGES[:2], features=("day",))
    _, graph = grown(tmp_path, days[1:], EDGES[1:2])  # alone, these two may be read either way
    assert graph.x.tolist() == [[0, 1, 0], [1, 0, 0]]
