"""The journal: appended lines are kept, an incomplete last line loses itself only."""

import json
import multiprocessing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from imgcl._core.errors import RunError
from imgcl.studies.journal import Journal


def test_lines_come_back_in_order(tmp_path):
    journal = Journal(tmp_path / "deep" / "journal.jsonl")
    assert journal.lines() == []
    for i in range(3):
        journal.append({"key": str(i), "text": "ä\nb"})
    assert [line["key"] for line in journal.lines()] == ["0", "1", "2"]
    assert len(journal.path.read_bytes().splitlines()) == 3


@given(cut=st.integers(min_value=1, max_value=200_000))
def test_wherever_the_last_line_is_torn_the_others_stay_and_the_next_is_whole(tmp_path_factory, cut):
    journal = Journal(tmp_path_factory.mktemp("journal") / "journal.jsonl")
    journal.append({"key": "first"})
    journal.append({"key": "torn", "filling": "x" * 150_000})
    content = journal.path.read_bytes()
    first = content.index(b"\n") + 1
    journal.path.write_bytes(content[: max(first, len(content) - cut)])
    assert [line["key"] for line in journal.lines()] == ["first"]
    journal.append({"key": "next"})
    assert [line["key"] for line in journal.lines()] == ["first", "next"]


def test_a_journal_that_is_one_torn_line_begins_anew(tmp_path):
    journal = Journal(tmp_path / "journal.jsonl")
    journal.path.write_text('{"key": "to')
    journal.append({"key": "a"})
    assert journal.lines() == [{"key": "a"}]


def test_damage_in_the_middle_is_said_with_its_line(tmp_path):
    journal = Journal(tmp_path / "journal.jsonl")
    journal.path.write_text('{"key": "a"}\nnonsense\n{"key": "b"}\n')
    with pytest.raises(RunError, match="line 2 is damaged"):
        journal.lines()


def test_a_changed_digit_is_found_and_its_line_named(tmp_path):
    journal = Journal(tmp_path / "journal.jsonl")
    for value in (0.25, 0.75):
        journal.append({"key": "a", "result": value})
    journal.path.write_text(journal.path.read_text().replace("0.75", "0.95"))
    with pytest.raises(RunError, match=r"line 2 is damaged \(its checksum does not fit"):
        journal.lines()


def test_lines_from_before_there_were_checksums_are_read(tmp_path):
    journal = Journal(tmp_path / "journal.jsonl")
    journal.path.write_text('{"key": "a"}\n')
    journal.append({"key": "b"})
    assert journal.lines() == [{"key": "a"}, {"key": "b"}]


def _append_many(path, name):
    journal = Journal(path)
    for i in range(50):
        journal.append({"writer": name, "number": i, "filling": "y" * 5000})


def test_two_writers_do_not_mix_their_lines(tmp_path):
    context = multiprocessing.get_context("spawn")
    path = tmp_path / "journal.jsonl"
    writers = [context.Process(target=_append_many, args=(path, name)) for name in "ab"]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    for name in "ab":
        assert [line["number"] for line in lines if line["writer"] == name] == list(range(50))


def test_a_journal_that_is_a_link_is_not_written(tmp_path):
    """What it points to would have lost its last line, as if a crash had torn it."""
    victim, journal = tmp_path / "victim", Journal(tmp_path / "journal.jsonl")
    victim.write_text("precious")
    journal.path.symlink_to(victim)
    with pytest.raises(OSError, match="symbolic link"):
        journal.append({"key": "a"})
    assert victim.read_text() == "precious"


def test_a_line_nested_too_deeply_and_a_journal_too_large_are_refused(tmp_path, monkeypatch):
    journal = Journal(tmp_path / "journal.jsonl")
    journal.path.write_text('{"key": "a"}\n' + "[" * 900 + "]" * 900 + "\n")
    with pytest.raises(RunError, match=r"line 2 is damaged \(values are nested more than 64 deep\)"):
        journal.lines()
    monkeypatch.setattr("imgcl.studies.journal.json_bytes", lambda: 100)
    with pytest.raises(RunError, match=r"is too large .*more than 100 bytes.*: start the study in another directory"):
        journal.lines()
