"""Downloading public graphs, from a server of our own."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from platformdirs.macos import MacOS
from platformdirs.unix import Unix
from platformdirs.windows import Windows, get_win_folder_from_env_vars

from imgcl._core.errors import DataNotFoundError
from imgcl.data import download, load_graph, public
from imgcl.data.download import fetch
from imgcl.data.places import find_cache_dir, find_data_dir
from imgcl.data.public import PUBLIC

DATA = os.environ.get("IMGCL_DATA")


@pytest.fixture(autouse=True)
def nothing_from_outside(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No test sees the machine's own data or cache."""
    monkeypatch.delenv("IMGCL_DATA", raising=False)
    monkeypatch.setenv("IMGCL_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(download, "PAUSE", 0.0)


@pytest.fixture
def arrays() -> dict[str, Any]:
    """Two linked nodes in the layout of gnn-benchmark."""
    adjacency = {"adj_data": [1.0], "adj_indices": [1], "adj_indptr": [0, 1, 1], "adj_shape": [2, 2]}
    return {**adjacency, "attr_matrix": [[0.5, 0.0], [0.0, 3.0]], "labels": [0, 1]}


class Handler(BaseHTTPRequestHandler):
    content: ClassVar[dict[str, bytes]] = {}
    requests: ClassVar[list[str]] = []
    troubles: ClassVar[list[int | bytes]] = []  # what the next requests get instead: a status, or other content

    def do_GET(self) -> None:
        self.requests.append(self.path)
        if self.path == "/silent":
            time.sleep(1.0)
            return
        if self.troubles:
            trouble = self.troubles.pop(0)
            if isinstance(trouble, int):
                self.send_error(trouble)
            else:
                self._answer(trouble)
            return
        body = self.content.get(self.path)
        if body is None:
            self.send_error(404, "Not Found")
            return
        self._answer(body)

    def _answer(self, body: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(len(body) + (100 if self.path == "/broken" else 0)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: Any) -> None:
        pass


@pytest.fixture
def server() -> Iterator[str]:
    Handler.content, Handler.requests, Handler.troubles = {}, [], []
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as http:
        thread = threading.Thread(target=http.serve_forever, args=(0.02,))
        thread.start()
        yield f"http://127.0.0.1:{http.server_port}"
        http.shutdown()
        thread.join()


@pytest.fixture
def dblp(server: str, monkeypatch: pytest.MonkeyPatch) -> str:
    sizes = {"nodes": 2, "features": 2, "classes": 2, "fingerprint": None}
    monkeypatch.setitem(PUBLIC, "dblp", replace(PUBLIC["dblp"], url=f"{server}/dblp.npz", **sizes))
    return server


def npz(arrays: dict[str, Any]) -> bytes:
    buffer = BytesIO()
    np.savez(buffer, **arrays)
    return buffer.getvalue()


def test_downloads_once_into_torch_geometrics_layout(dblp: str, tmp_path: Path, arrays: dict[str, Any]) -> None:
    Handler.content["/dblp.npz"] = npz(arrays)
    first = load_graph("dblp", cache_dir=tmp_path / "c")
    assert (tmp_path / "c/CitationFull/dblp/raw/dblp.npz").read_bytes() == npz(arrays)
    second = load_graph("dblp", cache_dir=tmp_path / "c")
    assert first.fingerprint == second.fingerprint
    assert Handler.requests == ["/dblp.npz"]


def test_neither_file_nor_network_names_everything(dblp: str, tmp_path: Path) -> None:
    with pytest.raises(DataNotFoundError) as caught:
        load_graph("dblp", data_dir=tmp_path / "raw", cache_dir=tmp_path / "c")
    message = str(caught.value)
    for part in (str(tmp_path / "raw"), str(tmp_path / "c"), "dblp.npz", f"{dblp}/dblp.npz", "IMGCL_DATA", "404"):
        assert part in message.replace("Not Found", "404")
    assert "\n" not in message
    assert caught.value.exit_code == 2
    with pytest.raises(DataNotFoundError, match="IMGCL_DATA is not set"):
        load_graph("dblp")


def test_unreachable_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(PUBLIC, "dblp", replace(PUBLIC["dblp"], url="http://127.0.0.1:9/dblp.npz"))
    with pytest.raises(DataNotFoundError, match="could not be downloaded"):
        load_graph("dblp", cache_dir=tmp_path)


def test_a_login_page_is_not_kept(dblp: str, tmp_path: Path) -> None:
    Handler.content["/dblp.npz"] = b"<html>please log in</html>"
    with pytest.raises(DataNotFoundError, match="sent is not the file that was expected"):
        load_graph("dblp", cache_dir=tmp_path / "c")
    assert not [path for path in (tmp_path / "c").rglob("*") if path.is_file()]


@pytest.mark.parametrize("trouble", [503, 429, b"half", b"<html>try later</html>"])
def test_a_passing_trouble_is_tried_again(
    dblp: str, tmp_path: Path, arrays: dict[str, Any], trouble: int | bytes
) -> None:
    Handler.content["/dblp.npz"] = npz(arrays)
    Handler.troubles = [trouble, trouble]
    assert load_graph("dblp", cache_dir=tmp_path / "c").n_nodes == 2
    assert len(Handler.requests) == 3
    assert [path.name for path in (tmp_path / "c").rglob("*") if path.is_file()] == ["dblp.npz"]


def test_three_troubles_are_enough(dblp: str, tmp_path: Path, arrays: dict[str, Any]) -> None:
    Handler.content["/dblp.npz"] = npz(arrays)
    Handler.troubles = [503, 503, 503]
    with pytest.raises(DataNotFoundError, match="Service Unavailable"):
        load_graph("dblp", cache_dir=tmp_path / "c")
    assert len(Handler.requests) == 3


def test_what_is_not_there_is_not_asked_for_again(dblp: str, tmp_path: Path) -> None:
    with pytest.raises(DataNotFoundError, match="Not Found"):
        load_graph("dblp", cache_dir=tmp_path / "c")
    assert Handler.requests == ["/dblp.npz"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"nodes": 3}, "it has 2 nodes instead of 3"),
        ({"features": 4}, "it has 2 features instead of 4"),
        ({"fingerprint": "0" * 32}, f"its checksum is [0-9a-f]{{32}} instead of {'0' * 32}"),
    ],
)
def test_another_graph_than_the_published_one_is_not_kept(
    dblp: str,
    tmp_path: Path,
    arrays: dict[str, Any],
    changes: dict[str, Any],
    message: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    Handler.content["/dblp.npz"] = npz(arrays)
    monkeypatch.setitem(PUBLIC, "dblp", replace(PUBLIC["dblp"], **changes))
    with pytest.raises(DataNotFoundError, match=message):
        load_graph("dblp", cache_dir=tmp_path / "c")
    assert not [path for path in (tmp_path / "c").rglob("*") if path.is_file()]


def test_the_checksum_of_the_content_does_not_depend_on_compression(
    dblp: str, tmp_path: Path, arrays: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    np.savez_compressed(tmp_path / "other.npz", **arrays)
    known = load_graph(tmp_path / "other.npz", binarise=True).fingerprint
    monkeypatch.setitem(PUBLIC, "dblp", replace(PUBLIC["dblp"], fingerprint=known))
    Handler.content["/dblp.npz"] = npz(arrays)
    assert load_graph("dblp", cache_dir=tmp_path / "c").fingerprint == known


@pytest.mark.realdata
@pytest.mark.parametrize("name", [name for name, public in PUBLIC.items() if public.fingerprint is not None])
def test_the_known_checksums(name: str) -> None:
    graph = load_graph(name, data_dir=DATA)
    assert graph.fingerprint == PUBLIC[name].fingerprint
    public.check_public(graph, PUBLIC[name], Path())


def test_a_broken_transfer_leaves_nothing(server: str, tmp_path: Path) -> None:
    Handler.content["/broken"] = b"half of it"
    with pytest.raises(DataNotFoundError, match="broke off after 10 of 110 bytes"):
        fetch(f"{server}/broken", tmp_path / "file")
    assert not list(tmp_path.iterdir())


def test_no_end_of_bytes_is_not_kept(server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(download, "MAX_BYTES", 1000)
    Handler.content["/large"] = bytes(1001)
    with pytest.raises(DataNotFoundError, match="more than 1,000 bytes"):
        fetch(f"{server}/large", tmp_path / "file")
    assert not list(tmp_path.iterdir())


def test_a_silent_server_is_given_up(server: str, tmp_path: Path) -> None:
    with pytest.raises(DataNotFoundError, match="timed out"):
        fetch(f"{server}/silent", tmp_path / "file", timeout=0.2)
    assert not list(tmp_path.iterdir())


def test_places(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert find_data_dir() is None
    assert find_data_dir("~/data") == Path.home() / "data"
    assert find_cache_dir() == tmp_path / "cache"  # IMGCL_CACHE, set for every test
    monkeypatch.delenv("IMGCL_CACHE")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "home" / "AppData" / "Local"))
    monkeypatch.setattr("platformdirs.windows.get_win_folder", get_win_folder_from_env_vars)
    for system, place in {Unix: ".cache/imgcl", MacOS: "Library/Caches/imgcl", Windows: "AppData/Local/imgcl"}.items():
        monkeypatch.setattr("platformdirs.PlatformDirs", system)
        assert find_cache_dir() == tmp_path / "home" / place


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize(
    ("name", "kind", "argument"),
    [
        ("amazon-computers", "Amazon", "computers"),
        ("amazon-photo", "Amazon", "photo"),
        ("coauthor-cs", "Coauthor", "CS"),
        ("coauthor-physics", "Coauthor", "Physics"),
        ("dblp", "CitationFull", "dblp"),
        ("wiki-cs", "WikiCS", None),
        ("tolokers", "HeterophilousGraphDataset", "tolokers"),
    ],
)
def test_addresses_and_layout_are_torch_geometrics(
    name: str, kind: str, argument: str | None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    import importlib

    from torch_geometric import datasets

    fetched: list[str] = []
    cls = getattr(datasets, kind)
    module = importlib.import_module(cls.__module__)
    monkeypatch.setattr(module, "download_url", lambda url, folder: fetched.append(f"{url} -> {folder}"))
    dataset = cls.__new__(cls)  # its constructor would download and process
    dataset.root = str(tmp_path / kind)
    if argument is not None:
        dataset.name = argument
    dataset.download()
    expected = public.PUBLIC[name]
    assert fetched == [f"{expected.url} -> {(tmp_path / expected.cached).parent}"]


@pytest.mark.network
@pytest.mark.parametrize("name", [name for name, public in PUBLIC.items() if public.url is not None])
def test_the_real_addresses(name: str, tmp_path: Path) -> None:
    graph = load_graph(name, data_dir=tmp_path, cache_dir=tmp_path)
    assert (graph.n_nodes, graph.n_features, graph.n_classes) == (
        PUBLIC[name].nodes,
        PUBLIC[name].features,
        PUBLIC[name].classes,
    )
