"""A misspelt word is answered with the one that was probably meant."""

import re

import pytest

HINTS = [
    (("pretrain", "amazon-foto", "--out", "r"), "unknown data set 'amazon-foto': did you mean 'amazon-photo'?"),
    (
        ("pretrain", "digits", "--method", "grase", "--out", "r"),
        "unknown method 'grase': did you mean 'grace'? (choose",
    ),
    (("pretrain", "digits", "--preset", "papper", "--out", "r"), "unknown preset 'papper': did you mean 'paper'?"),
    (("pretrain", "digits", "--engine", "rey", "--out", "r"), "--engine rey: did you mean 'ray'?"),
    (("pretrain", "digits", "--set", "schedule=cosin", "--out", "r"), "schedule = 'cosin': did you mean 'cosine'?"),
    (("pretrain", "digits", "--balance", "selection=poison", "--out", "r"), "='poison': did you mean 'poisson'?"),
    (("pretrain", "digits", "--balance", "centrality=pagerang", "--out", "r"), "did you mean 'pagerank'?"),
    (("pretrain", "digits", "--features", "structur", "--out", "r"), "did you mean 'structure'?"),
    (("baseline", "node3vec", "digits"), "unknown baseline 'node3vec': did you mean 'node2vec'?"),
    (("baseline", "features", "digits", "--classifier", "plane"), "did you mean 'plain'?"),
    (("baseline", "features", "digits", "--test", "naturel"), "test is 'naturel': did you mean 'natural'?"),
    (("presets", "gbt/amazon-photo/papper"), "did you mean 'gbt/amazon-photo/paper'?"),
    (("study", "statu"), "unknown study 'statu': did you mean 'status'?"),
]


@pytest.mark.parametrize(("arguments", "hint"), HINTS)
def test_names_and_values(called, arguments, hint):
    said = called(*arguments, code=2).stderr
    assert hint in said
    assert said.count("\n") == 1


@pytest.mark.parametrize(
    ("options", "hint"),
    [
        (("--id-column", "usr"), "no column 'usr' (--id-column): did you mean 'user'? (it has user, height, kind)"),
        (("--id-column", "user", "--label", "kinds"), "no column 'kinds' (--label): did you mean 'kind'?"),
        (("--id-column", "user", "--features", "hight"), "no column 'hight' (--features): did you mean 'height'?"),
        (("--id-column", "user", "--directed-as", "mutal"), "--directed-as is 'mutal': did you mean 'mutual'?"),
    ],
)
def test_columns_of_tables(called, tmp_path, options, hint):
    (tmp_path / "edges.csv").write_text("src,dst\n1,2\n")
    (tmp_path / "nodes.csv").write_text("user,height,kind\n1,2,a\n2,3,b\n")
    tables = ("--edges", tmp_path / "edges.csv", "--nodes", tmp_path / "nodes.csv", "--out", tmp_path / "g.store")
    assert hint in called("import", *tables, *options, code=2).stderr


def test_columns_and_classes_of_labels(called, finished_run, tmp_path):
    (tmp_path / "labels.csv").write_text("node,kind\n" + "\n".join(f"{i},{'ab'[i % 2]}" for i in range(20)))
    labels = ("predict", finished_run, "--labels", tmp_path / "labels.csv", "--out", tmp_path / "p.csv")
    said = called(*labels, "--label-column", "kinds", code=2).stderr
    assert "labels.csv has no column 'kinds' (--label-column): did you mean 'kind'?" in said
    decided = ("--classifier", "plain", "--label-column", "kind", "--decide")
    assert (
        "--decide is 'min-recal:0.9': did you mean 'min-recall'?"
        in called(*labels, *decided, "min-recal:0.9", code=2).stderr
    )


@pytest.mark.parametrize(
    ("arguments", "hint"), [(("pretrian",), "pretrain"), (("pretrain", "digits", "--epoch", "3"), "--epochs")]
)
def test_commands_and_options(called, arguments, hint):
    said = called(*arguments, code=2).stderr
    assert re.search(f"(Did you mean|Possible options).*{hint}", said)
