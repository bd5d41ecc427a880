"""Things by name: ours, those of other installed packages (entry points), and ``package.module:object``.

Resolving a name imports the module that the name says and reads one attribute; nothing else is executed.
"""

from __future__ import annotations

import hashlib
import re
import sys
from collections.abc import Callable, Mapping
from importlib import import_module, metadata
from typing import Any, Generic, TypeVar

from imgcl._core.errors import InputError
from imgcl._core.words import did_you_mean

T = TypeVar("T")


class Registry(Generic[T]):
    """A family of things that users choose by name.

    Args:
        what: one of the family, for messages: ``method``.
        known: those of this package.
        group: entry-point group through which other packages add theirs.
        fits: whether an object is one of the family.
        expected: what an object has to be, for messages.
    """

    def __init__(
        self, what: str, known: Mapping[str, T], group: str, fits: Callable[[Any], bool], expected: str
    ) -> None:
        self.what, self.known, self.group, self.fits, self.expected = what, known, group, fits, expected

    def names(self) -> list[str]:
        """All names: ours first, then those of other packages."""
        return list(dict.fromkeys([*self.known, *sorted(self._entry_points())]))

    def name_of(self, thing: Any) -> str:
        """What a thing is called in a file: the name of one of ours, or its reference; a text is a name already."""
        if isinstance(thing, str):
            return thing
        ours = (name for name, known in self.known.items() if known is thing)
        return next(ours, None) or name_object(thing)

    def resolve(self, name: str) -> T:
        """What has this name, checked."""
        if isinstance(name, ObjectName):
            return self._checked(name.thing, name)
        if name in self.known:
            return self.known[name]
        points = self._entry_points()
        if name in points:
            return self._checked(_loaded(points[name], self.what, name), name)
        if is_object_name(name):
            raise InputError(
                f"{self.what} {name!r} is known only to the program that made it: pass the object, {self.what}=…"
            )
        if ":" in name:
            return self._checked(load_object(name, self.what), name)
        raise InputError(f"unknown {self.what} {name!r}{did_you_mean(name, self.names())}")

    def _entry_points(self) -> dict[str, metadata.EntryPoint]:
        return {point.name: point for point in metadata.entry_points(group=self.group)}

    def _checked(self, found: Any, name: str) -> T:
        if not self.fits(found):
            called = self.what if isinstance(name, ObjectName) else f"{self.what} {name!r}"
            raise InputError(f"{called} is {found!r}: expected {self.expected}")
        return found  # type: ignore[no-any-return]


def load_object(reference: str, what: str = "object") -> Any:
    """The object that ``package.module:name`` stands for.

    Args:
        reference: the module and, after a colon, the name in it.
        what: what it is, for messages.

    Example:
        >>> load_object("collections:OrderedDict").__name__
        'OrderedDict'
    """
    module_name, _, attributes = reference.partition(":")
    try:
        found: Any = import_module(module_name)
    except ImportError as error:
        raise InputError(f"{what} {reference!r}: cannot import {module_name!r} ({error})") from None
    try:
        for attribute in attributes.split("."):
            found = getattr(found, attribute)
    except AttributeError:
        raise InputError(f"{what} {reference!r}: module {module_name!r} has no {attributes!r}") from None
    return found


def reference_to(thing: Any) -> str:
    """How a class or a function is called in a file: ``package.module:name``, whether or not it can be found there."""
    return f"{thing.__module__}:{thing.__qualname__}"


def is_importable(thing: Any) -> bool:
    """Whether another place can find a class or a function by its reference."""
    found: Any = sys.modules.get(thing.__module__)
    for attribute in thing.__qualname__.split("."):
        found = getattr(found, attribute, None)
    return found is thing and thing.__module__ != "__main__"


class ObjectName(str):
    """The name of an object that no import can find, with the object itself: it serves within this process only.

    It is a text like any other in a file and in a comparison.

    Example:
        >>> name = ObjectName("package.module:function.<locals>.Class", dict)
        >>> name == "package.module:function.<locals>.Class", name.thing
        (True, <class 'dict'>)
    """

    thing: Any

    def __new__(cls, name: str, thing: Any) -> ObjectName:
        found = super().__new__(cls, name)
        found.thing = thing
        return found

    def __getnewargs__(self) -> tuple[str, Any]:  # type: ignore[override]
        return str(self), self.thing

    def __deepcopy__(self, memo: dict[int, Any]) -> ObjectName:
        return self


def name_object(thing: Any) -> str:
    """The reference of a class or a function; of anything else see :func:`describe_object`.

    Where an import does not find the object, the name holds it.

    Example:
        >>> import collections
        >>> name_object(collections.OrderedDict)
        'collections:OrderedDict'
        >>> name_object({"a": 1}).startswith("builtins:dict@")
        True
    """
    if not hasattr(thing, "__qualname__"):
        return ObjectName(describe_object(thing), thing)
    name = reference_to(thing)
    return name if is_importable(thing) else ObjectName(name, thing)


def describe_object(thing: Any) -> str:
    """The class of an object and a hash of how it prints, which is the same in another process."""
    kind = type(thing)
    says_what_it_is = getattr(kind, "__repr__", None) is not getattr(object, "__repr__", None)
    shown = repr(thing) if says_what_it_is else repr(vars(thing))
    digest = hashlib.sha256(re.sub(" at 0x[0-9a-f]+", "", shown).encode()).hexdigest()[:12]
    return f"{reference_to(thing if hasattr(thing, '__qualname__') else kind)}@{digest}"


def is_object_name(name: str) -> bool:
    """Whether a text names an object that no import can find, here or in the program that wrote it."""
    module, _, attributes = name.partition(":")
    missing = module == "__main__" and not hasattr(sys.modules["__main__"], attributes)
    return missing or "@" in attributes or "<" in attributes


def _loaded(point: metadata.EntryPoint, what: str, name: str) -> Any:
    try:
        return point.load()
    except Exception as error:  # another package's: whatever is wrong with it, its name is told
        reason = f"{type(error).__name__}: {error}"
        raise InputError(f"{what} {name!r}, which {point.value} promises, cannot be loaded ({reason})") from error
