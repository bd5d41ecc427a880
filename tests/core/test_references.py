import collections

import pytest

from imgcl import InputError
from imgcl._core.references import Registry, is_importable, load_object, reference_to

NUMBERS = Registry("number", {"one": 1, "two": 2}, "imgcl.nothing", lambda found: isinstance(found, int), "an integer")


def test_a_name_of_ours_and_a_path():
    assert NUMBERS.resolve("two") == 2
    assert NUMBERS.resolve("sys:maxsize") > 2
    assert NUMBERS.names() == ["one", "two"]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("tow", "unknown number 'tow': did you mean 'two'"),
        ("no_such_module:x", "cannot import 'no_such_module'"),
        ("sys:no_such_thing", "module 'sys' has no 'no_such_thing'"),
        ("sys:path", "expected an integer"),
    ],
)
def test_what_cannot_be_resolved_is_said(name, message):
    with pytest.raises(InputError, match=message):
        NUMBERS.resolve(name)


class Outer:
    class Inner:
        pass


def test_references_lead_back():
    assert load_object(reference_to(collections.OrderedDict)) is collections.OrderedDict
    assert load_object(reference_to(Outer.Inner)) is Outer.Inner
    assert is_importable(Outer.Inner)
    assert not is_importable(lambda: None)


def test_entry_points_of_other_packages_are_found():
    tools = Registry("script", {}, "console_scripts", callable, "a function")
    assert "imgcl" in tools.names()
    assert callable(tools.resolve("imgcl"))
