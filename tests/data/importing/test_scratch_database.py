"""The import's database: its memory is bounded, and what does not fit goes to its folder."""

import duckdb
import pytest

from imgcl._core.errors import InputError
from imgcl.data.importing.database import SHARE, scalar, scratch_database


def test_the_limit_is_a_share_of_what_the_user_allows(tmp_path):
    with scratch_database(tmp_path, 10**9) as connection:
        shown = scalar(connection, "SELECT current_setting('memory_limit')")
    number, unit = shown.split()
    assert float(number) * {"MiB": 2**20, "GiB": 2**30}[unit] == pytest.approx(SHARE * 10**9, rel=0.01)


def test_what_does_not_fit_is_spilled(tmp_path):
    """64 MB of rows are sorted within 50 MB."""
    with scratch_database(tmp_path, round(50e6 / SHARE)) as connection:
        connection.execute("SET threads = 1")
        connection.execute("CREATE TABLE sorted AS SELECT hash(i) AS h, i FROM range(4000000) t(i) ORDER BY h")
        assert scalar(connection, "SELECT count(*) FROM sorted") == 4_000_000


def test_too_little_memory_is_said_in_one_line(tmp_path):
    with (
        pytest.raises(InputError, match=r"the import needs more memory .*: raise `memory_limit`"),
        scratch_database(tmp_path, round(5e6 / SHARE)) as connection,
    ):
        connection.execute("CREATE TABLE sorted AS SELECT hash(i) AS h, i FROM range(4000000) t(i) ORDER BY h")


def test_a_notebook_without_widgets_has_no_bar_to_switch_off(tmp_path, monkeypatch):
    class Connection:
        """One as in Jupyter, where DuckDB cannot draw its bar and refuses every word about it."""

        def __init__(self, path):
            self.real = connect(path)

        def execute(self, command):
            if "progress_bar" in command:
                raise duckdb.InvalidInputException("required package 'ipywidgets' is missing")
            return self.real.execute(command)

        def close(self):
            self.real.close()

    connect = duckdb.connect
    monkeypatch.setattr(duckdb, "connect", Connection)
    with scratch_database(tmp_path, 10**9) as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)
