"""The command line in this process: seconds faster than one of its own, for tests of what it says."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import NamedTuple

import pytest

from imgcl import cli


class Done(NamedTuple):
    """What a command left."""

    stdout: str
    stderr: str


@pytest.fixture
def called(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Done]:
    """``called("evaluate", run, "--json")`` runs ``imgcl`` with these arguments; ``code`` is the exit code expected."""
    monkeypatch.setattr(cli, "let_idle_threads_sleep", lambda: None)  # for a process of its own
    monkeypatch.setattr(cli, "print_everything", lambda: None)

    def call(*arguments: object, code: int = 0) -> Done:
        monkeypatch.setattr(sys, "argv", ["imgcl", *map(str, arguments)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as end:
            cli.main()
        done = Done(*capsys.readouterr())
        assert (end.value.code or 0) == code, done.stderr
        return done

    return call


@pytest.fixture(scope="session")
def finished_run(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The directory of a short run on the embedded graph."""
    import imgcl

    path = tmp_path_factory.mktemp("cli") / "run"
    imgcl.ImGCL(balance="imgcl", epochs=20, settings={"dim": 16}).fit("digits").save(path)
    return str(path)
