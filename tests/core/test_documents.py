"""TOML and JSON of anybody: bounded before they are parsed."""

import ast
import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import imgcl
from imgcl._core.documents import JSON_DEPTH, TOML_BYTES, TOML_DEPTH, TOML_LINE, parse_json, read_json, read_toml

DOTTED = ".".join(["a"] * 15_000)
READ_TOML = "import sys, pathlib, resource; from imgcl._core.documents import read_toml; "
LIMITED = "resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30)); "


@pytest.fixture
def file(tmp_path):
    return tmp_path / "file"


def test_what_people_write_is_read(file):
    text = """\
# "it's a comment, with [[[[[[[[[[ and a.b.c.d.e.f.g.h.i.j
a.b."c.d" = ["x", 0.5, 1979-05-27T07:32:00Z, { e = 1, f.g = "h.i.j.k.l.m.n.o.p.q" }]
long = '''
a.b.c.d.e.f.g.h.i.j.k "
'''
quotes = [""\"a""\"", ""\"b""\""", '''c'''']
[table.of.settings]
path = 'C:\\a.b.c.d.e.f.g.h.i.j'
"""
    file.write_text(text)
    assert read_toml(file) == tomllib.loads(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a = 1\n" + ".".join("abcdefghi") + " = 1", "line 2 has a key of more than 8 parts"),
        ("[" + ".".join("abcdefghi") + "]", "line 1 has a key of more than 8 parts"),
        ("[" + " . ".join(f'"{part}"' for part in "abcdefghi") + "]", "a key of more than 8 parts"),
        ("x = { " + ".".join("abcdefghi") + " = 1 }", "a key of more than 8 parts"),
        # strings that end with quotes of their own must not hide what follows
        ('x = ["""y"""", { ' + ".".join("abcdefghi") + " = 1 }]", "a key of more than 8 parts"),
        ("x = ['''y''''', { " + ".".join("abcdefghi") + " = 1 }]", "a key of more than 8 parts"),
        ('x = ["""y\n\\"""" , { ' + ".".join("abcdefghi") + " = 1 }]", "line 2 has a key of more than 8 parts"),
        ("x = " + "[" * 9 + "]" * 9, "line 1 has brackets nested more than 8 deep"),
        ("x = " + "[" * 3000, "brackets nested more than 8 deep"),
        ("a = 1\nb = '" + "x" * TOML_LINE + "'", r"line 2 has 16,390 bytes, the most that is read is 16,384"),
        ("#\n" * TOML_BYTES, "more than 262,144 bytes"),
        (f"{DOTTED} = 1", "line 1 has 30,003 bytes"),
    ],
)
def test_toml_beyond_the_limits_is_refused_with_its_place(file, text, message):
    file.write_text(text)
    with pytest.raises(ValueError, match=message):
        read_toml(file)


@given(st.text(alphabet="ab.\"'\\#=[]{}, \n", max_size=60))
@example('x = """"""""\n')
@example("'''a''' = 1")
def test_no_text_gets_more_parts_past_the_check_than_the_limit(tmp_path_factory, text):
    """Whatever surrounds a deep key: the file is refused, by the check or by the parser."""
    file = tmp_path_factory.mktemp("toml") / "a.toml"
    file.write_text(text + ".".join("abcdefghi") + " = 1")
    try:
        found = read_toml(file)
    except ValueError:
        return
    assert _depth(found) <= TOML_DEPTH


def _depth(value):
    if isinstance(value, dict):
        return 1 + max(map(_depth, value.values()), default=0)
    return max(map(_depth, value), default=0) if isinstance(value, list) else 0


def test_a_long_dotted_key_takes_no_memory(file):
    # 30 KB of it took 1.3 GB; in several lines it would get past the limit of a line's length alone
    file.write_text("\n".join(f"[{'a.' * 4000}b{i}]" for i in range(20)))
    script = READ_TOML + LIMITED + "read_toml(pathlib.Path(sys.argv[1]))"
    done = subprocess.run([sys.executable, "-c", script, str(file)], capture_output=True, text=True)
    assert done.stderr.strip().endswith("ValueError: line 1 has a key of more than 8 parts")


@pytest.mark.parametrize("opening", ["[", '{"a":', '[{"a":'])
def test_deeply_nested_json_is_refused(file, opening):
    file.write_text(opening * 100_000)
    with pytest.raises(ValueError, match="values are nested more than 64 deep"):
        read_json(file)


def test_nesting_is_counted_outside_strings():
    deepest = "[" * JSON_DEPTH + "]" * JSON_DEPTH
    parse_json(deepest)
    with pytest.raises(ValueError, match="nested"):
        parse_json(f"[{deepest}]")
    text = json.dumps([r"[[[[ \" [[[[ \\" * 50, '"' + "{" * 100, {"[" * 100: "\\"}] + [[]] * 100)
    assert parse_json(text) == parse_json(text.encode()) == json.loads(text)


JSON = st.recursive(
    st.none() | st.integers() | st.text(alphabet='a"\\[]{}é\ud800', max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(alphabet='"\\[{', max_size=4), inner, max_size=3)
    ),
    max_leaves=30,
)


@given(JSON, st.integers(0, 80))
def test_json_is_refused_exactly_when_it_is_too_deep(value, more):
    for _ in range(more):
        value = [value]
    text = json.dumps(value)
    if _json_depth(value) > JSON_DEPTH:
        with pytest.raises(ValueError, match="nested"):
            parse_json(text)
    else:
        assert parse_json(text) == value


def _json_depth(value):
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else None
    return 0 if inner is None else 1 + max(map(_json_depth, inner), default=0)


def test_json_larger_than_allowed_is_not_read(file, monkeypatch):
    file.write_text("[1, 2, 3]")
    assert read_json(file, largest=9) == [1, 2, 3]
    with pytest.raises(ValueError, match="more than 8 bytes"):
        read_json(file, largest=8)
    monkeypatch.setattr("imgcl._core.documents.memory_limit", lambda: 64)
    with pytest.raises(ValueError, match="more than 8 bytes"):
        read_json(file)


def test_nothing_is_parsed_past_the_limits():
    """Files are parsed in one module; elsewhere only what the same function has just written."""
    found = set()
    for file in Path(imgcl.__file__).parent.rglob("*.py"):
        for call in (node for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.Call)):
            name = ast.unparse(call.func)
            own = name == "json.loads" and ast.unparse(call.args[0]).startswith("json.dumps(")
            parses = name in ("json.load", "json.loads") or name.startswith("tomllib.") or "validate_json" in name
            if parses and not own:
                found.add(file.name)
    assert found == {"documents.py"}
