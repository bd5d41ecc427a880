"""What goes in and what comes out."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import imgcl
from imgcl.training import Run
from imgcl.training.estimator import make_config
from imgcl.training.pretrain import pretrain


def test_the_columns_say_why(groups):
    rows, _ = groups
    found = imgcl.suggest(rows, 4, {"n1": "x", "n2": "y"}, node_names=[f"n{i}" for i in range(len(rows))])
    assert found.columns.tolist()[:2] == ["node", "label"]
    assert found["label"].tolist() == [""] * 4
    assert set(found["nearest_labelled"]) <= {"n1", "n2"}
    assert set(found["expected"]) <= {"x", "y"}
    assert found["probability"].between(0.5, 1).all()
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    first = found.iloc[0]
    cosine = unit[int(first["node"][1:])] @ unit[int(first["nearest_labelled"][1:])]
    assert first["similarity"] == pytest.approx(cosine, abs=1e-3)


def test_labels_may_be_a_table_a_file_a_mapping_or_one_per_node(groups, tmp_path):
    rows, _ = groups
    table = pd.DataFrame({"node": [3, 5, 9], "label": ["a", "b", ""]})
    table.to_csv(tmp_path / "labels.csv", index=False)
    per_node = np.full(len(rows), None, dtype=object)
    per_node[[3, 5]] = "a", "b"
    forms = [table, tmp_path / "labels.csv", {3: "a", 5: "b", 9: None}]
    found = [imgcl.suggest(rows, 5, form)["node"].tolist() for form in forms]
    assert found[0] == found[1] == found[2]
    assert 9 not in found[0]
    assert not {3, 5} & set(imgcl.suggest(rows, 5, per_node)["node"])


def test_blocks_count_alike_whatever_their_scale(groups):
    rows, _ = groups
    noise = np.random.default_rng(1).standard_normal((len(rows), 3))
    found = imgcl.suggest({"own": 1e6 * rows, "noise": 1e-9 * noise}, 3)
    again = imgcl.suggest({"own": rows, "noise": noise}, 3)
    assert found.equals(again)


def run_with_labels(folder, known):
    """A run on a graph of ninety nodes of which the first ones have their label."""
    from dataclasses import replace

    graph = imgcl.load_graph("synthetic", class_sizes=[60, 30], mean_degree=4)
    y = np.where(np.arange(90) < known, graph.y, -1)
    config = make_config("none", method="gbt", balance=None, overrides={"epochs": 2, "dim": 8})
    return pretrain(replace(graph, y=y, class_names=("ok", "banned")), config, folder)


def test_labels_of_the_graph_count(tmp_path):
    run = run_with_labels(tmp_path / "run", 65)
    found = imgcl.suggest(run, 25)
    assert sorted(found["node"]) == list(range(65, 90))
    assert set(found["expected"]) == {"ok", "banned"}
    with pytest.raises(imgcl.InputError, match="only 25 nodes were never suggested"):
        imgcl.suggest(run, 26)
    more = imgcl.suggest(run, 23, {70: "new", 71: None})
    assert sorted(more["node"]) == [65, 66, 67, 68, 69, *range(72, 90)]
    before, after = (imgcl.labelling.progress(run, labels).counts for labels in (None, {70: "new", 0: "new"}))
    assert sum(before.values()) == 65
    assert after["new"] == 2  # a label that is given stands in place of the graph's
    assert sum(after.values()) == 66
    per_node = imgcl.suggest(run, 88, [None, "x", "y"] + [None] * 87)  # in place of the graph's
    assert set(per_node["expected"]) == {"x", "y"}


def test_a_graph_that_is_all_labelled_is_there_to_be_tried_on(tmp_path):
    run = run_with_labels(tmp_path / "run", 90)
    assert len(imgcl.suggest(run, 90)) == 90


def test_a_run_knows_its_names_and_its_graph(tmp_path):
    graph = imgcl.load_graph("synthetic", class_sizes=[60, 30], mean_degree=4)
    config = make_config("none", method="gbt", balance=None, overrides={"epochs": 2, "dim": 8})
    pretrain(graph, config, tmp_path / "run", source="synthetic:class_sizes=60/30,mean_degree=4")
    by_path = imgcl.suggest(tmp_path / "run", 4, strategy="balanced", n_clusters=2)
    by_run = imgcl.suggest(Run(tmp_path / "run"), 4, strategy="balanced", n_clusters=2)
    assert by_path.equals(by_run)
    by_hand = imgcl.suggest(Run(tmp_path / "run").blocks, 4, strategy="balanced", graph=graph, n_clusters=2)
    assert by_path["node"].tolist() == by_hand["node"].tolist()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"budget": 0}, "`budget` is 0"),
        ({"budget": 2.5}, "`budget` is 2.5: give a whole number"),
        ({"budget": "5"}, "`budget` is '5': give a whole number"),
        ({"budget": 111}, "only 110 nodes were never suggested"),
        ({"budget": 3, "strategy": "covr"}, "did you mean 'cover'"),
        ({"budget": 3, "strategy": "uncertain"}, "begin with `strategy='cover'`"),
        ({"budget": 3, "labels": {200: "a"}}, "not a node number of this graph"),
        ({"budget": 3, "labels": ["a"]}, "1 labels but 110 nodes"),
        ({"budget": 3, "labels": pd.DataFrame({"id": [1]})}, "no column 'node'"),
        ({"budget": 3, "node_names": ["a"]}, "1 node names"),
        ({"budget": 3, "n_clusters": 0}, "`n_clusters` is 0: give a whole number of clusters, at least 1"),
        (
            {"budget": 2, "strategy": lambda task: [1.5, 2.5]},
            r"chose \[1.5, 2.5\]: it must give a list of node numbers",
        ),
        ({"budget": 2, "strategy": lambda task: [1, 1]}, "chose 2 nodes, 1 of them different"),
    ],
)
def test_mistakes_are_named(groups, options, message):
    with pytest.raises(imgcl.InputError, match=message):
        imgcl.suggest(groups[0], **options)


def test_a_model_is_no_embedding():
    with pytest.raises(imgcl.InputError, match=r"the embedding is of type ImGCL: give an array .*, such as blocks_"):
        imgcl.suggest(imgcl.ImGCL(), 3)


def test_rounds_never_repeat_and_find_every_group(groups):
    rows, group = groups
    given: dict[int, str] = {}
    for _ in range(5):
        batch = imgcl.suggest(rows, 6, given)["node"].tolist()
        assert not set(batch) & set(given)
        given |= {node: str(group[node]) for node in batch}
    assert set(given.values()) == set("012345")


def test_similarity_is_a_cosine_also_beside_narrow_features(groups):
    rows, _ = groups
    own = np.random.default_rng(0).standard_normal((len(rows), 3)) * 9  # narrow features keep their lengths
    found = imgcl.suggest({"learned": rows, "own": own}, 4, {1: "x", 2: "y"})
    assert found["similarity"].between(-1, 1).all()
