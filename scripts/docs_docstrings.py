"""Our docstrings as mkdocstrings wants them: what the Python world writes is not all Markdown."""

from __future__ import annotations

import re
from typing import Any

from griffe import Extension, Object

SINGULAR = re.compile(r"^( *)Example:$", flags=re.MULTILINE)
ROLE = re.compile(r":[a-z]+:`~?([^`]+)`")


class Docstrings(Extension):
    """Shows an ``Example:`` as code and Sphinx roles as names.

    griffe reads only ``Examples:`` as code; an ``Example:`` is prose to it, where brackets are links that lead nowhere.
    """

    def on_object(self, *, obj: Object, **_: Any) -> None:
        """Called by griffe for every object it has read."""
        if obj.docstring is not None:
            obj.docstring.value = ROLE.sub(r"`\1`", SINGULAR.sub(r"\1Examples:", obj.docstring.value))
