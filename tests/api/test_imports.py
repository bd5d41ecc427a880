"""What importing costs: heavy libraries are loaded by whoever uses them."""

from __future__ import annotations

import ast
import json
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest
import typer

import imgcl
from imgcl.cli import app

HEAVY = ("torch", "numba", "numpy", "scipy", "pandas", "sklearn", "duckdb", "torch_geometric", "plotly")
LOADED = f"import json, sys; print(json.dumps([name for name in {HEAVY} if name in sys.modules]))"
HELP = """
import sys
sys.argv = ["imgcl", *{arguments!r}]
from imgcl.cli import main
try:
    main()
except SystemExit as stop:
    assert not stop.code, stop.code
"""
COMMANDS = sorted(typer.main.get_command(app).commands)


def python(code: str, *options: str, **environment: str) -> str:
    """The last line that a fresh interpreter prints."""
    command = [sys.executable, *options, "-c", code]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=300, check=False, env={**os.environ, **environment}
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip().splitlines()[-1] if done.stdout.strip() else ""


def least_seconds(*command: str) -> float:
    """Processor time of the quickest of three: what a machine with nothing else to do would take."""
    times = []
    for _ in range(3):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, capture_output=True, timeout=300, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        times.append(after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)
    return min(times)


def test_import_loads_nothing_heavy_and_warns_of_nothing():
    assert json.loads(python(f"import imgcl; {LOADED}", "-W", "error")) == []


WITHOUT_PYG = """
import sys
sys.modules["torch_geometric"] = None
import tempfile, imgcl
graph = imgcl.load_graph("synthetic", class_sizes=[60, 20], seed=1)
model = imgcl.ImGCL(n_clusters=2, epochs=3, settings={"dim": 8}).fit(graph)
with tempfile.TemporaryDirectory() as folder:
    model.save(f"{folder}/mine")
    print(imgcl.ImGCL.load(f"{folder}/mine").transform(graph).shape)
"""


def executed_imports(node: ast.AST) -> set[str]:
    """Packages that a module imports, also late, without what only type checkers read."""
    found = set()
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ImportFrom):
            found.add(str(child.module).split(".")[0])
        elif isinstance(child, ast.Import):
            found |= {alias.name.split(".")[0] for alias in child.names}
        elif not (isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING"):
            found |= executed_imports(child)
    return found


def test_torch_geometric_is_imported_in_two_places_and_not_needed():
    source = Path(str(imgcl.__file__)).parent
    parsed = {path: ast.parse(path.read_text(encoding="utf-8")) for path in source.rglob("*.py")}
    found = [path for path, tree in parsed.items() if "torch_geometric" in executed_imports(tree)]
    assert sorted(found) == [source / "encoders" / "as_pyg.py", source / "graph" / "foreign.py"]
    assert python(WITHOUT_PYG) == "(80, 8)"


def test_every_public_name_loads_without_a_warning():
    assert python("import imgcl; print(len([getattr(imgcl, name) for name in imgcl.__all__]))", "-W", "error") == str(
        len(imgcl.__all__)
    )


def test_every_package_is_found_after_import_imgcl_alone():
    source = Path(str(imgcl.__file__)).parent
    packages = sorted(path.parent.name for path in source.glob("[a-z]*/__init__.py") if path.parent.name != "cli")
    code = f"import imgcl; print([name for name in {packages} if not hasattr(imgcl, name)])"
    assert python(code) == "[]"
    assert sorted(imgcl._PACKAGES) == packages


def test_import_is_quick():
    assert least_seconds(sys.executable, "-c", "import imgcl") < 1.5


def test_help_is_quick():
    assert least_seconds(sys.executable, "-m", "imgcl", "--help") < 0.4


@pytest.mark.parametrize(
    "arguments", [["--help"], ["--version"], *([name, "--help"] for name in COMMANDS)], ids=" ".join
)
def test_help_loads_nothing_heavy(arguments):
    assert json.loads(python(HELP.format(arguments=arguments) + LOADED)) == []


def test_importing_the_library_changes_no_environment_variable():
    assert python("import os; before = dict(os.environ); import imgcl; print(dict(os.environ) == before)") == "True"


def test_on_the_command_line_idle_threads_spin_briefly_unless_the_user_says_otherwise():
    names = "OMP_WAIT_POLICY", "GOMP_SPINCOUNT"
    forget = f"import os; [os.environ.pop(name, None) for name in {names}]; "
    show = (
        "from imgcl.cli import let_idle_threads_sleep as f; f(); "
        + f"print([os.environ.get(name) for name in {names}])"
    )
    assert python(forget + show) == "['PASSIVE', '3000']"
    assert python(f"{forget}os.environ['OMP_WAIT_POLICY'] = 'ACTIVE'; {show}") == "['ACTIVE', None]"
    assert python(f"{forget}os.environ['GOMP_SPINCOUNT'] = '7'; {show}") == "['PASSIVE', '7']"


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        imgcl.nothing  # noqa: B018


def test_type_checkers_see_the_names_that_are_loaded_late():
    tree = ast.parse(Path(str(imgcl.__file__)).read_text(encoding="utf-8"))
    conditions = [node for node in tree.body if isinstance(node, ast.If)]
    guarded = next(node for node in conditions if ast.unparse(node.test) == "TYPE_CHECKING")
    seen = {name.name: node.module for node in guarded.body if isinstance(node, ast.ImportFrom) for name in node.names}
    assert seen == imgcl._HOMES
    assert set(imgcl.__all__) == {*imgcl._HOMES, "__version__"}
    assert dir(imgcl) == sorted(imgcl.__all__)
