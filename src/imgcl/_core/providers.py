"""Functions that a package offers and a package further down the table of docs/architecture.md provides.

``Graph.from_frames`` belongs to ``Graph``, but reading tables belongs to ``data``, which ``graph`` does not import. The
front of the library (``imgcl/__init__.py``) writes down who provides what before any other module is loaded; the
provider is imported when it is called.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

PROVIDERS: dict[str, str] = {}  # name of the function: package.module:function


def provided(name: str) -> Any:
    """The function of this name.

    Example:
        >>> provided("Graph.from_frames").__name__
        'from_frames'
    """
    module, _, function = PROVIDERS[name].partition(":")
    return getattr(import_module(module), function)
