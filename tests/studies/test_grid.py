"""From a declaration to cells."""

import numpy as np
import pytest

from imgcl._core.errors import DataNotFoundError, InputError
from imgcl.studies import Graphs, only, read_spec
from imgcl.studies.cells import GraphRef
from imgcl.studies.grid import StudySpec, expand, only_datasets


@pytest.fixture
def graphs():
    refs = [GraphRef(source=name, name=name, fingerprint=name, n_classes=5) for name in ("one", "two")]
    return Graphs({ref.name: (ref, None) for ref in refs})


SPEC = StudySpec(name="own", datasets=("one", "two"), methods=("gbt", "grace"), baselines=("features",), seeds=3)


def test_every_combination_is_a_point(graphs):
    points = expand(SPEC, graphs)
    # 2 graphs x 2 methods x 2 balance settings x 3 seeds, and 2 graphs x 1 baseline with one seed
    assert len(points) == 2 * 2 * 2 * 3 + 2
    assert len({point.cell.key for point in points}) == len(points)
    assert {point.labels["seed"] for point in points[: len(points) // 3]} == {0}


def test_a_scope_pretrains_for_every_split(graphs):
    spec = SPEC.model_copy(update={"scope": "inductive", "splits": 4, "baselines": ()})
    points = expand(spec, graphs)
    assert len({point.cell.needs.key for point in points}) == len(points) == 2 * 2 * 2 * 3 * 4
    assert all(point.cell.pretrain.config.scope.split == point.labels["split"] for point in points)
    assert all(point.cell.pretrain.config.scope.imbalance == "exp:100" for point in points)


def test_laws_share_their_pretraining(graphs):
    points = expand(SPEC.model_copy(update={"imbalances": ("exp:10", "exp:50"), "baselines": ()}), graphs)
    assert 2 * len({point.cell.needs.key for point in points}) == len(points)


def test_only_keeps_what_fits(graphs):
    points = expand(SPEC, graphs)
    assert {p.labels["dataset"] for p in only(points, ["dataset=two"])} == {"two"}
    assert len(only(points, ["dataset=two,method=gbt", "balance=imgcl"])) == 3
    assert len(only(points, ["method=gbt,method=features"])) == 2 * 2 * 3 + 2


@pytest.mark.parametrize(
    ("condition", "message"),
    [("dataset", "write key=value"), ("colour=red", "with a key of dataset"), ("method=sage", "gbt, grace, features")],
)
def test_only_says_what_is_wrong(graphs, condition, message):
    with pytest.raises(InputError, match=message):
        only(expand(SPEC, graphs), [condition])


def test_data_sets_left_out_are_not_loaded():
    spec = SPEC.model_copy(update={"datasets": ("digits", "data/mine.npz")})
    assert only_datasets(spec, ["dataset=mine,method=gbt"]).datasets == ("data/mine.npz",)
    assert only_datasets(spec, ["method=gbt"]).datasets == spec.datasets
    with pytest.raises(InputError, match="this study has digits, mine"):
        only_datasets(spec, ["dataset=dblp"])


def test_a_study_of_ones_own(tmp_path):
    (tmp_path / "mine.npz").touch()
    file = tmp_path / "rare.toml"
    file.write_text(
        'datasets = ["mine.npz", "digits"]\nseeds = 1\n[balances]\nnone = "none"\ndegree = "centrality=degree"\n'
    )
    spec = read_spec(file)
    assert spec.name == "rare"
    assert spec.datasets == (str(tmp_path / "mine.npz"), "digits")
    assert spec.balances == {"none": "none", "degree": "centrality=degree"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("datasets = 3", "setting datasets"),
        ("datasets = []", "datasets is empty"),
        ('datasets = ["digits"]\nmethod = "gbt"', "did you mean 'methods'"),
        ('datasets = ["digits"]\nmethods = ["gbz"]', "gbz"),
        ('datasets = ["digits"]\nclassifiers = ["nicest"]', "nicest"),
        ('datasets = ["digits"]\nimbalances = ["exp:100", "exp:0.5"]', "ratio 0.5"),
        ('datasets = ["digits"]\nimbalances = ["zipf:2"]', "unknown imbalance 'zipf:2'"),
        ('datasets = ["digits"]\nscope = "graph"\nimbalances = ["random:10/10/80"]', "unknown imbalance"),
        ("datasets = [", "is not readable TOML"),
        ('datasets = ["digits"]\nname = "../up"', "setting name"),
        (f"datasets = {'9' * 5000}", "is not readable TOML"),
        (f"datasets = {'[' * 3000}", "is not readable TOML"),
        (f"{'settings.' * 1500}a = 1", r"study\.toml is not readable TOML: line 1 has a key of more than 8 parts"),
        ('datasets = ["digits"]\nseeds = 10_000_000_000_000', "setting seeds"),
        ('datasets = ["digits"]\nsplits = 10_000_000_000_000', "setting splits"),
        ('datasets = ["digits"]\nseeds = true', "setting seeds = True: it must be a number"),
        ('datasets = ["digits"]\nmethods = ["gbt", "gbt"]', "methods names 'gbt' more than once"),
        ('datasets = ["digits"]\nimbalances = ["exp:10", "exp:10"]', "imbalances names 'exp:10' more than once"),
        ('datasets = ["digits"]\nmethods = []', "the study has 0 points"),
        ('datasets = ["digits"]\nscope = "graph"\nseeds = 10_000\nsplits = 100_000', "has 2,000,000,000 points"),
        ('datasets = ["digits"]\n[balances]\nnone = "imgcl"', "'none' is the plain method"),
        ('datasets = ["digits"]\nprobe = "nicest"', "unknown probe 'nicest'"),
    ],
)
def test_a_wrong_file_is_explained(tmp_path, text, message):
    file = tmp_path / "study.toml"
    file.write_text(text)
    with pytest.raises(InputError, match=message):
        read_spec(file)


def test_the_name_of_a_graph_that_no_file_can_have(tmp_path):
    (tmp_path / "study.toml").write_text(f'datasets = ["{"x" * 300}"]')
    assert read_spec(tmp_path / "study.toml").datasets == ("x" * 300,)  # said when the graph is loaded


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(DataNotFoundError, match="no study file"):
        read_spec(tmp_path / "study.toml")


@pytest.mark.parametrize(
    ("labels", "message"),
    [(None, "has no labels"), (0, "has only one class: .* at least two classes"), (-1, "has no labelled node")],
)
def test_a_graph_without_two_classes_is_refused_before_anything_is_computed(monkeypatch, small_graph, labels, message):
    y = None if labels is None else np.full(small_graph.n_nodes, labels)
    graph = small_graph.with_labels(y, class_names=None if y is None else ["a", "b"])
    monkeypatch.setattr("imgcl.data.load_graph", lambda *_, **__: graph)
    with pytest.raises(InputError, match=f"graph 'mine' {message}"):
        Graphs.load(["mine"])
