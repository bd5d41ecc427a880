"""The Python of the README runs as it stands."""

from pathlib import Path

README = Path(__file__).parents[1] / "README.md"


def test_ten_lines_of_python(capsys):
    code = README.read_text(encoding="utf-8").split("```python", 1)[1].split("```", 1)[0]
    names = {}
    exec(code, names)
    assert names["Z"].shape[0] == names["graph"].n_nodes
    assert "tail" in capsys.readouterr().out
