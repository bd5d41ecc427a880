"""The page itself: one HTML file with its script, style and data inside, and nothing from the network."""

from __future__ import annotations

import base64
import hashlib
import html
from importlib import resources
from pathlib import Path
from typing import Any

from imgcl._core.errors import InputError
from imgcl._core.files import write_text
from imgcl._core.version import __version__
from imgcl.report.encoding import script_json

HEAD = "head.html"  # of every page
PAGES = {
    "runs": ("page.html", ("data.js", "page.js", "charts.js", "map.js", "tables.js", "ranking.js", "main.js")),
    "study": ("study.html", ("page.js", "study.js")),
    "labelling": ("labelling.html", ("page.js", "cards.js", "labelling.js")),
}
WITHOUT_PLOTLY = {"labelling"}
TITLES = {"labelling": "labelling"}
STYLES = {"labelling": ("style.css", "labelling.css")}


def write_report(content: dict[str, Any], path: str | Path) -> Path:
    """Write the page of a content, as ``build_content`` or ``study_content`` makes it, atomically."""
    target = Path(path)
    if target.suffix.lower() not in (".html", ".htm"):
        raise InputError(f"cannot write the report to {target}: the name must end in .html")
    write_text(target, render_page(content))
    return target


def render_page(content: dict[str, Any]) -> str:
    """The page as text.

    A content security policy forbids every request and every script but the two of this page, known by their hashes;
    all names come out of JSON and are set as text.
    """
    template, parts = PAGES[content["kind"]]
    own = "(() => {\n'use strict';\n" + "\n".join(_part(name) for name in parts) + "\n})();"
    plotly = "" if content["kind"] in WITHOUT_PLOTLY else _plotly()
    allowed = " ".join(f"'sha256-{_sha256(script)}'" for script in (plotly, own) if script)
    # plotly's WebGL points compile their shaders' callers with Function(), hence 'unsafe-eval'.
    allowed += " 'unsafe-eval'" if plotly else ""
    policy = (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data: blob:; "
        "base-uri 'none'; form-action 'none'"
    )
    values = {
        "policy": policy,
        "title": html.escape(f"{content['graph']['name']} · imgcl {TITLES.get(content['kind'], 'report')}"),
        "version": html.escape(__version__),
        "style": "".join(_part(name) for name in STYLES.get(content["kind"], ("style.css",))),
        "data": script_json(content),
        "plotly": plotly,
        "script": own,
    }
    # text, name, text, name, ..., text: a value is never searched for marks again
    pieces = f"{_part(HEAD)}{_part(template)}".split("@@")
    return "".join(values[piece] if i % 2 else piece for i, piece in enumerate(pieces))


def _part(name: str) -> str:
    return (resources.files("imgcl.report") / "page" / name).read_text(encoding="utf-8")


def _plotly() -> str:
    from plotly.offline import get_plotlyjs

    return str(get_plotlyjs())


def _sha256(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode("ascii")
