"""The page carries everything inside, asks for nothing, and names are never markup."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from imgcl._core.errors import InputError
from imgcl.report import render_page, write_report
from imgcl.report.encoding import script_json
from report_samples import HOSTILE, make_content, make_nodes


@pytest.fixture(scope="module")
def content() -> dict[str, Any]:
    return make_content()


class Elements(HTMLParser):
    """Start tags of a page, and the text of its scripts, as a browser would find them."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self.inside = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self.inside = tag == "script"
        if self.inside:
            self.scripts.append("")

    def handle_endtag(self, tag: str) -> None:
        self.inside = False

    def handle_data(self, data: str) -> None:
        if self.inside:
            self.scripts[-1] += data


def read(page: str) -> Elements:
    parser = Elements()
    parser.feed(page)
    return parser


@pytest.fixture(scope="module")
def page(content: dict[str, Any]) -> str:
    return render_page(content)


def test_nothing_is_loaded_from_anywhere(page: str) -> None:
    for tag, attributes in read(page).tags:
        for name in ("src", "href"):
            value = attributes.get(name)
            assert value is None or value.startswith(("#", "data:")), (tag, value)


def test_the_policy_allows_exactly_the_scripts_of_the_page(page: str) -> None:
    found = read(page)
    (policy,) = [a["content"] for tag, a in found.tags if a.get("http-equiv") == "Content-Security-Policy"]
    assert policy is not None
    assert "default-src 'none'" in policy
    assert "'unsafe-inline'" not in policy.split("style-src")[0]
    allowed = set(re.findall(r"'sha256-([^']+)'", policy))
    data, *scripts = found.scripts
    assert len(scripts) == 2
    assert allowed == {base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts}
    assert json.loads(data)["graph"]["name"] == "tiny"


def test_hostile_names_are_data_and_come_back_as_they_were() -> None:
    content = make_content(make_nodes(HOSTILE, [f"<b>{i}</b></script>" for i in range(110)]))
    content["graph"]["name"] = "<h1>graph</h1>"
    plain, hostile = read(render_page(make_content())), read(render_page(content))
    assert [tag for tag, _ in plain.tags] == [tag for tag, _ in hostile.tags]
    stored = json.loads(hostile.scripts[0])
    assert [c["name"] for c in stored["classes"]] == HOSTILE
    assert stored["nodes"]["name"][3] == "<b>3</b></script>"


def test_json_cannot_end_its_element() -> None:
    text = script_json({"x": "</script><!--\u2028&"})
    assert not set("<>&\u2028") & set(text)
    assert json.loads(text) == {"x": "</script><!--\u2028&"}


def test_writing(content: dict[str, Any], tmp_path: Path) -> None:
    written = write_report(content, tmp_path / "deep" / "report.html")
    assert written.read_text(encoding="utf-8") == render_page(content)
    with pytest.raises(InputError, match="must end in"):
        write_report(content, tmp_path / "report.pdf")
