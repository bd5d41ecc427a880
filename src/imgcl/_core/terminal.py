"""Text for terminals that cannot show every symbol: ``±`` becomes ``+/-`` where the encoding has none."""

from __future__ import annotations

import codecs
import sys

IN_ASCII = {"±": "+/-", "…": "...", "\u00d7": "x", "→": "->", "·": "-", "\u2013": "-", "—": "-", "π": "pi"}
IN_ASCII |= {"━": "-", "†": "+"}
HANDLER = "imgcl.in_ascii"


def _in_ascii(error: UnicodeError) -> tuple[str, int]:
    """What to write in place of characters that the encoding lacks: a stand-in, or their number in hexadecimal."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    lacking = error.object[error.start : error.end]
    found = (IN_ASCII.get(each) or each.encode("ascii", "backslashreplace").decode("ascii") for each in lacking)
    return "".join(found), error.end


codecs.register_error(HANDLER, _in_ascii)


def printable(text: str) -> str:
    """The text as standard output can show it.

    Example:
        >>> printable("70.1 ± 2.3") in ("70.1 ± 2.3", "70.1 +/- 2.3")
        True
    """
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    return text.encode(encoding, HANDLER).decode(encoding)


def print_everything() -> None:
    """From now on standard output and error write a stand-in for what their encoding lacks, in place of an error."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors=HANDLER)
