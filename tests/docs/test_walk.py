"""The walk of docs/architecture.md, from ``imgcl pretrain`` to a finished run, names code that exists."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
WALK = re.search(r"^```text\n(.*?)^```", PAGE, flags=re.MULTILINE | re.DOTALL)
STEP = re.compile(r"^ (\S*) +[|^] +(\d+) +(?:([A-Za-z]\w*(?:\.\w+)*)(?=:))?", flags=re.MULTILINE)


def sources(place: str) -> list[Path]:
    """The files of a place such as ``training/run.py``, ``data/`` or ``methods/NAME.py``."""
    found = [*(ROOT / "src" / "imgcl").glob(place.replace("NAME", "*") + ("**/*.py" if place.endswith("/") else ""))]
    assert found, place
    return found


def test_the_walk_has_at_most_twenty_steps():
    assert WALK is not None
    numbers = [int(number) for _, number, _ in STEP.findall(WALK[1])]
    assert numbers == [*range(1, len(numbers) + 1)]
    assert len(numbers) <= 20


def test_every_place_exists_and_has_what_is_named():
    assert WALK is not None
    named = [(place, name.split(".")[-1]) for place, _, name in STEP.findall(WALK[1]) if place]
    assert len(named) > 10
    for place, name in named:
        text = "".join(path.read_text(encoding="utf-8") for path in sources(place))
        assert not name or re.search(rf"\b(def|class) {name}\b", text), (place, name)
