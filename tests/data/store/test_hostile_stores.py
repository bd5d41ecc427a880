"""Stores that somebody changed on purpose: checksums are right, and still nothing is believed that can be checked."""

from __future__ import annotations

import json
import shutil
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from imgcl._core.checksums import file_checksum, json_checksum
from imgcl._core.errors import GraphError
from imgcl.data.store import open_store, write_store
from imgcl.data.store import reader as store_reader
from imgcl.data.store.manifest import FILE, StoredArray
from imgcl.graph import Graph


@pytest.fixture(params=["dense", "sparse"])
def store(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    x = np.eye(3) if request.param == "dense" else sp.csr_array(np.eye(3))
    names = {"node_names": ["a", "zwölf", ""], "feature_names": ["f", "g", "h"], "class_names": ["x", "y"]}
    return write_store(Graph.from_edges([[0, 1, 1], [1, 2, 0]], x, [0, 1, -1], **names), tmp_path / "g.store")


def rewrite(store: Path, changes: dict[str, Any]) -> None:
    """Change the manifest and make its checksum right again."""
    content = json.loads((store / FILE).read_text()) | changes
    content.pop("checksum")
    (store / FILE).write_text(json.dumps({**content, "checksum": json_checksum(content)}))


def change(store: Path, **arrays: np.ndarray) -> None:
    """Put other arrays into the store and make the manifest right again."""
    entries = json.loads((store / FILE).read_text())["arrays"]
    for name, array in arrays.items():
        np.save(store / f"{name}.npy", array)
        entries[name] = asdict(StoredArray.describe(store / f"{name}.npy"))
    rewrite(store, {"arrays": entries})


BAD_ARRAYS: dict[str, tuple[dict[str, np.ndarray], str]] = {
    "a neighbour that does not exist": ({"indices": np.array([1, 0, 9, 1], np.int32)}, r"indices are not all 0\.\.2"),
    "a negative neighbour": ({"indices": np.array([1, 0, -1, 1], np.int32)}, r"indices are not all 0\.\.2"),
    "pointers that fall": ({"indptr": np.array([0, 3, 1, 4])}, "indptr falls"),
    "pointers that begin later": ({"indptr": np.array([1, 1, 3, 4])}, "indptr does not span indices"),
    "pointers that go beyond": ({"indptr": np.array([0, 1, 3, 2**40])}, "indptr does not span indices"),
    "no pointers": ({"indptr": np.array([0])}, "it has no nodes"),
    "pointers of another type": ({"indptr": np.array([0.0, 1, 3, 4])}, r"indptr has shape \(4,\) of <f8, expected"),
    "a matrix of neighbours": ({"indices": np.zeros((2, 2), np.int32)}, r"indices has shape \(2, 2\)"),
    "other bytes first": ({"y": np.array([0, 1, -1], ">i8")}, "y has shape .* of >i8"),
    "a label beyond all classes": ({"y": np.array([0, 2**60, -1])}, r"labels are not all -1\.\.1"),
    "labels of other nodes": ({"y": np.array([0, 1])}, "one label per node"),
    "names that end too early": ({"node_names_ends": np.array([1, 3, 5])}, "node_names_ends do not rise"),
    "names that run backwards": ({"node_names_ends": np.array([1, -3, 7])}, "node_names_ends do not rise"),
    "too few names": ({"node_names_ends": np.array([7])}, "node_names are not 3 names"),
}


@pytest.mark.parametrize(("arrays", "message"), BAD_ARRAYS.values(), ids=BAD_ARRAYS.keys())
def test_arrays_that_make_no_graph(store: Path, arrays: dict[str, np.ndarray], message: str) -> None:
    change(store, **arrays)
    with pytest.raises(GraphError, match=message) as caught:
        open_store(store)
    assert "import the graph again" in str(caught.value)


@pytest.mark.parametrize("store", ["sparse"], indirect=True)
@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"x_indices": np.array([0, 1, 7], np.int32)}, r"x_indices are not all 0\.\.2"),
        ({"x_indptr": np.array([0, 2, 1, 3])}, "x_indptr falls"),
        ({"x_indptr": np.array([0, 1, 2, 2**50])}, "x_indptr does not span"),
        ({"x_data": np.array([1, np.inf, 1], np.float32)}, "x_data is not finite"),
        ({"x_shape": np.array([3, 2**50])}, "feature_names are not 1,125,899,906,842,624 names"),
        ({"x_shape": np.array([-3, 3])}, "x_indptr does not span|one row per node"),
        ({"x_shape": np.array([3])}, "not rows and columns"),
    ],
)
def test_sparse_features_that_are_none(store: Path, arrays: dict[str, np.ndarray], message: str) -> None:
    change(store, **arrays)
    with pytest.raises(GraphError, match=message):
        open_store(store)


def test_a_large_hostile_store_is_found_out_by_verify(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_reader, "VERIFY_BELOW", 0)
    change(store, indices=np.array([1, 0, 9, 1], np.int32))
    assert open_store(store).n_nodes == 3
    with pytest.raises(GraphError, match="indices are not all"):
        open_store(store, verify=True)


@pytest.mark.parametrize("name", ["../outside", "/outside", "x/../../outside", "y\0", "unknown", "Y"])
def test_names_of_arrays_are_not_paths(store: Path, name: str) -> None:
    shutil.copy(store / "y.npy", store.parent / "outside.npy")
    content = json.loads((store / FILE).read_text())["arrays"]
    rewrite(store, {"arrays": {**content, name: content["y"]}})
    with pytest.raises(GraphError, match=r"manifest\.json is damaged \(arrays\."):
        open_store(store)


def test_a_link_that_leads_out_of_the_store_is_not_followed(store: Path) -> None:
    shutil.move(store / "y.npy", store.parent / "elsewhere.npy")
    (store / "y.npy").symlink_to(store.parent / "elsewhere.npy")
    with pytest.raises(GraphError, match=r"y\.npy is a link to .*elsewhere\.npy, outside the store"):
        open_store(store)


def test_a_link_to_the_store_itself_is_fine(store: Path) -> None:
    (store.parent / "link").symlink_to(store)
    assert open_store(store.parent / "link").n_nodes == 3


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"arrays": None}, "arrays"),
        ({"arrays": {"y": {"shape": [-1], "dtype": "<i8", "bytes": 1, "checksum": ""}}}, r"arrays\.y\.shape\.0"),
        ({"arrays": {"y": {"shape": [10**400], "dtype": "<i8", "bytes": 1, "checksum": ""}}}, r"arrays\.y\.shape\.0"),
        ({"arrays": {"y": {"shape": 3, "dtype": "<i8", "bytes": 1, "checksum": ""}}}, r"arrays\.y\.shape"),
        ({"cleaning": {"other": 1}}, "cleaning.other"),
        ({"cleaning": []}, "cleaning"),
        ({"class_names": [1]}, r"class_names\.0"),
        ({"name": None}, "name"),
        ({"fingerprint": 7}, "fingerprint"),
    ],
)
def test_a_manifest_of_other_types(store: Path, changes: dict[str, Any], message: str) -> None:
    rewrite(store, changes)
    with pytest.raises(GraphError, match=rf"manifest\.json is damaged \({message}"):
        open_store(store)


@pytest.mark.parametrize(
    "text", ["[" * 100_000, "7" * 5000, "[]", "null", '{"checksum": 1}', '{"checksum": 1, "format": "\\ud800"}']
)
def test_a_manifest_that_is_none(store: Path, text: str) -> None:
    (store / FILE).write_text(text)
    with pytest.raises(GraphError, match=r"manifest\.json (is damaged|has format)"):
        open_store(store)


def test_half_a_character_in_the_manifest_is_refused(store: Path) -> None:
    content = json.loads((store / FILE).read_text())
    (store / FILE).write_text(json.dumps({**content, "name": "\ud800"}))
    with pytest.raises(GraphError, match=r"manifest\.json is damaged .*surrogates not allowed"):
        open_store(store)


def test_a_name_that_is_no_text_is_shown_anyway(store: Path) -> None:
    change(store, node_names=np.frombuffer(b"a\xff\xfe\xfd\xfc\xfb\xfa", np.uint8))
    assert open_store(store).node_names[1] == "�" * 6


def test_an_absurd_shape_is_refused_before_allocation(store: Path) -> None:
    content = (store / "y.npy").read_bytes()
    header = content.replace(b"'shape': (3,), }           ", b"'shape': (1000000000000,), }")
    (store / "y.npy").write_bytes(header)
    arrays = json.loads((store / FILE).read_text())["arrays"]
    arrays["y"] |= {"shape": [10**12], "bytes": len(header), "checksum": file_checksum(store / "y.npy")}
    rewrite(store, {"arrays": arrays})
    with pytest.raises(GraphError, match=r"y\.npy is damaged \(8,000,000,000,000 bytes claimed"):
        open_store(store)
