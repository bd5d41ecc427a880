"""Downloading a file: complete, checked and tried again, with a progress bar, and nothing half-written left behind.

pooch would bring requests and its dependencies, and verifies a checksum of the file alone. What it does not do is held
by ``tests/data/test_download.py``: the content is checked before it is kept
(``test_another_graph_than_the_published_one_is_not_kept``), the size is limited
(``test_no_end_of_bytes_is_not_kept``), and only what may pass is tried again
(``test_what_is_not_there_is_not_asked_for_again``).
"""

from __future__ import annotations

import http.client
import socket
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

from imgcl._core.errors import DataNotFoundError, GraphError
from imgcl._core.files import DISK_TROUBLE, atomic_path

TIMEOUT = 15.0  # seconds without a byte
ATTEMPTS = 3
PAUSE = 1.0  # seconds before the second attempt; twice as many before the third
PASSING = {408, 425, 429, 500, 502, 503, 504}  # HTTP answers that may be another one in a moment
CHUNK = 1 << 18
MAX_BYTES = 1 << 30


def fetch(url: str, path: Path, *, check: Callable[[Path], object] | None = None, timeout: float = TIMEOUT) -> Path:
    """Download ``url`` to ``path``.

    The file appears under its name only when it is complete and ``check`` has accepted it; what may be a passing
    trouble (a connection that breaks off, a busy server, content that is not what it should be) is tried three times.
    The progress bar is on standard error.

    Args:
        url: where the file is.
        path: where it goes.
        check: reads the downloaded file and raises a :class:`GraphError` when it is not what it should be.
        timeout: seconds without a byte after which a server is given up.

    Raises:
        DataNotFoundError: when the address cannot be reached, the transfer breaks off or the content is refused.
    """
    for attempt in range(1, ATTEMPTS + 1):
        try:
            with atomic_path(path) as temporary:
                _download(url, temporary, path.name, timeout)
                if check is not None:
                    check(temporary)
            return path
        except GraphError as error:
            message = f"what {url} sent is not the file that was expected: {error}"
        except (OSError, http.client.HTTPException) as error:  # URLError and timeouts are OSErrors
            message = f"{url} could not be downloaded ({getattr(error, 'reason', None) or error})"
            if isinstance(error, urllib.error.HTTPError):
                error.close()  # it holds the connection
            if not _passes(error):
                break
        if attempt < ATTEMPTS:
            time.sleep(PAUSE * 2 ** (attempt - 1))
    raise DataNotFoundError(message)


def _passes(error: OSError | http.client.HTTPException) -> bool:
    """Whether trying again may help."""
    if isinstance(error, urllib.error.HTTPError):
        return error.code in PASSING
    reason = getattr(error, "reason", error)
    if isinstance(reason, socket.gaierror):
        return reason.errno == socket.EAI_AGAIN
    return getattr(error, "errno", None) not in DISK_TROUBLE


def _download(url: str, temporary: Path, name: str, timeout: float) -> None:
    with urllib.request.urlopen(url, timeout=timeout) as response, open(temporary, "wb") as file:  # checks certificates
        expected = response.headers.get("Content-Length") or ""
        total = int(expected) if expected.isdecimal() else None
        received = _copy(response, file, name, total)
    if total is not None and received != total:
        raise OSError(f"it broke off after {received:,} of {total:,} bytes")


def _copy(response: http.client.HTTPResponse, file: BinaryIO, name: str, total: int | None) -> int:
    """Copy the answer to the file; how many bytes there were."""
    columns = (TextColumn("downloading {task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    received = 0
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task(name, total=total)
        while chunk := response.read(CHUNK):
            received += len(chunk)
            if received > MAX_BYTES:
                raise OSError(f"more than {MAX_BYTES:,} bytes")
            file.write(chunk)
            progress.advance(task, len(chunk))
    return received
