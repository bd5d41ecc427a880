"""What the command line makes of errors: one line and an exit code, whatever the error says."""

import errno
import os

import pytest

from imgcl import cli
from imgcl._core.errors import InputError


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (InputError("runs/[/bold] is no [red]file[/red]"), 2, "error: runs/[/bold] is no [red]file[/red]\n"),
        (
            OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "a[/x]"),
            1,
            "error: No space left on device: a[/x]: free some space and start again; nothing is lost\n",
        ),
        (KeyboardInterrupt(), 130, ""),
    ],
)
def test_an_error_is_one_line_and_an_exit_code(monkeypatch, capsys, error, code, said):
    def fail(prog_name):
        raise error

    monkeypatch.setattr(cli, "app", fail)
    with pytest.raises(SystemExit) as end:
        cli.main()
    assert end.value.code == code
    assert capsys.readouterr().err == said
