"""Figures show the numbers they are given, and the same figure gives the same bytes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from imgcl import plots
from imgcl._core.errors import InputError
from imgcl.plots.style import GROUP_COLOURS


def gain(mean: float, low: float, high: float) -> dict[str, object]:
    return {"mean": mean, "ci95": [low, high]}


FIGURES = {
    "class_distribution": lambda: plots.class_distribution(
        [9, 30, 60], class_names=["tea", "salt & pepper", "$5 <b>"], accuracy={"GBT": [0.1, 0.5, 0.9]}
    ),
    "per_class": lambda: plots.per_class(
        {"GBT": [0.1, 0.5, 0.9], "ImGCL": [0.4, 0.5, 0.8]}, {"GBT": [0.2, 0.5, 0.9], "ImGCL": [0.4, 0.6, 0.8]}
    ),
    "embedding_map": lambda: plots.embedding_map(
        {"a": np.eye(2)[[0, 1, 0, 1]], "b": np.ones((4, 2))}, [0, 1, -1, 1], class_names=["x", "y"]
    ),
    "effects": lambda: plots.effects({"pre-training": {"tail": gain(0.01, -0.02, 0.04)}}),
}


@pytest.mark.parametrize("name", FIGURES)
@pytest.mark.parametrize("ending", ["svg", "pdf", "png"])
def test_the_same_figure_gives_the_same_bytes(name: str, ending: str, tmp_path: Path) -> None:
    first, second = tmp_path / f"first.{ending}", tmp_path / f"second.{ending}"
    for path in (first, second):
        plots.save(FIGURES[name](), path)
    assert first.read_bytes() == second.read_bytes()
    assert len(first.read_bytes()) > 1000
    assert len(list(tmp_path.iterdir())) == 2  # nothing temporary is left


def test_bars_stand_by_size_in_the_colours_of_their_groups() -> None:
    axis = FIGURES["class_distribution"]().axes[0]
    assert [bar.get_height() for bar in axis.patches] == [60, 30, 9]
    assert [to_hex(bar.get_facecolor()).upper() for bar in axis.patches] == list(GROUP_COLOURS.values())
    assert [label.get_text() for label in axis.get_xticklabels()] == [r"\$5 <b>", "salt & pepper", "tea"]


def test_the_legend_names_the_groups_and_the_lines() -> None:
    (legend,) = FIGURES["class_distribution"]().legends
    assert [text.get_text() for text in legend.get_texts()] == ["head", "middle", "tail", "GBT"]


def test_the_accuracy_line_follows_the_order_of_the_bars() -> None:
    (line,) = FIGURES["class_distribution"]().axes[1].lines
    assert line.get_ydata().tolist() == [0.9, 0.5, 0.1]


def test_recall_and_precision_have_a_bar_for_every_class_and_run() -> None:
    recall, precision = FIGURES["per_class"]().axes
    assert [bar.get_height() for bar in recall.patches] == [0.1, 0.5, 0.9, 0.4, 0.5, 0.8]
    assert [bar.get_height() for bar in precision.patches] == [0.2, 0.5, 0.9, 0.4, 0.6, 0.8]


def test_every_point_of_every_panel_is_drawn() -> None:
    figure = FIGURES["embedding_map"]()
    assert [sum(len(c.get_offsets()) for c in axis.collections) for axis in figure.axes] == [4, 4]


def test_an_effect_is_shown_in_points_with_its_interval() -> None:
    axis = FIGURES["effects"]().axes[0]
    (container,) = axis.containers
    assert container[0].get_xdata().tolist() == pytest.approx([1.0])
    (segment,) = container[2][0].get_segments()
    assert segment[:, 0] == pytest.approx([-2.0, 4.0])


def test_an_effect_without_a_value_leaves_its_place_empty() -> None:
    figure = plots.effects({"both": {"tail": {"mean": None, "ci95": None}}, "one": {"tail": gain(0.1, 0, 0.2)}})
    assert len(figure.axes[0].containers) == 1


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (lambda: plots.class_distribution([3, 2], class_names=["a"]), "1 class names but 2 classes"),
        (lambda: plots.class_distribution([3, 2], accuracy={"GBT": [1]}), r"accuracy\['GBT'\] has shape"),
        (lambda: plots.per_class({"a": [1]}, {"b": [1]}), "the same runs"),
        (lambda: plots.embedding_map({}, [0]), "at least one panel"),
        (lambda: plots.effects({}), "no effect"),
        (lambda: plots.embedding_map({"a": np.zeros((2, 2))}, [0, 0.5]), "would not be drawn"),
        (lambda: plots.embedding_map({"a": np.zeros((2, 2))}, [0, -2]), "would not be drawn"),
        (lambda: plots.effects({"a": {"tail": {"mean": 1.0, "ci95": None}}, "b": {}}), "effect 'b' has the metrics"),
        (lambda: plots.save(Figure(), "figure.doc"), "must end in"),
    ],
)
def test_a_mistake_is_named(draw: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        draw()  # type: ignore[operator]
