"""Studies of other packages are found by entry point, loaded when they are asked for, and named when broken."""

import subprocess
import sys
from importlib.metadata import EntryPoint
from types import SimpleNamespace

import pytest

from imgcl import InputError
from imgcl.studies import Report, Results, Store, Study, StudySpec, make_report, resolve_study, run_study

STUDY = Study(StudySpec(name="mine", datasets=("digits",)), lambda results: Report("My own page"))
OTHER_NAME = Study(StudySpec(name="yours", datasets=("digits",)), lambda results: Report(""))


@pytest.fixture
def offered(monkeypatch):
    """What packages offer, as ``name=module:object``."""

    def offer(*texts):
        parts = [text.partition("=") for text in texts]
        points = [EntryPoint(name, value, "imgcl.studies") for name, _, value in parts]
        monkeypatch.setattr("imgcl._core.references.metadata", SimpleNamespace(entry_points=lambda group: points))

    return offer


def test_a_study_of_a_package_is_found(offered):
    offered(f"mine={__name__}:STUDY")
    assert resolve_study("mine") is STUDY


@pytest.mark.parametrize(
    ("entry", "name", "message"),
    [
        (None, "main", r"unknown study 'main': .*pip install \./lab in a checkout of imgcl's repository$"),
        ("mine=x:y", "main", r"pip install \./lab"),
        ("main=x:y", "mian", r"unknown study 'mian': did you mean 'main'\? \(choose from .*\)$"),
        ("mine=no_such_package:STUDY", "mine", "study 'mine', which no_such_package:STUDY promises, cannot be loaded"),
        (f"mine={__name__}:NOTHING", "mine", "NOTHING promises, cannot be loaded"),
        ("mine=antigravity_of_studies:STUDY", "mine", r"cannot be loaded \(ZeroDivisionError: "),
        ("mine=sys:path", "mine", "expected an imgcl.studies.Study"),
        (f"mine={__name__}:OTHER_NAME", "mine", "study 'mine' calls itself 'yours'"),
        (None, "sys:path", "unknown study 'sys:path'"),
    ],
)
def test_what_is_missing_or_broken_is_said_in_one_line(offered, monkeypatch, tmp_path, entry, name, message):
    (tmp_path / "antigravity_of_studies.py").write_text("1 / 0")
    monkeypatch.syspath_prepend(tmp_path)
    offered(*filter(None, [entry]))
    with pytest.raises(InputError, match=message) as raised:
        resolve_study(name)
    assert "\n" not in str(raised.value)


def test_a_page_is_told_by_the_study_that_made_it(offered, tmp_path):
    offered(f"mine={__name__}:STUDY")

    def results(name, command):
        run_study(name, [], Store(tmp_path), command=command)
        return Results(name, Store(tmp_path).journal(name))

    assert make_report(results("mine", "imgcl study mine")).title == "My own page"
    assert make_report(results("file", "imgcl study run file.toml")).title == "Study file"
    with pytest.raises(InputError, match=r"unknown study 'main': .*pip install \./lab"):
        make_report(results("main", "imgcl study main --seeds 1"))


def test_the_help_loads_no_study():
    code = "import sys; from imgcl.cli import app; app(['study', '--help'], standalone_mode=False); "
    code += "print(sorted({'torch', 'numpy', 'imgcl.studies', 'imgcl_lab'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.rstrip().endswith("[]")
