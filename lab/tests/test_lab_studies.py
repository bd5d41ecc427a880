"""The studies that the lab offers, and `imgcl study` with them."""

import tomllib
from pathlib import Path

import pytest
from typer.testing import CliRunner

from imgcl.cli import app
from imgcl.studies import STUDIES, GraphRef, Graphs, resolve_study

OFFERED = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))
NAMES = list(OFFERED["project"]["entry-points"]["imgcl.studies"])


def test_every_study_of_the_lab_is_found():
    papers = "main methods baselines imbalance ablation sensitivity per-class distribution tsne theory"
    assert [*papers.split(), "long-tail", "when", "forms", "starved", "rare", "labelling", "graphs", "peers"] == NAMES
    assert set(NAMES) <= set(STUDIES.names())


@pytest.mark.parametrize("name", NAMES)
def test_a_study_is_sound(name):
    spec = resolve_study(name).spec.checked()
    assert spec.name == name
    assert spec.datasets or name == "theory"


def test_the_figures_of_computers_start_from_cells_of_the_main_study():
    ref = GraphRef(source="amazon-computers", name="amazon-computers", fingerprint="c", n_classes=10)
    graphs = Graphs({ref.name: (ref, None)})
    studies = {name: resolve_study(name) for name in NAMES if name not in ("when", "forms")}
    points = {name: study.points(study.spec, graphs) for name, study in studies.items()}
    keys = {name: {p.cell.key for p in points[name]} for name in points}
    pretrained = {name: {p.cell.needs.key for p in points[name] if p.cell.needs} for name in points}
    assert keys["per-class"] == keys["distribution"] < keys["main"]
    assert keys["per-class"] == keys["ablation"] & keys["imbalance"] & keys["sensitivity"]
    assert pretrained["tsne"] < pretrained["main"]
    assert pretrained["imbalance"] == pretrained["per-class"]


def test_the_study_of_the_theory_prints_its_table_and_names_its_files(tmp_path):
    options = ["--root", tmp_path / "studies", "--out", tmp_path / "a[/b]", "--workers", "1"]
    done = CliRunner().invoke(app, ["study", "theory", *map(str, options)])
    assert done.exit_code == 0
    assert "0.6366" in done.stdout
    assert "0.3610" in done.stdout
    assert "a[/b]" in done.stderr
    assert (tmp_path / "a[/b]" / "theory.svg").exists()


def test_studies_are_listed():
    assert set(NAMES) <= set(CliRunner().invoke(app, ["study", "list"]).stdout.split())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("mian",), "did you mean 'main'"),
        (("theory", "--engine", "cloud"), "choose from local, ray"),
        (("main", "--only", "dataset=cora"), "this study has amazon-computers"),
        (("main", "extra"), "takes no 'extra'"),
    ],
)
def test_a_wrong_call_is_explained(arguments, message, tmp_path):
    done = CliRunner().invoke(app, ["study", *arguments, "--root", str(tmp_path)])
    assert message in str(done.exception)
