"""A missing optional package is one line that says what to install, before any work."""

from __future__ import annotations

import re
import sys
import tomllib
from doctest import DocTestParser
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from typer.testing import CliRunner

from imgcl import plots
from imgcl._core.errors import InputError
from imgcl._core.extras import EXTRAS, missing, need
from imgcl.balance import BalancedSelector
from imgcl.balance.trace import trace_figure
from imgcl.cli import app
from imgcl.data import synthetic_graph
from imgcl.report.projection import project
from imgcl.studies import STUDIES
from imgcl.training.tracking import resolve_tracker
from imgcl.training.tuning import tune

PROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
DECLARED = PROJECT["optional-dependencies"]
COMMANDS = {  # none of the files exist: the extra is asked about before they are
    "umap": ["report", "no-run", "--map", "umap"],
    "tune": ["tune", "no-graph"],
    "ray": ["pretrain", "no-graph", "--engine", "ray", "--out", "run"],
    "ray, study": ["study", "main", "--engine", "ray"],
    "tensorboard": ["pretrain", "no-graph", "--track", "tensorboard", "--out", "run"],
    "mlflow": ["pretrain", "no-graph", "--track", "mlflow", "--out", "run"],
    "plots, trace": ["trace", "no-run", "--plot", "trace.svg"],
    "plots, study": ["study", "main", "--out", "results", "--dataset", "no-graph"],
}
CALLS: dict[str, Any] = {
    "umap": lambda: project([np.eye(5)], "umap"),
    "tune": lambda: tune(synthetic_graph(class_sizes=[20, 20], seed=0)),
    "tensorboard": lambda: resolve_tracker("tensorboard"),
    "mlflow": lambda: resolve_tracker("mlflow"),
    "communities": lambda: BalancedSelector(
        synthetic_graph(class_sizes=[20, 20], seed=0), 2, epochs=4, clusters="communities"
    ),
    "pyg": lambda: synthetic_graph(class_sizes=[20, 20], seed=0).to_pyg(),
    "plots, class_distribution": lambda: plots.class_distribution([3, 2, 1]),
    "plots, save": lambda: plots.save(None, "x.svg"),
    "plots, trace": lambda: trace_figure([]),
}


def without(extra: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """The message to expect once the package of an extra is gone."""
    name = extra.split(",")[0]
    monkeypatch.setitem(sys.modules, EXTRAS[name][0], None)
    return f"needs {EXTRAS[name][1]}, which is not installed: pip install 'imgcl[{name}]'"


@pytest.mark.parametrize("extra", COMMANDS)
def test_a_command_asks_first(extra: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    expected = without(extra, monkeypatch)
    done = CliRunner().invoke(app, COMMANDS[extra])
    assert isinstance(done.exception, InputError)
    assert expected in str(done.exception)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("extra", CALLS)
def test_a_call_asks_first(extra: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    expected = without(extra, monkeypatch)
    with pytest.raises(InputError) as error:
        CALLS[extra]()
    assert expected in str(error.value)


@pytest.mark.parametrize("name", plots.__all__)
def test_every_figure_names_the_extra(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = without("plots", monkeypatch)
    function = getattr(plots, name)
    examples = "".join(example.source for example in DocTestParser().get_examples(function.__doc__))
    with pytest.raises(InputError) as error:
        exec(examples, vars(sys.modules[function.__module__]).copy())
    assert expected in str(error.value)


def test_extras_are_those_of_the_package() -> None:
    groups = {"report", "all", "dev"}  # several extras under one name
    assert set(EXTRAS) == set(DECLARED) - groups - {"networkx", "fuzz", "docs"}  # networkx graphs bring networkx along
    for name in EXTRAS:
        need(name, "this test")


@pytest.mark.parametrize("name", EXTRAS)
def test_the_extra_of_a_hint_installs_the_package_that_is_missing(name: str) -> None:
    hint = re.search(r"pip install 'imgcl\[(\w+)\]'$", str(missing(name, "this test")))
    assert hint is not None
    brought = packages_distributions()[EXTRAS[name][0]]
    declared = {canonicalize_name(Requirement(each).name) for each in DECLARED[hint[1]]}
    assert declared & {*map(canonicalize_name, brought)}


def test_all_has_every_extra_of_a_user() -> None:
    (group,) = map(Requirement, DECLARED["all"])
    assert group.extras == set(EXTRAS) | {"networkx"}
    (report,) = map(Requirement, DECLARED["report"])
    assert report.extras <= group.extras


@pytest.mark.slow
def test_studies_that_draw_say_so() -> None:
    from imgcl.studies import Results, Store, make_report

    store = Store(Path(__file__).parents[2] / "docs" / "results" / "studies")
    for name in sorted({*store.studies()} & {*STUDIES.names()} - {"when"}):  # whose report takes seconds
        drawn = make_report(Results(name, store.journal(name))).figures  # none where a study has only begun
        assert not drawn or STUDIES.resolve(name).figures, name
    assert STUDIES.resolve("when").figures
