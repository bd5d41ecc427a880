"""Small parts of messages."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable

SHORT = 3  # letters below which a part of a word says nothing
MOST = 3
LISTED = 12  # choices that are listed beside the nearest one; more would bury it
ALL = 40  # choices that are listed where none is near


def did_you_mean(word: object, known: Iterable[object], otherwise: str = "", *, more: str = "") -> str:
    """The end of a message about an unknown word: the known ones it may stand for, and what there is.

    A long list is left out where a known word is near.

    Args:
        word: what was given.
        known: what it could be.
        otherwise: what to say of what there is; by default all of them.
        more: what else there is to choose, after all of them.

    Example:
        >>> did_you_mean("grase", ["gbt", "grace"])
        ": did you mean 'grace'? (choose from gbt, grace)"
        >>> did_you_mean("photo", ["amazon-photo", *(f"graph-{i}" for i in range(20))])
        ": did you mean 'amazon-photo'?"
        >>> did_you_mean("x", ["linear", "cosine"], more="or name:number")
        ': choose from linear, cosine, or name:number'
        >>> did_you_mean("x", [f"column-{i}" for i in range(2_000)])[-40:]
        'umn-37, column-38, column-39, 1,960 more'
    """
    names = [str(name) for name in known]
    near = nearest_names(str(word), names)
    beyond = [f"{len(names) - ALL:,} more"] if len(names) > ALL else []
    choices = otherwise or f"choose from {', '.join([*names[:ALL], *beyond, *([more] if more else [])])}"
    if not near:
        return f": {choices}"
    meant = f": did you mean {' or '.join(map(repr, near))}?"
    return f"{meant} ({choices})" if len(names) <= LISTED else meant


def nearest_names(word: str, names: Iterable[str]) -> list[str]:
    """Names that a word may stand for, the nearest first: spelt alike, or one within the other.

    Example:
        >>> nearest_names("Edge_Drop", ["edge-drop", "edge-add"]), nearest_names("amazon", ["amazon-photo", "amazon-x"])
        (['edge-drop'], ['amazon-photo', 'amazon-x'])
    """
    plain = {name: _plain(name) for name in names}
    given = _plain(word)
    same = [name for name, text in plain.items() if text == given]
    inside = [
        name for name, text in plain.items() if min(len(given), len(text)) >= SHORT and (given in text or text in given)
    ]
    alike = difflib.get_close_matches(given, plain.values(), n=1)
    near = [name for name, text in plain.items() if text in alike]
    close = [name for name in near if abs(len(plain[name]) - len(given)) <= 1]  # a slip, rather than a part
    return (same or close or inside or near)[:MOST] if given else []


def number_or_text(text: str) -> int | float | str:
    """The number that a text is, else the text.

    Example:
        >>> number_or_text("2"), number_or_text("0.5"), number_or_text("pagerank")
        (2, 0.5, 'pagerank')
    """
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def listed(text: str) -> list[str]:
    """The parts of a text with commas, without blanks around them; empty ones are left out.

    Example:
        >>> listed("plain, pbs,")
        ['plain', 'pbs']
    """
    return [part.strip() for part in text.split(",") if part.strip()]


def percent(share: float | None) -> str:
    """A share in percent.

    Example:
        >>> percent(0.125), percent(None)
        ('12.5 %', 'unknown')
    """
    return "unknown" if share is None else f"{100 * share:.1f} %"


def one_line(error: BaseException) -> str:
    r"""What an error says, as a part of another message.

    Example:
        >>> one_line(ValueError("two\n  lines")), one_line(EOFError())
        ('two lines', 'EOFError')
    """
    return " ".join(str(error).split())[:200] or type(error).__name__


def choices_in(expected: str) -> list[str]:
    """The values that pydantic names in its message about a literal.

    Example:
        >>> choices_in("'a', 'b' or 'c'")
        ['a', 'b', 'c']
    """
    return re.findall(r"'([^']*)'", expected)


def _plain(name: str) -> str:
    return re.sub(r"[\s_-]+", "-", name.strip().lower())
