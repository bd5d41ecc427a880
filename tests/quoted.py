"""Messages that the documentation quotes, compared with what was printed."""

from __future__ import annotations

import re


def check_said(quoted: str, printed: str) -> None:
    """Every line of a quotation must have been printed; ``…`` stands for anything short, line breaks do not count."""
    flat = " ".join(printed.split())
    for line in quoted.splitlines():
        pattern = re.escape(" ".join(line.split())).replace("…", ".{0,40}?")
        assert re.search(pattern, flat), f"quoted, but not printed: {line}\n{printed}"
