"""The public names are those of the last release, or the change is announced in CHANGELOG.md.

``public_names.txt`` is written at a release (``scripts/public_names.py --write``). A name that came or went since
then must stand, in backticks, in the unreleased part of the changelog.
"""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NOW = runpy.run_path(str(ROOT / "scripts" / "public_names.py"))["names"]()
RELEASED = (ROOT / "tests" / "api" / "public_names.txt").read_text(encoding="utf-8").splitlines()


def unreleased(changelog: str) -> str:
    """The part of the changelog about what is not released yet."""
    return re.split(r"^## \[", changelog, flags=re.MULTILINE)[1]


def unannounced(released: list[str], now: list[str], changelog: str) -> list[str]:
    """Changes that the changelog does not mention."""
    quoted = " ".join(re.findall(r"`([^`]+)`", unreleased(changelog)))
    changes = [f"new: {name}" for name in now if name not in released]
    changes += [f"gone: {name}" for name in released if name not in now]
    return [change for change in changes if not mentioned(change, quoted)]


def mentioned(change: str, quoted: str) -> bool:
    """Whether the last word of the name (a function, a parameter, an option) stands in what is quoted."""
    word = re.split(r"[ .(]", change.rstrip("=)"))[-1]
    return re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", quoted) is not None


def test_a_change_of_the_public_names_is_in_the_changelog():
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert unannounced(RELEASED, NOW, changelog) == [], "say it in CHANGELOG.md, under [Unreleased], in `backticks`"


@pytest.mark.parametrize(
    ("now", "said", "left"),
    [
        (["imgcl.fit"], "", []),
        (["imgcl.fit", "imgcl.data.new"], "", ["new: imgcl.data.new"]),
        (["imgcl.fit", "imgcl.data.new"], "new graphs", ["new: imgcl.data.new"]),
        (["imgcl.fit", "imgcl.data.new"], "`new` graphs", []),
        (["imgcl.fit", "imgcl.fit(tau=)"], "`fit` takes `tau`", []),
        (["imgcl.fit", "imgcl run --out"], "`imgcl run` writes `--outer`", ["new: imgcl run --out"]),
        (["imgcl.fit", "imgcl run --out"], "`imgcl run --out`", []),
        ([], "`refit`", ["gone: imgcl.fit"]),
        ([], "`imgcl.fit` is gone", []),
    ],
)
def test_what_counts_as_announced(now, said, left):
    changelog = f"# Changelog\n\n## [Unreleased]\n- {said}\n\n## [0.1.0]\n- `new`, `fit`, `--out`, `tau`\n"
    assert unannounced(["imgcl.fit"], now, changelog) == left


def test_the_list_is_not_empty():
    assert {"imgcl.ImGCL", "imgcl.ImGCL(method=)", "imgcl.evaluate(Z=)", "imgcl pretrain --resume"} <= set(NOW)
