"""The journal of a study: one JSON line per cell, appended and synced; an incomplete last line loses that line only.

Every line carries its own checksum, so that a changed digit is not taken for a result (in older journals it does not).
Lines are of two types. ``plan`` lists the points of the grid, which cells they are, and with what
(command, versions); ``cell`` is the result of a cell, or the error that it ended with.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from imgcl._core.checksums import json_checksum
from imgcl._core.documents import json_bytes, parse_json, read_bytes
from imgcl._core.errors import RunError
from imgcl._core.files import open_unlinked
from imgcl._core.locks import locked

Line = dict[str, Any]
JOURNAL = "journal.jsonl"


class Journal:
    """An append-only file of JSON lines.

    Args:
        path: of the file; it need not exist yet.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     journal = Journal(f"{folder}/journal.jsonl")
        ...     journal.append({"type": "cell", "key": "a", "status": "done"})
        ...     len(journal.lines())
        1
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)

    def append(self, line: Line) -> None:
        """Add a line and wait until it is on the disk."""
        plain = json.loads(json.dumps(line, allow_nan=False))
        whole = {**plain, "checksum": json_checksum(plain)}
        text = json.dumps(whole, separators=(",", ":"), ensure_ascii=False) + "\n"
        self.path.parent.mkdir(parents=True, exist_ok=True)
        lock = self.path.with_name(f".{self.path.name}.lock")
        with locked(lock), open(self.path, "ab+", opener=open_unlinked) as file:
            _cut_torn_line(file)
            file.write(text.encode())
            file.flush()
            os.fsync(file.fileno())

    def lines(self) -> list[Line]:
        """All complete lines."""
        return list(self._read())

    def _read(self) -> Iterator[Line]:
        try:
            content = read_bytes(self.path, json_bytes())
        except FileNotFoundError:
            return
        except ValueError as error:
            raise RunError(f"{self.path} is too large ({error}): start the study in another directory") from None
        whole, _, _torn = content.rpartition(b"\n")
        for number, raw in enumerate(whole.splitlines(), start=1):
            try:
                line = parse_json(raw)
                claimed = line.pop("checksum", None)
                if claimed is not None and claimed != json_checksum(line):
                    raise ValueError("its checksum does not fit")
            except (ValueError, AttributeError, TypeError) as error:
                raise RunError(f"{self.path}: line {number} is damaged ({error}); remove that line to go on") from None
            yield line


def _cut_torn_line(file: Any) -> None:
    """Remove what a crash left of a line that was being written."""
    end = file.seek(0, os.SEEK_END)
    position = end
    while position > 0:
        start = max(0, position - 65536)
        file.seek(start)
        newline = file.read(position - start).rfind(b"\n")
        if newline >= 0:
            position = start + newline + 1
            break
        position = start
    if position != end:
        file.truncate(position)
    file.seek(0, os.SEEK_END)
