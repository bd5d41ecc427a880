"""The notebook runs from top to bottom and stays small."""

from __future__ import annotations

import resource
from pathlib import Path

import nbformat
import pytest

TOUR = Path(__file__).parents[2] / "examples" / "tour.ipynb"


def test_the_notebook_is_stored_without_outputs() -> None:
    notebook = nbformat.read(TOUR, as_version=4)
    assert all(not cell.outputs and cell.execution_count is None for cell in notebook.cells if cell.cell_type == "code")


# The kernel is another process, and the libraries that talk to it leave loops and sockets to the garbage collector.
@pytest.mark.filterwarnings("ignore")
@pytest.mark.slow
def test_the_notebook_runs() -> None:
    from nbclient import NotebookClient

    notebook = nbformat.read(TOUR, as_version=4)
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    NotebookClient(notebook, timeout=600, kernel_name="python3").execute()
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before < 120  # of computing, whoever else is at work
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    assert not [output for output in outputs if output.output_type == "error"]
    assert sum("image/png" in output.get("data", {}) for output in outputs) == 3
    text = "".join(output.get("text", "") for output in outputs)
    assert "pre-training" in text
    assert "tail" in text
