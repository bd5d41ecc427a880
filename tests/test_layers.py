"""The code keeps to the table of docs/architecture.md: who imports whom, lazy imports included."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = {"imgcl": ROOT / "src" / "imgcl", "imgcl_lab": ROOT / "lab" / "src" / "imgcl_lab"}
ROW = re.compile(r"^\| `(\w+)/` \|", re.MULTILINE)
LAYERS = ROW.findall((ROOT / "docs" / "architecture.md").read_text(encoding="utf-8"))
FRONT = "imgcl"  # __init__.py and __main__.py: names of the library, loaded when they are used


def statements(node: ast.AST, *, types: bool) -> Iterator[ast.AST]:
    """Everything in a syntax tree; what only type checkers read on request."""
    yield node
    for child in ast.iter_child_nodes(node):
        if types or not (isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING"):
            yield from statements(child, types=types)


def imports(*, types: bool = True) -> Iterator[tuple[Path, str, str]]:
    """Every import of our own modules: file, imported module, imported name (empty: the module itself)."""
    for source in PACKAGES.values():
        for path in source.rglob("*.py"):
            for node in statements(ast.parse(path.read_text(encoding="utf-8")), types=types):
                if isinstance(node, ast.Import):
                    yield from ((path, alias.name, "") for alias in node.names if alias.name.split(".")[0] in PACKAGES)
                elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in PACKAGES:
                    assert node.level == 0
                    yield from ((path, str(node.module), alias.name) for alias in node.names)


def layer(module: str) -> str:
    """The package of a module, as the table names it."""
    first, _, rest = module.partition(".")
    return first if first == "imgcl_lab" or not rest else rest.split(".")[0]


def module_of(path: Path) -> str:
    source = next(source for source in PACKAGES.values() if path.is_relative_to(source))
    return ".".join(path.relative_to(source.parent).with_suffix("").parts).removesuffix(".__init__")


def test_the_table_names_every_package_and_nothing_else():
    found = {path.name for path in PACKAGES["imgcl"].iterdir() if (path / "__init__.py").is_file()}
    assert found | {"imgcl_lab"} == set(LAYERS)
    assert len(LAYERS) == len(set(LAYERS))


def test_the_front_has_few_entries():
    entries = [path for path in PACKAGES["imgcl"].iterdir() if path.name != "__pycache__"]
    assert len(entries) <= 20, sorted(path.name for path in entries)


def test_a_package_imports_only_from_those_above_it_in_the_table():
    wrong = []
    for path, module, name in imports():
        here = layer(module_of(path))
        there = layer(f"{module}.{name}" if module == FRONT and name in LAYERS else module)
        if here in (FRONT, "__main__") or there == here:
            continue
        if there == FRONT or LAYERS.index(there) > LAYERS.index(here):
            wrong.append(f"{module_of(path)} imports {module} {name}")
    assert not wrong, "\n".join(wrong)


def test_no_private_name_crosses_packages():
    wrong = [
        f"{module_of(path)} imports {module}.{name}"
        for path, module, name in imports()
        if name.startswith("_") and not name.startswith("__") and layer(module_of(path)) != layer(module)
    ]
    assert not wrong, "\n".join(wrong)


def test_no_module_imports_itself_in_a_circle():
    known = {module_of(path) for source in PACKAGES.values() for path in source.rglob("*.py")}
    edges: dict[str, set[str]] = {}
    for path, module, name in imports(types=False):
        target = f"{module}.{name}" if f"{module}.{name}" in known else module
        edges.setdefault(module_of(path), set()).add(target)
    done: set[str] = set()

    def visit(module: str, trail: tuple[str, ...]) -> None:
        if module in trail:
            pytest.fail(" -> ".join([*trail[trail.index(module) :], module]))
        if module not in done:
            for target in edges.get(module, ()):
                visit(target, (*trail, module))
            done.add(module)

    for module in sorted(edges):
        visit(module, ())
