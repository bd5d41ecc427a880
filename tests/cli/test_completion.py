"""Completion in bash, zsh and fish, as the shells ask for it; help at every level."""

import os
import subprocess
import sys

import pytest

from imgcl.cli.completion import classifiers, data_sets, methods

SCRIPTS = {
    "bash": "complete -o default -F _imgcl_completion imgcl",
    "zsh": "#compdef imgcl",
    "fish": "complete --command imgcl",
}


def asked(**environment):
    """What ``imgcl`` answers a shell that sets these variables."""
    done = subprocess.run(
        [sys.executable, "-m", "imgcl"],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert "Traceback" not in done.stderr
    return done.stdout


@pytest.mark.parametrize("shell", SCRIPTS)
def test_the_script_of_every_shell(shell):
    script = asked(_IMGCL_COMPLETE=f"source_{shell}")
    assert SCRIPTS[shell] in script
    assert f"_IMGCL_COMPLETE=complete_{shell}" in script


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("imgcl pre", {"presets", "pretrain", "predict"}),
        ("imgcl pretrain --ep", {"--epochs"}),
    ],
)
def test_words_are_completed(words, offered):
    answer = asked(_IMGCL_COMPLETE="complete_bash", COMP_WORDS=words, COMP_CWORD=str(words.count(" ")))
    assert set(answer.split()) == offered


def test_names_are_offered():
    assert data_sets("amazon-p") == ["amazon-photo"]
    assert methods("gr") == ["grace", "graphmae"]
    assert classifiers("plain,re") == ["plain,reweight"]


def test_help_has_a_short_form_everywhere(called):
    shown = called("-h").stdout
    assert shown == called("--help").stdout
    assert "--install-completion" in shown
    for command in ("pretrain", "info", "study"):
        assert called(command, "-h").stdout == called(command, "--help").stdout
