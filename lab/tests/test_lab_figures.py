"""The figures of the lab show the numbers they are given, and the same figure gives the same bytes."""

from __future__ import annotations

from pathlib import Path

import pytest

from imgcl import InputError, plots
from imgcl_lab.contraction import figure, simulate
from imgcl_lab.sensitivity import lines
from imgcl_lab.when.figures import effect_map, knob_effects

FIGURES = {
    "lines": lambda: lines(
        [2, 4, 8],
        {"tail": [0.4, 0.5, 0.5]},
        {"tail": [[0.3, 0.5], [0.4, 0.6], [0.4, 0.6]]},
        xlabel="labellings",
        reference={"plain": 0.3},
    ),
    "effect_map": lambda: effect_map(
        [5, 50, 500],
        [0.1, 0.5, 0.9],
        {"tail": [0.1, -0.1, 0.0], "accuracy": [0.0, 0.0, 0.0]},
        {"tail": ["helps", "hurts", "nothing"], "accuracy": ["nothing"] * 3},
        labels=("nodes", "homophily"),
        logarithmic=(True, False),
    ),
    "knob_effects": lambda: knob_effects(
        {"nodes": [5, 50, 500], "layers": [1, 2, 2]}, {"tail": [0.1, -0.1, 0.0]}, logarithmic=["nodes"]
    ),
    "contraction": lambda: figure(simulate([0.0, 1.0], samples=1000, repeats=2)),
}


@pytest.mark.parametrize("name", FIGURES)
@pytest.mark.parametrize("ending", ["svg", "png"])
def test_the_same_figure_of_the_lab_gives_the_same_bytes(name: str, ending: str, tmp_path: Path) -> None:
    first, second = tmp_path / f"first.{ending}", tmp_path / f"second.{ending}"
    for path in (first, second):
        plots.save(FIGURES[name](), path)
    assert first.read_bytes() == second.read_bytes()
    assert len(first.read_bytes()) > 1000


def test_a_line_needs_a_point() -> None:
    with pytest.raises(InputError, match="at least one line"):
        lines([1], {}, xlabel="K")


def test_a_map_shows_effect_by_colour_and_verdict_by_shape() -> None:
    tail = FIGURES["effect_map"]().axes[0]
    assert tail.get_xscale() == "log"
    assert [text.get_text() for text in tail.get_legend().get_texts()] == ["helps (1)", "hurts (1)", "nothing (1)"]
    assert [dots.get_array().tolist() for dots in tail.collections] == [[10.0], [-10.0], [0.0]]
    with pytest.raises(InputError, match="at least one metric"):
        effect_map([], [], {}, {}, labels=("a", "b"))


def test_knobs_with_few_values_have_a_mark_for_each() -> None:
    layers = FIGURES["knob_effects"]().axes[1]
    assert layers.get_xlabel() == "layers"
    (line,) = [line for line in layers.lines if len(line.get_xdata()) == 2 and line.get_marker() == "o"]
    assert line.get_ydata() == pytest.approx([10.0, -5.0])
    with pytest.raises(InputError, match="at least one knob"):
        knob_effects({}, {})
