"""docs/api.md describes every public name of the library."""

import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
DESCRIBED = {match.rpartition(".")[2] for match in re.findall(r"^(?:::: |- `)([\w.]+)", PAGE, flags=re.MULTILINE)}


@pytest.fixture
def public(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.syspath_prepend(ROOT / "scripts")
    sys.modules.pop("public_names", None)
    from public_names import library

    return [name for name in library() if "(" not in name]


def test_every_public_name_is_described(public: list[str]) -> None:
    import imgcl._core.errors as errors

    assert "::: imgcl._core.errors" in PAGE
    known = DESCRIBED | set(vars(errors)) | {"__version__"}
    assert len(public) > 150
    assert [name for name in public if name.rpartition(".")[2] not in known] == []
