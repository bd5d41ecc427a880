"""Values of other libraries as arrays of numpy."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def as_array(values: Any) -> NDArray[Any]:
    """A tensor of any device and type, an array or a list as an array.

    Example:
        >>> import torch
        >>> as_array(torch.tensor([1.5], dtype=torch.bfloat16, requires_grad=True))
        array([1.5], dtype=float32)
    """
    if not hasattr(values, "detach"):
        return np.asarray(values)
    tensor = values.detach().cpu()
    if str(tensor.dtype) == "torch.bfloat16":  # numpy has no such type
        tensor = tensor.float()
    return np.asarray(tensor.numpy())
