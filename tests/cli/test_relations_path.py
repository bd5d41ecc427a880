"""A table with relations, from the import to the scores of new tables, through the real commands."""

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from imgcl.cli import app
from imgcl.training.run import Run


def run(*arguments):
    done = CliRunner().invoke(app, [str(each) for each in arguments], catch_exceptions=False)
    assert done.exit_code == 0, done.stderr
    return done


@pytest.fixture
def tables(tmp_path):
    rng, n = np.random.default_rng(0), 160
    y = np.repeat([0, 1], [130, 30])
    nodes = pd.DataFrame(rng.normal(size=(n, 3)), columns=["f0", "f1", "f2"])
    nodes["f0"] += y
    nodes.assign(id=[f"u{i}" for i in range(n)], kind=np.where(y == 1, "fraud", "fine")).to_csv(
        tmp_path / "nodes.csv", index=False
    )
    parts = []
    for name in ("by product", "by/star"):
        source = rng.integers(0, n, size=300)
        same = np.array([rng.choice(np.flatnonzero(y == y[i])) for i in source])
        parts.append(pd.DataFrame({"src": source, "dst": same, "what": name}))
    edges = pd.concat(parts)
    edges = edges.assign(
        src="u" + edges["src"].astype(str), dst="u" + edges["dst"].astype(str), w=rng.uniform(1, 2, 600)
    )
    edges.to_csv(tmp_path / "edges.csv", index=False)
    return tmp_path


@pytest.mark.slow
def test_import_pretrain_evaluate_predict_score(tables):
    where = ("--edges", tables / "edges.csv", "--nodes", tables / "nodes.csv")
    how = ("--features", "f*", "--label", "kind", "--weight", "w", "--relation", "what", "--relations", "side-by-side")
    store, out = tables / "users.store", tables / "run"
    said = run("import", *where, *how, "--out", store).stderr
    assert "by product, by/star" in said
    info = run("info", store).stdout
    assert "side by side: by product" in info
    run("pretrain", store, "--epochs", "3", "--out", out, "--quiet")
    blocks = Run(out).blocks
    assert list(blocks) == ["learned", "own", "neighbours", "neighbours:by product", "neighbours:by/star"]
    run("evaluate", out, "--splits", "2", "--classifier", "plain")
    run("predict", out, "--out", tables / "p.csv", "--classifier", "plain", "--save", tables / "scorer")
    run("import", *where, "--like", store, "--out", tables / "new.store")
    run("score", tables / "scorer", tables / "new.store", "--out", tables / "s.csv")
    first, again = (pd.read_csv(tables / name).set_index("node") for name in ("p.csv", "s.csv"))
    column = next(name for name in again if name.startswith("p_"))
    assert len(again) == 160
    assert again[column].to_numpy() == pytest.approx(first.loc[again.index, column].to_numpy(), abs=0.2)


def test_a_graph_without_the_relation_is_refused(tables):
    where = ("--edges", tables / "edges.csv", "--nodes", tables / "nodes.csv", "--features", "f*")
    run("import", *where, "--relation", "what", "--relations", "side-by-side", "--out", tables / "both.store")
    run("import", *where, "--out", tables / "plain.store")
    run("pretrain", tables / "both.store", "--epochs", "2", "--n-clusters", "2", "--out", tables / "run", "--quiet")
    with pytest.raises(
        Exception, match=r"has no relation 'by product' side by side: it has none; the embedding has a block"
    ):
        run("embed", tables / "run", "--graph", tables / "plain.store", "--out", tables / "z.npz")
