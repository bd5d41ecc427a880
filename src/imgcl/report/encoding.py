"""Values as JSON that is safe inside an HTML page, and arrays as base64, small and exact."""

from __future__ import annotations

import base64
import json
import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike


def array(values: ArrayLike, dtype: str) -> dict[str, str]:
    """An array for the page: its little-endian bytes in base64 and the name of its type.

    Args:
        values: what to store; they must fit into the type.
        dtype: ``int8``, ``int16``, ``int32`` or ``float32``.

    Example:
        >>> array([1, 2], "int16")
        {'type': 'int16', 'data': 'AQACAA=='}
    """
    stored = np.ascontiguousarray(values, dtype=np.dtype(dtype).newbyteorder("<"))
    return {"type": dtype, "data": base64.b64encode(stored.tobytes()).decode("ascii")}


def classes(values: ArrayLike) -> dict[str, str]:
    """Class numbers (-1 for none) in the narrowest type that holds them."""
    numbers = np.asarray(values)
    largest = int(numbers.max(initial=0))
    return array(numbers, "int8" if largest < 2**7 else "int16" if largest < 2**15 else "int32")


def coordinates(values: ArrayLike) -> dict[str, str]:
    """Coordinates in -1..1 as 16-bit integers: finer than any screen."""
    return array(np.round(np.asarray(values, dtype=np.float64) * 32767), "int16")


def number(value: float | None, digits: int = 7) -> float | None:
    """A rounded number; ``None`` for one that is not finite, which JSON does not have."""
    return None if value is None or not math.isfinite(value) else round(float(value), digits)


def numbers(values: ArrayLike, digits: int = 7) -> list[Any]:
    """Nested lists of rounded numbers."""
    given = np.asarray(values, dtype=np.float64)
    if given.ndim == 0:
        return number(float(given), digits)  # type: ignore[return-value]
    return [numbers(row, digits) for row in given]


def script_json(value: Any) -> str:
    r"""JSON for a ``<script type="application/json">``: nothing in it can end the element or open a comment.

    Example:
        >>> print(script_json({"name": "</script><!--"}))
        {"name":"\u003c/script\u003e\u003c!--"}
    """
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text
