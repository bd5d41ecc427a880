"""Changes to JSON documents and files of JSON lines."""

from __future__ import annotations

import json
from random import Random
from typing import Any

from harden.fuzzing.mutate.plain import NUMBERS, mutate_bytes

TEXTS = ("", "a", "0", "none", "nan", "../../other", "/etc/hostname", "C:\\a", "a\0b", "\ud800", "é" * 40, "x" * 5000)
DEEP, LONG = "@deep@", "@long@"  # replaced after writing: the json module can write neither
ODD: tuple[Any, ...] = (
    *NUMBERS,
    *TEXTS,
    *(None, True, False, 0.5, 1e308, float("nan"), float("inf"), -float("inf"), DEEP, LONG),
    *([], {}, [[]], [None], {"": None}, [1, "a"], {"a": {"b": []}}),
)


def mutate_json(data: bytes, random: Random) -> bytes:
    """Replace, swap, delete or add values anywhere in the document."""
    try:
        document = {"": json.loads(data)}
    except (ValueError, RecursionError):
        return mutate_bytes(data, random)
    for _ in range(random.choice((1, 1, 1, 3))):
        places = _places(document)
        if places:
            _change(*random.choice(places), places, random)
    text = json.dumps(document.get(""), ensure_ascii=random.random() < 0.9)
    text = text.replace(f'"{DEEP}"', "[" * 5000 + "]" * 5000).replace(f'"{LONG}"', "7" * 5000)
    return text.encode("utf-8", errors="surrogatepass")


def _places(value: Any) -> list[tuple[Any, Any]]:
    """Every container of a document with each of its keys."""
    keys = list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    found = [(value, key) for key in keys]
    for key in keys:
        found += _places(value[key])
    return found


def _change(container: Any, key: Any, places: list[tuple[Any, Any]], random: Random) -> None:
    other, other_key = random.choice(places)
    match random.randrange(6):
        case 0 if len(places) > 1:
            del container[key]
        case 1:
            container[key] = json.loads(json.dumps(other[other_key]))
        case 2 if isinstance(container[key], int | float):
            container[key] = container[key] * random.choice((-1, 2, 1000)) + random.choice((-1, 0, 1))
        case 3 if isinstance(container[key], list):
            container[key] = container[key][: random.randrange(3)] * random.choice((0, 1, 2, 100))
        case 4 if isinstance(container, dict) and key:
            container[random.choice(TEXTS)] = container.pop(key)
        case _:
            container[key] = random.choice(ODD)


def mutate_json_lines(data: bytes, random: Random) -> bytes:
    """One line changed, or lines moved."""
    lines = data.split(b"\n")
    at = random.randrange(len(lines))
    match random.randrange(8):
        case 0:
            random.shuffle(lines)
        case 1:
            del lines[at]
        case 2:
            lines.insert(at, random.choice(lines))
        case _:
            lines[at] = mutate_json(lines[at], random)
    return b"\n".join(lines)
