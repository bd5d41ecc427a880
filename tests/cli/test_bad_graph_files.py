"""Every way a graph file can be wrong, through the real command line: one line, exit code 2."""

import numpy as np
import pytest
import scipy.sparse as sp
from typer.testing import CliRunner

from imgcl._core.errors import GraphError
from imgcl.cli import app


def write(path, **changes):
    adjacency = sp.csr_array(np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]], dtype=np.float32))
    features = sp.csr_array(np.eye(3, dtype=np.float32))
    arrays = {
        "adj_data": adjacency.data,
        "adj_indices": adjacency.indices,
        "adj_indptr": adjacency.indptr,
        "adj_shape": np.array([3, 3]),
        "attr_data": features.data,
        "attr_indices": features.indices,
        "attr_indptr": features.indptr,
        "attr_shape": np.array([3, 3]),
        "labels": np.array([0, 1, 0]),
        **changes,
    }
    np.savez(path, **{key: value for key, value in arrays.items() if value is not None})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"adj_indices": np.array([1, 0, 9, 1])}, "adj_indices"),
        ({"adj_shape": np.array([3, 4])}, "square"),
        ({"attr_data": np.array([1, np.nan, 1], dtype=np.float32)}, "nan"),
        ({"attr_data": np.array([1, np.inf, 1], dtype=np.float32)}, "inf"),
        ({"labels": np.array([0, 1])}, "label"),
        ({"labels": np.array([0, -3, 1])}, "labels[1] is -3: labels must be integers 0..K-1, or -1 for unlabelled"),
        ({"adj_indptr": None}, "adj_indptr"),
    ],
)
def test_a_bad_file_is_named_with_what_is_wrong(tmp_path, changes, message):
    path = tmp_path / "g.npz"
    write(path, **changes)
    outcome = CliRunner().invoke(app, ["info", str(path)])
    assert isinstance(outcome.exception, GraphError)
    assert message in str(outcome.exception)
    assert outcome.exception.exit_code == 2


def test_a_good_file_is_shown(tmp_path):
    write(tmp_path / "g.npz")
    outcome = CliRunner().invoke(app, ["info", str(tmp_path / "g.npz"), "--json"])
    assert outcome.exit_code == 0
    assert '"nodes": 3' in outcome.stdout
