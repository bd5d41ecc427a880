"""Messages that the documentation quotes are produced here, or by the commands of their page (``test_code_blocks``).

A quotation is a block of the language ``text``. ``<!-- said -->`` before it: the page's commands print it.
``<!-- said: NAME -->``: the function NAME below does.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from imgcl.cli import app
from imgcl.cli.flags import in_flags
from quoted import check_said

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md", *sorted((ROOT / "docs").glob("*.md"))]
QUOTED = re.compile(r"^<!-- said: ([\w-]+) -->\n```text\n(.*?)^```$", flags=re.MULTILINE | re.DOTALL)
DIAGRAMS = {"architecture.md"}


def command(*words: str) -> str:
    """What a command that fails says."""
    done = CliRunner().invoke(app, words)
    assert done.exit_code != 0
    return f"{done.output}{in_flags(str(done.exception))}"


def extra(folder: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setitem(sys.modules, "umap", None)
    return command("report", "no-run", "--map", "umap")


def unknown_column(folder: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (folder / "edges.csv").write_text("from,to\na,b\n", encoding="utf-8")
    return command("import", "--edges", "edges.csv", "--out", "graph.store")


def thousands(folder: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (folder / "edges.csv").write_text("src,dst\na,b\nb,c\n", encoding="utf-8")
    (folder / "nodes.csv").write_text('id,price\na,"1,200"\nb,"3,400"\nc,"7,100"\n', encoding="utf-8")
    return command("import", "--edges", "edges.csv", "--nodes", "nodes.csv", "--features", "price", "--out", "g.store")


def decided_class(folder: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    from imgcl import Graph, ImGCL

    ring = [[0, 1, 2, 3, 4, 5], [1, 2, 3, 4, 5, 0]]
    graph = Graph.from_edges(ring, [[1.0, 0]] * 3 + [[0.0, 1]] * 3, [0, 0, 0, 1, 1, 1])
    ImGCL(epochs=2, balance=None, settings={"dim": 4}).fit(graph).save(folder / "run")
    return command("predict", "run", "--decide", "min-precision:fraud=0.8", "--out", "x.csv")


def misspelt(folder: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    return command("pretrain", "digits", "--method", "grase", "--out", "run")


def further(folder: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    run = ("pretrain", "digits", "--set", "dim=4", "--no-own-features", "--out", "run")
    done = [CliRunner().invoke(app, [*run, *more]) for more in (("--epochs", "10"), ("--epochs", "12", "--resume"))]
    assert [each.exit_code for each in done] == [0, 0]
    return " ".join(each.output for each in done)


SAYS: dict[str, Callable[[Path, pytest.MonkeyPatch], str]] = {
    "extra": extra,
    "unknown-column": unknown_column,
    "thousands": thousands,
    "decided-class": decided_class,
    "misspelt": misspelt,
    "further": further,
}


def quotations() -> list[tuple[str, str, str]]:
    """Page, name and text of every quotation with a name."""
    return [
        (page.name, name, text) for page in PAGES for name, text in QUOTED.findall(page.read_text(encoding="utf-8"))
    ]


@pytest.mark.parametrize(("page", "name", "text"), quotations())
def test_a_quoted_message_is_said(page: str, name: str, text: str, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    check_said(text, SAYS[name](tmp_path, monkeypatch))


def test_every_quotation_is_checked_and_every_producer_quoted() -> None:
    assert {name for _, name, _ in quotations()} == set(SAYS)
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        openings = re.findall(r"^(.*)\n```text$", text, flags=re.MULTILINE)
        unmarked = [line for line in openings if not line.startswith("<!-- said")]
        assert page.name in DIAGRAMS or not unmarked, f"{page.name}: {unmarked}"


def test_a_wrong_quotation_is_found() -> None:
    check_said("a … c\nd", "a b\n  c d")
    with pytest.raises(AssertionError, match="quoted, but not printed: a d"):
        check_said("a d", "a b c d")


@pytest.mark.slow
def test_the_refusals_of_degenerate_graphs_are_said() -> None:
    from harden.degenerate import BALANCES, BEGIN, END, PAGE, REFUSES, attempt, read_table

    text = PAGE.read_text(encoding="utf-8").split(BEGIN)[1].split(END)[0]
    quoted = set(re.findall(r"^\d+\. `` (.+) ``$", text, flags=re.MULTILINE))
    refused = [(graph, cells) for graph, cells in read_table().items() if REFUSES in cells.values()]
    tries = [(graph, balance) for graph, cells in refused for balance in BALANCES if cells[balance] == REFUSES]
    tries += [(graph, "plain") for graph, cells in refused if cells["evaluation"] == REFUSES]
    said = {message for graph, balance in tries for message in attempt(graph, "gbt", balance).refusals}
    assert len(quoted) == 8
    assert said == quoted
