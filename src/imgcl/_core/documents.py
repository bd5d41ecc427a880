"""Reading TOML and JSON from any source: size and nesting are checked before anything is parsed.

The parser of TOML takes memory that grows with the square of a dotted key's length, and every parser recurses into
nested values. Both are bounded here; callers turn the ``ValueError`` into an error that names the file's purpose.
"""

from __future__ import annotations

import json
import re
import tomllib
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from imgcl._core.npy import memory_limit

if TYPE_CHECKING:
    from pydantic import ValidationError

TOML_BYTES = 1 << 18  # settings that users write
TOML_LINE = 1 << 14  # bytes
TOML_DEPTH = 8  # parts of a key, and brackets inside brackets
JSON_DEPTH = 64  # objects and lists inside each other
JSON_GROWTH = 8  # bytes in memory for a byte of JSON, about
# Strings and comments (a string that is not closed reaches to its end, so that the search is linear), parts of keys.
TOML_TOKEN = re.compile(
    r'(?P<text>"""(?:[^"\\]|\\.|"(?!""))*+"{0,5}|\'\'\'(?:[^\']|\'(?!\'\'))*+\'{0,5}|#[^\n]*+)'
    r'|(?P<part>[A-Za-z0-9_-]++|"(?:[^"\\\n]|\\[^\n])*+"?|\'[^\'\n]*+\'?)'
    r"|(?P<open>[\[{])|(?P<close>[\]}])|(?P<dot>\.)|(?P<space>[ \t]++)|(?P<other>.)",
    re.DOTALL,
)
NOT_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
SIGNS = np.zeros(256, dtype=np.int8)
SIGNS[list(b"[{")], SIGNS[list(b"]}")] = 1, -1


def read_toml(path: Path | Traversable) -> dict[str, Any]:
    """Read a TOML file.

    Args:
        path: of the file.

    Raises:
        ValueError: when the file is not TOML, not UTF-8, or exceeds a limit; the message says what and where.
        OSError: when the system refuses it.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = Path(folder, "a.toml")
        ...     _ = file.write_text("a.b = 1")
        ...     read_toml(file)
        {'a': {'b': 1}}
    """
    raw = read_bytes(path, TOML_BYTES)
    for number, line in enumerate(raw.split(b"\n"), start=1):
        if len(line) > TOML_LINE:
            raise ValueError(f"line {number} has {len(line):,} bytes, the most that is read is {TOML_LINE:,}")
    text = raw.decode("utf-8")
    _check_toml_depth(text)
    return tomllib.loads(text)


def read_json(path: Path, *, largest: int | None = None) -> Any:
    """Read a JSON file.

    Args:
        path: of the file.
        largest: bytes that it may have; by default what fits into the machine's memory when it is parsed.

    Raises:
        ValueError: when the file is not JSON, not UTF-8, or exceeds a limit.
        OSError: when the system refuses it.
    """
    return parse_json(read_bytes(path, json_bytes() if largest is None else largest))


def parse_json(text: bytes | str) -> Any:
    """The value of a JSON text, refused when it is nested too deeply.

    Raises:
        ValueError: when it is not JSON, not UTF-8, or nested too deeply.

    Example:
        >>> parse_json('{"a": [1]}')
        {'a': [1]}
    """
    raw = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    if _json_depth(raw) > JSON_DEPTH:
        raise ValueError(f"values are nested more than {JSON_DEPTH} deep")
    return json.loads(raw.decode("utf-8") if isinstance(text, bytes) else text)


def first_problem(error: ValidationError) -> str:
    """Where the first value is that is not what it must be, and why, in a few words."""
    first = error.errors()[0]
    return f"{'.'.join(str(part) for part in first['loc'])[:100]}: {first['msg']}"


def json_bytes() -> int:
    """Bytes that a JSON file may have so that what it holds fits into memory."""
    return memory_limit() // JSON_GROWTH


def read_bytes(path: Path | Traversable, largest: int) -> bytes:
    """The bytes of a file; one with more than ``largest`` is refused, and never read whole."""
    with path.open("rb") as handle:
        raw: bytes = handle.read(largest + 1)
    if len(raw) > largest:
        raise ValueError(f"it has more than {largest:,} bytes, the most that is read")
    return raw


def _check_toml_depth(text: str) -> None:
    """Refuse keys of many parts and brackets inside many brackets, in time linear in the text."""
    line, parts, brackets = 1, 0, 0
    for token in TOML_TOKEN.finditer(text):
        kind = token.lastgroup
        if kind == "part":
            parts += 1
        elif kind not in ("dot", "space"):
            parts = 0
        brackets = max(0, brackets + (kind == "open") - (kind == "close"))
        if parts > TOML_DEPTH or brackets > TOML_DEPTH:
            what = "a key of more than {} parts" if parts > TOML_DEPTH else "brackets nested more than {} deep"
            raise ValueError(f"line {line} has " + what.format(TOML_DEPTH))
        line += token[0].count("\n") if kind in ("text", "other") else 0


def _json_depth(raw: bytes) -> int:
    """How deep objects and lists of a JSON text lie in each other; no less than a parser would find."""
    if raw.count(b"[") + raw.count(b"{") <= JSON_DEPTH:
        return 0
    plain = re.sub(rb'"[^"]*+"?', b"", raw.replace(rb"\\", b"").replace(rb"\"", b""))
    signs = SIGNS[np.frombuffer(plain.translate(None, NOT_BRACKETS), dtype=np.uint8)]
    return int(np.cumsum(signs, dtype=np.int64).max(initial=0))
