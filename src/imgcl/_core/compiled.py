"""numba's ``njit``, with a cache on disk that any number of processes may fill at the same time.

numba numbers the files of a kernel's signatures. Two processes that compile different signatures at the same moment
take the same number, and from then on the index names a file with the other signature's machine code. Here a file is
named by what is in it. A cache that cannot be read or written (damaged, full disk, read-only installation) is no cache:
the kernel is compiled again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numba
from numba.core.caching import IndexDataCacheFile
from numba.core.dispatcher import Dispatcher


def njit(*, cache: bool = True, **options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Compile a function as ``numba.njit`` does.

    Args:
        cache: keep the machine code on disk, where the source lies, in ``NUMBA_CACHE_DIR`` or in the user's cache.
        **options: of ``numba.njit``.

    Example:
        >>> @njit(cache=False)
        ... def double(x):
        ...     return 2 * x
        >>> double(21)
        42
    """

    def compile_it(function: Callable[..., Any]) -> Any:
        kernel = numba.njit(**options)(function)
        if cache and isinstance(kernel, Dispatcher):  # with NUMBA_DISABLE_JIT it is the function itself
            with suppress(RuntimeError):  # there is no place where numba may write
                kernel.enable_caching()
            files = getattr(getattr(kernel, "_cache", None), "_cache_file", None)
            if type(files) is IndexDataCacheFile:
                files.__class__ = SharedCacheFile
        return kernel

    return compile_it


class SharedCacheFile(IndexDataCacheFile):  # type: ignore[misc]
    """The cached signatures of one kernel: an index, and one file of machine code for each."""

    def save(self, key: Any, data: Any) -> None:
        """Add a signature; the last of several writers of the index wins, and what it forgets is compiled again."""
        digest = hashlib.blake2b(repr(key).encode(), digest_size=8).hexdigest()
        name = self._index_name.removesuffix(".nbi") + f".{digest}.nbc"
        try:
            self._save_data(name, data)  # first, so that the index never names a file that is not there
            self._save_index({**self._load_index(), key: name})
        except OSError:
            return

    def load(self, key: Any) -> Any:
        """The machine code of a signature, or ``None`` to have it compiled."""
        try:
            return super().load(key)
        except Exception:  # damaged bytes fail in any way they like
            return None

    def _load_index(self) -> Any:
        try:
            return super()._load_index()
        except Exception:
            return {}
