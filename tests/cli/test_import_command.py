"""``imgcl import``, and the commands that follow it."""

import io
import json
import shlex
import shutil

import duckdb
import numpy as np
import pandas as pd
import pytest
from rich.console import Console
from typer.testing import CliRunner

from imgcl._core.errors import InputError
from imgcl.cli import app
from imgcl.cli.import_ import import_graph
from imgcl.data.importing import ImportSettings
from imgcl.data.importing.tables import _check_memory_of_structure
from imgcl.data.store import open_store


@pytest.fixture
def tables(tmp_path):
    n = 60
    nodes = pd.DataFrame(
        {"user": [f"u{i}" for i in range(n)], "f1": range(n), "f2": 1.0, "kind": [i % 3 for i in range(n)]}
    )
    edges = pd.DataFrame({"a": [f"u{i}" for i in range(n)], "b": [f"u{(i + 1) % n}" for i in range(n)]})
    nodes.to_csv(tmp_path / "nodes.csv", index=False)
    edges.to_csv(tmp_path / "edges.csv", index=False)
    return tmp_path


def run(*arguments):
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def arguments(folder, *more):
    files = ("--edges", folder / "edges.csv", "--nodes", folder / "nodes.csv", "--id-column", "user")
    return ("import", *files, "--src", "a", "--dst", "b", "--out", folder / "ring.store", *more)


def test_import_and_what_follows(tables):
    done = run(*arguments(tables, "--features", "f*", "--label", "kind"))
    assert done.exit_code == 0
    assert done.stdout.strip() == str(tables / "ring.store")
    assert "60 one-directional edges mirrored" in done.stderr
    assert '"nodes": 60' in run("info", tables / "ring.store", "--json").stdout
    trained = run(
        "pretrain", tables / "ring.store", "--out", tables / "run", "--epochs", 3, "--set", "dim=4", "--quiet"
    )
    assert trained.exit_code == 0
    assert (tables / "run" / "embedding.npy").exists()


def test_what_is_missing_or_contradicts(tables):
    with pytest.raises(InputError, match="--edges is missing"):
        run("import", "--nodes", tables / "nodes.csv", "--out", tables / "ring.store")
    edges = ("import", "--edges", tables / "edges.csv", "--src", "a", "--dst", "b", "--out", tables / "ring.store")
    for option in ("--label", "--features"):
        with pytest.raises(
            InputError, match=f"`{option[2:]}` is a column of the nodes, and there is no table of nodes"
        ):
            run(*edges, option, "kind")
    with pytest.raises(InputError, match="--ogb and --edges contradict each other"):
        run(*arguments(tables, "--ogb", tables))
    with pytest.raises(InputError, match="--on-dangling is 'maybe'"):
        run(*arguments(tables, "--features", "f1", "--on-dangling", "maybe"))


def test_from_a_list_of_edges_to_embeddings(tables):
    store, trained = tables / "ring.store", tables / "run"
    columns = ("--src", "a", "--dst", "b")
    done = run("import", "--edges", tables / "edges.csv", *columns, "--out", store)
    assert "the store has structural features" in done.stderr
    graph = open_store(store)
    assert (graph.n_nodes, graph.n_edges, graph.n_features) == (60, 60, 65)
    assert set(graph.node_names) == {f"u{i}" for i in range(60)}
    settings = ("--epochs", 3, "--set", "dim=4", "--n-clusters", 2, "--quiet")
    assert run("pretrain", store, "--out", trained, *settings).exit_code == 0
    assert run("embed", trained, "--graph", store, "--out", tables / "same.npy").exit_code == 0
    same, own = np.load(tables / "same.npy"), np.load(trained / "embedding.npy")
    np.testing.assert_allclose(same, own, rtol=1e-4, atol=1e-5)
    with pytest.raises(InputError, match="it embeds the graph it was trained on, and 'digits' is another one"):
        run("embed", trained, "--graph", "digits", "--out", tables / "other.npy")


def test_structural_features_of_a_graph_that_has_others(tables):
    run(*arguments(tables, "--features", "f*", "--label", "kind"))
    store, trained = tables / "ring.store", tables / "run"
    settings = ("--features", "structure", "--epochs", 3, "--set", "dim=4", "--quiet")
    assert run("pretrain", store, "--out", trained, *settings).exit_code == 0
    assert json.loads((trained / "config.json").read_text())["graph"]["source"] == f"{store}:features=structure"
    assert run("embed", trained, "--graph", store, "--out", tables / "same.npy").exit_code == 0


def test_numbers_in_a_list_of_edges_keep_their_order(tables):
    pd.DataFrame({"src": [10, 2, 3], "dst": [2, 3, 10]}).to_parquet(tables / "numbers.parquet")
    run("import", "--edges", tables / "numbers.parquet", "--out", tables / "numbers.store", "--features", "structure")
    graph = open_store(tables / "numbers.store")
    assert list(graph.node_names) == ["2", "3", "10"]
    with pytest.raises(InputError, match=r"nodes needs at least .* allow more \(`memory_limit`\)"):
        _check_memory_of_structure(ImportSettings(edges="e", src="a", dst="b"), 10**6)


def graph_of(folder):
    return open_store(folder / "ring.store")


def test_direction_weight_and_dangling(tables):
    edges = pd.DataFrame(
        {"a": ["u0", "u1", "u1", "u2", "u3"], "b": ["u1", "u0", "u2", "u1", "nobody"], "w": [1.0, 2.0, 0.0, 3.0, 1.0]}
    )
    edges.to_csv(tables / "edges.csv", index=False)
    flags = ("--features", "f1", "--weight", "w", "--directed-as", "mutual")
    with pytest.raises(InputError, match=r"1 edges name nodes that .*'nobody': use `on_dangling='drop'`"):
        run(*arguments(tables, *flags))
    done = run(*arguments(tables, *flags, "--on-dangling", "drop", "--name", "pair"))
    assert graph_of(tables).indices.tolist() == [1, 0]  # u1 and u2 point at each other, but one way weighs nothing
    assert graph_of(tables).name == "pair"
    for fact in ("edge rows read", "dangling rows left out", "rows without weight left out"):
        assert fact in done.stderr


def test_many_values_are_said(tables):
    nodes = pd.read_csv(tables / "nodes.csv")
    nodes["town"] = [f"t{i}" for i in range(len(nodes))]
    nodes.to_csv(tables / "nodes.csv", index=False)
    done = run(*arguments(tables, "--features", "town"))
    said = (
        f"column 'town' is text with {len(nodes)} different values: the most common ones are features, the others "
        "share one (town=(other)); --most-values says how many"
    )
    assert said in done.stderr
    assert graph_of(tables).n_features == 51


def test_feature_lists_missing_values_and_precision(tables):
    nodes = pd.read_csv(tables / "nodes.csv")
    nodes["town"] = ["x", "y", None] * 20
    nodes.loc[0, "f1"] = None
    nodes.to_csv(tables / "nodes.csv", index=False)
    flags = ("--features", "town, f*", "--standardise", "--dtype", "float16")
    with pytest.raises(InputError, match="column 'town' has 20 missing values"):
        run(*arguments(tables, *flags))
    run(*arguments(tables, *flags, "--missing", "mean"))
    graph = graph_of(tables)
    assert graph.feature_names == ("town=x", "town=y", "f1", "f2")
    assert graph.x.dtype == np.float16
    assert graph.x[:3].tolist()[0][:3] == [1, 0, 0]  # the mean of a standardised column is 0
    assert graph.x[2].tolist()[:2] == [0, 0]


def test_a_glob_of_parquet_files_with_default_columns(tables):
    for number in range(2):
        duckdb.execute(
            f"COPY (SELECT 'u' || i AS src, 'u' || (i + 1) AS dst FROM range({30 * number}, {30 * number + 29}) t(i)) "
            f"TO '{tables}/part-{number}.parquet'"
        )
    files = ("--edges", tables / "part-*.parquet", "--nodes", tables / "nodes.csv", "--id-column", "user")
    done = run("import", *files, "--features", "f1", "--memory-limit", "300MB", "--out", tables / "ring.store")
    assert graph_of(tables).n_edges == 58
    assert "edges" in done.stderr
    with pytest.raises(InputError, match="at least 200MB"):
        run(*arguments(tables, "--features", "f1", "--memory-limit", "1MB"))


@pytest.mark.parametrize("quiet", [False, True])
def test_a_terminal_sees_a_bar(tables, monkeypatch, quiet):
    terminal = Console(file=io.StringIO(), force_terminal=True, width=100)
    for module in ("import_", "console", "progress"):
        monkeypatch.setattr(f"imgcl.cli.{module}.err", terminal)
    run(*arguments(tables, "--features", "f1", *(["--quiet"] if quiet else [])))
    shown = terminal.file.getvalue()
    assert [part in shown for part in ("import", "100 %", "━━━━", "next: ")] == [not quiet] * 4


def test_ogb(tables):
    raw = tables / "ogbn_tiny" / "raw"
    raw.mkdir(parents=True)
    for name, text in {"edge": "0,1\n", "node-feat": "1\n2\n", "node-label": "0\n1\n", "num-node-list": "2\n"}.items():
        (raw / f"{name}.csv").write_text(text)
    done = run("import", "--ogb", raw.parent, "--out", tables / "tiny.store")
    assert done.stdout.strip() == str(tables / "tiny.store")
    assert open_store(tables / "tiny.store").n_edges == 1


def examples():
    """The commands of ``imgcl import --help``."""
    return [shlex.split(line)[1:] for line in (import_graph.__doc__ or "").splitlines() if "imgcl import --" in line]


@pytest.mark.parametrize("example", examples(), ids=lambda words: words[-1])
def test_the_examples_of_the_help(tmp_path, monkeypatch, example):
    monkeypatch.chdir(tmp_path)
    ids = ["a", "b", "c"]
    nodes = pd.DataFrame({"f1": [1.0, 2.0, 3.0], "f2": 0.5, "class": ["u", "v", None], "age": [20, 30, 40]})
    nodes = nodes.assign(id=ids, user=ids, country=["NA", "DE", "DE"])
    edges = pd.DataFrame({"src": ["a", "b"], "dst": ["b", "c"]})
    nodes.to_parquet("nodes.parquet")
    nodes.fillna("").assign(country=["US", "DE", "DE"]).to_csv("nodes.csv", index=False)
    edges.to_parquet("edges.parquet")
    nodes.to_csv("users.csv", index=False)
    edges.assign(amount=[2.0, 3.5], kind=["call", "text"]).to_csv("links.csv", index=False)
    for number in range(2):
        edges[number : number + 1].to_csv(f"edges-{number}.csv", index=False)
    if "--like" in example:  # what the example before it has made
        run(*examples()[1])
        shutil.copy("nodes.csv", "new-nodes.csv")
        edges.to_csv("new-edges.csv", index=False)
    raw = tmp_path / "dataset" / "ogbn_products" / "raw"
    raw.mkdir(parents=True)
    tables = {"edge": "0,1\n1,2\n", "node-feat": "1\n2\n3\n", "node-label": "0\n1\n0\n", "num-node-list": "3\n"}
    for name, text in tables.items():
        (raw / f"{name}.csv").write_text(text)
    assert run(*example).exit_code == 0
    graph = open_store(example[-1])
    assert (graph.n_nodes, graph.n_edges) == (3, 2)
    if "class" in example:
        assert graph.class_names == ("u", "v")


def test_labels_that_are_numbers(tables):
    nodes = pd.read_csv(tables / "nodes.csv")
    nodes.assign(kind=["1.10", "1.1", "2"] * 20).to_csv(tables / "nodes.csv", index=False)
    run(*arguments(tables, "--features", "f1", "--label", "kind"))
    assert graph_of(tables).class_names == ("1.1", "1.10", "2")
    shutil.rmtree(tables / "ring.store")
    run(*arguments(tables, "--features", "f1", "--label", "kind", "--numeric-label"))
    assert graph_of(tables).class_names == ("1.1", "2")


def test_one_column_for_both_ends(tables):
    with pytest.raises(InputError, match="`src` and `dst` are the same column 'a'"):
        run(*arguments(tables, "--features", "f1", "--dst", "a"))
