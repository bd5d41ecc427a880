"""Names of millions of nodes without millions of Python strings: one text and where each name ends in it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray


class StoredNames(Sequence[str]):
    """A sequence of names over two arrays that may be memory-mapped.

    Args:
        text: UTF-8 bytes of all names, one after the other.
        ends: where each name ends in the text.

    Example:
        >>> names = StoredNames(*encode_names(["a", "bé", ""]))
        >>> list(names), names[1], names[-1], len(names)
        (['a', 'bé', ''], 'bé', '', 3)
    """

    def __init__(self, text: NDArray[np.uint8], ends: NDArray[np.int64]) -> None:
        self.text, self.ends = text, ends

    def __len__(self) -> int:
        return len(self.ends)

    @overload
    def __getitem__(self, index: int) -> str: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[str, ...]: ...

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return tuple(self[i] for i in range(*index.indices(len(self))))
        position = range(len(self))[index]
        begin = self.ends[position - 1] if position else 0
        return bytes(self.text[begin : self.ends[position]]).decode(errors="replace")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence) or isinstance(other, str):
            return NotImplemented
        return len(self) == len(other) and all(a == b for a, b in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]


def encode_names(names: Iterable[str]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Text and ends of names, for :class:`StoredNames`."""
    encoded = [str(name).encode() for name in names]
    lengths = np.fromiter((len(name) for name in encoded), np.int64, len(encoded))
    return np.frombuffer(b"".join(encoded), np.uint8), np.cumsum(lengths, dtype=np.int64)
