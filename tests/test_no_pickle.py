"""Nothing in the repository unpickles or evaluates what a file says: every call that could is found in the source."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FOLDERS = ("src", "lab/src", "scripts", "examples")
MODULES = {"pickle", "_pickle", "cPickle", "dill", "cloudpickle", "joblib", "shelve", "marshal", "yaml"}
BUILT_IN = {"eval", "exec", "compile"}
METHODS = {"read_pickle", "to_pickle", "Unpickler", "unsafe_load"}
# Functions that take pickles unless told otherwise, by the modules they belong to, and what they must be told.
TOLD = {
    ("np", "numpy"): dict.fromkeys(("load", "save", "read_array", "write_array"), ("allow_pickle", False)),
    ("npy", "format"): dict.fromkeys(("read_array", "write_array"), ("allow_pickle", False)),
    ("torch",): {"load": ("weights_only", True), "save": ("weights_only", True)},
}


def problems(source: str) -> list[str]:
    """Line and reason of everything in a source file that could unpickle or evaluate."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names]
            found += [f"{node.lineno}: imports {name}" for name in names if name.split(".")[0] in MODULES]
        elif isinstance(node, ast.Call):
            reason = _called(node)
            if reason:
                found.append(f"{node.lineno}: {reason}")
    return found


def _called(call: ast.Call) -> str | None:
    function = call.func
    if isinstance(function, ast.Name):
        return f"calls {function.id}" if function.id in BUILT_IN | METHODS else None
    if not isinstance(function, ast.Attribute):
        return None
    if function.attr in METHODS:
        return f"calls {function.attr}"
    owner = function.value.id if isinstance(function.value, ast.Name) else getattr(function.value, "attr", "")
    for owners, functions in TOLD.items():
        if owner in owners and function.attr in functions:
            name, value = functions[function.attr]
            given = {word.arg: word.value for word in call.keywords}
            told = given.get(name)
            if not (isinstance(told, ast.Constant) and told.value is value):
                return f"calls {owner}.{function.attr} without {name}={value}"
    return None


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        ("import pickle", "imports pickle"),
        ("from joblib import load", "imports joblib"),
        ("np.load(path)", "without allow_pickle=False"),
        ("np.load(path, allow_pickle=True)", "without allow_pickle=False"),
        ("np.load(path, allow_pickle=flag)", "without allow_pickle=False"),
        ("np.lib.format.read_array(file)", "without allow_pickle=False"),
        ("torch.load(path)", "without weights_only=True"),
        ("torch.save(value, path)", "without weights_only=True"),
        ("pd.read_pickle(path)", "calls read_pickle"),
        ("eval(text)", "calls eval"),
    ],
)
def test_the_search_finds_what_it_looks_for(source: str, problem: str) -> None:
    assert problem in "".join(problems(source))


@pytest.mark.parametrize("source", ["np.load(path, allow_pickle=False)", "method.eval()", "json.load(file)"])
def test_the_search_leaves_the_rest_alone(source: str) -> None:
    assert not problems(source)


def test_nothing_unpickles() -> None:
    files = [file for folder in FOLDERS for file in sorted((ROOT / folder).rglob("*.py"))]
    assert len(files) > 200
    found = [
        f"{file.relative_to(ROOT)}:{line}" for file in files for line in problems(file.read_text(encoding="utf-8"))
    ]
    assert not found, "\n".join(found)
