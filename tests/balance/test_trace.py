from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from imgcl._core.errors import InputError
from imgcl.balance import BalancedSelector, Labelling, trace_figure, trace_rows
from imgcl.balance.history import record
from imgcl.graph import Graph


@pytest.fixture
def history(small_graph: Graph) -> list[Labelling]:
    selector = BalancedSelector(small_graph, 3, epochs=16, diagnose=small_graph.y)
    for epoch in range(16):
        selector(epoch, embed=lambda: small_graph.x)
    return selector.history


def test_a_record_by_hand() -> None:
    labels, before = np.array([0, 0, 0, 1, 1, 2]), np.array([0, 0, 0, 1, 1, 1])
    truth = np.array([0, 0, 1, 1, -1, 1])
    entry = record(5, 0.5, labels, np.array([0, 3, 4, 5]), n_clusters=3, previous=before, truth=truth)
    assert entry["sizes"] == [3, 2, 1]
    assert entry["drawn"] == [0.25, 0.5, 0.25]
    assert entry["selected"] == 4
    assert entry["true_drawn"] == pytest.approx([1 / 3, 2 / 3])  # the unlabelled row is left out
    assert entry["agreement"] is not None
    assert 0 < entry["agreement"] < 1


def test_rows_say_how_uneven_nodes_and_selection_are(history: list[Labelling]) -> None:
    rows = trace_rows(history)
    assert [row["epoch"] for row in rows] == list(range(0, 16, 2))
    assert rows[0]["alpha"] == 1.0
    for row, entry in zip(rows, history, strict=True):
        assert row["K"] == 3
        assert row["rows"] == 19
        assert row["ari"] == entry["ari"]
        assert row["ratio"] == max(entry["sizes"]) / min(entry["sizes"])
        assert row["drawn_ratio"] == max(entry["drawn"]) / min(entry["drawn"])
        assert row["true_ratio"] is not None
        assert row["true_ratio"] >= 1
    assert rows[-1]["drawn_ratio"] < rows[0]["drawn_ratio"]  # type: ignore[operator]


def test_a_class_that_was_not_drawn_makes_the_ratio_infinite() -> None:
    entry = record(0, 1.0, np.array([0, 0, 1]), np.array([0]), n_clusters=2)
    assert trace_rows([entry])[0]["drawn_ratio"] == float("inf")


def test_the_figure_shows_nodes_selection_truth_and_agreement(history: list[Labelling], tmp_path: Path) -> None:
    figure = trace_figure(history)
    assert [axis.get_title() for axis in figure.axes] == [
        "pseudo-classes, share of nodes",
        "pseudo-classes, share of the selection",
        "true classes, share of the selection",
        "alpha and agreement",
    ]
    heights = [bar.get_height() for container in figure.axes[1].containers for bar in container]
    assert sum(heights) == pytest.approx(len(history))
    figure.savefig(tmp_path / "trace.png")
    assert (tmp_path / "trace.png").stat().st_size > 1000


def test_without_truth_the_figure_has_no_panel_for_it(history: list[Labelling]) -> None:
    for entry in history:
        entry["ari"] = entry["nmi"] = entry["true_drawn"] = None
    figure = trace_figure(history[:1])
    assert len(figure.axes) == 3
    assert "ARI with the truth" not in [text.get_text() for text in figure.axes[-1].get_legend().get_texts()]


def test_nothing_to_draw_is_explained() -> None:
    with pytest.raises(InputError, match="made without balanced selection"):
        trace_figure([])
