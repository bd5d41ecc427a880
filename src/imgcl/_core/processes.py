"""Which process made a file, and whether it still runs."""

from __future__ import annotations

import os
import re
import socket
import sys

# Process numbers mean something on one machine only; names of files cannot hold every character of a host's name.
HOST = re.sub(r"[^A-Za-z0-9-]", "-", socket.gethostname()) or "localhost"


def is_alive(pid: int) -> bool:
    """Whether a process of this machine runs; ``True`` where the system does not say.

    Example:
        >>> is_alive(os.getpid())
        True
    """
    if sys.platform == "win32":
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True
