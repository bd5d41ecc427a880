"""The study of forms cannot be run any more; its journal still tells its page."""

from pathlib import Path

import pytest

from imgcl import InputError
from imgcl.studies import Graphs, Results, Store
from imgcl_lab import forms
from imgcl_lab.when import answers

STUDIES = Path(__file__).parents[2] / "docs" / "results" / "studies"


def test_it_says_which_version_could_run_it() -> None:
    with pytest.raises(InputError, match=r"removed after imgcl 0\.1\.0.*commit 1b040af610"):
        forms.STUDY.points(forms.STUDY.spec, Graphs({}))


def test_the_journal_says_what_was_chosen_and_that_it_did_not_help() -> None:
    results = Results("forms", Store(STUDIES).journal("forms"))
    assert forms.choice(results) == ("gbt", "fresh draws")
    assert not any(map(forms.helps, forms.gains(results, forms.CONFIRM, "gbt", "fresh draws").values()))
    (tried,) = answers._tried(results)  # as the page of `when` quotes it
    assert "Of 11 other [forms](forms.md)" in tried
    assert "3 graphs that it was confirmed on" in tried
