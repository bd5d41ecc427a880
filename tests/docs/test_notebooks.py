"""The notebooks are stored without outputs, run from top to bottom, stay small, and say nothing of the machine."""

from __future__ import annotations

import resource
from pathlib import Path

import nbformat
import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
NOTEBOOKS = sorted(EXAMPLES.glob("*.ipynb"))
SAYS = {  # what the outputs of a notebook must have
    "tour": ("pre-training", "tail"),
    "rare_products": ("rarest third", "chosen"),
    "fraud_review": ("frauds found", "score for fraud"),
    "own_method": ("alignment and uniformity", "tail"),
}
IMAGES = {"tour": 3}
SECONDS = 120  # of computing, whoever else is at work


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_stored_without_outputs(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    assert all(not cell.outputs and cell.execution_count is None for cell in notebook.cells if cell.cell_type == "code")
    assert path.stat().st_size < 20_000


def test_every_notebook_is_known() -> None:
    assert {path.stem for path in NOTEBOOKS} == set(SAYS)


# The kernel is another process, and the libraries that talk to it leave loops and sockets to the garbage collector.
@pytest.mark.filterwarnings("ignore")
@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path: Path, tmp_path: Path) -> None:
    from nbclient import NotebookClient

    notebook = nbformat.read(path, as_version=4)
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    resources = {"metadata": {"path": str(tmp_path)}}
    NotebookClient(notebook, timeout=600, kernel_name="python3", resources=resources).execute()
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before < SECONDS
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    assert not [output for output in outputs if output.output_type == "error"]
    assert sum("image/png" in output.get("data", {}) for output in outputs) == IMAGES.get(path.stem, 0)
    text = "".join(output.get("text", "") + output.get("data", {}).get("text/plain", "") for output in outputs)
    for words in SAYS[path.stem]:
        assert words in text
    assert str(Path.home()) not in text
    assert "/tmp" not in text
