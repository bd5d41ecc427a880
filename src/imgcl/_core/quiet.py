"""Warnings that are expected. Python keeps its filters per process, so threads take turns in changing them."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

_FILTERS = threading.RLock()


@contextmanager
def without_warning(message: str = "", category: type[Warning] = Warning) -> Iterator[None]:
    """Warnings of this category that begin with the message are not shown until the end of the block.

    Example:
        >>> with without_warning("expected"):
        ...     warnings.warn("expected, indeed", stacklevel=1)
    """
    with _FILTERS, warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=message, category=category)
        yield
