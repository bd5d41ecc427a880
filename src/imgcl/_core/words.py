"""Small parts of messages."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """The end of a message about an unknown word: the nearest known one, or all of them.

    Example:
        >>> did_you_mean("grase", ["gbt", "grace"])
        ": did you mean 'grace'?"
    """
    names = [str(name) for name in known]
    close = difflib.get_close_matches(word, names, n=1)
    return f": did you mean {close[0]!r}?" if close else f": choose one of {', '.join(names)}"
