"""Fetching one file, with a progress bar, a time limit and nothing half-written left behind."""

from __future__ import annotations

import http.client
import os
import tempfile
import urllib.error
import urllib.request
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

from imgcl.errors import DataNotFoundError

TIMEOUT = 15.0  # seconds without a byte
CHUNK = 1 << 18
MAX_BYTES = 1 << 30


def fetch(url: str, path: Path, *, timeout: float = TIMEOUT) -> Path:
    """Download ``url`` to ``path``.

    The file appears under its name only when it is complete; the progress bar is on standard error.

    Raises:
        DataNotFoundError: when the address cannot be reached or the transfer breaks off.
    """
    temporary: Path | None = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with (
            urllib.request.urlopen(url, timeout=timeout) as response,  # checks certificates
            tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False) as file,
        ):
            temporary = Path(file.name)
            expected = response.headers.get("Content-Length")
            received = _copy(response, file, path.name, int(expected) if expected else None)
        if expected and received != int(expected):
            raise DataNotFoundError(f"{url} broke off after {received:,} of {expected} bytes")
        os.replace(temporary, path)
        temporary = None
    except (OSError, http.client.HTTPException) as error:  # URLError and timeouts are OSErrors
        if isinstance(error, urllib.error.HTTPError):
            error.close()  # it holds the connection
        reason = getattr(error, "reason", None) or error
        raise DataNotFoundError(f"{url} could not be downloaded ({reason})") from None
    finally:
        if temporary is not None:
            temporary.unlink(missing_ok=True)
    return path


def _copy(
    response: http.client.HTTPResponse, file: tempfile._TemporaryFileWrapper[bytes], name: str, total: int | None
) -> int:
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
