"""What the labelling page is made of."""

from __future__ import annotations

import numpy as np
import pytest

import imgcl
from imgcl.graph import Graph
from imgcl.labelling import LabelFile, progress
from imgcl.report import labelling_content, render_page
from labelling_samples import NAMES, make_file, make_graph, make_rows


def content(**options):
    return labelling_content(
        make_rows(), make_file(), graph=make_graph(), node_names=NAMES, name="kitchen", projection="pca", **options
    )


def test_every_row_without_a_label_is_a_card():
    made = content()
    assert [card["node"] for card in made["cards"]] == [row[0] for row in make_file().rows if not row[1]]
    assert made["classes"] == {"pepper": 1, "salt": 1, "tea": 2}
    assert [made["rows"][card["row"]][0] for card in made["cards"]] == [card["node"] for card in made["cards"]]
    assert made["map"]["cards"] == [4, 5, 6, 7, 8]  # suggested nodes come first on the map, by their number


def test_a_card_has_neighbours_and_the_nearest_labelled_nodes():
    (card, *_) = content()["cards"]
    node = NAMES.index(card["node"])
    ends = {NAMES[(node - 1) % 30], NAMES[(node + 1) % 30]}
    assert {each["node"] for each in card["neighbours"]["some"]} == ends
    assert card["neighbours"]["some"][0]["label"] is not None  # labelled ones first
    rows = make_rows()
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    cosine = unit[:4] @ unit[node]
    assert [each["node"] for each in card["nearest"]] == [NAMES[i] for i in np.argsort(-cosine)[:3]]
    assert card["nearest"][0]["similarity"] == pytest.approx(cosine.max(), abs=1e-3)


def test_unusual_features_are_shown_or_those_that_are_named():
    (card, *_) = content()["cards"]
    assert card["facts"][0] == ["sweet", "9"]  # 9 where others have 0 or 1
    (card, *_) = content(show=["price"])["cards"]
    assert [name for name, _ in card["facts"]] == ["price"]
    with pytest.raises(imgcl.InputError, match="did you mean 'price'"):
        content(show=["prise"])


def test_sparse_features_show_what_a_node_has():
    x = np.zeros((30, 3), dtype=np.float32)
    x[:, 0] = 1.0  # every node: says nothing
    x[4:12, 1] = 1.0
    x[4, 2] = 1.0
    import scipy.sparse as sp

    graph = Graph.from_edges(np.stack([np.arange(30), (np.arange(30) + 1) % 30]), x=sp.csr_array(x))
    made = labelling_content(make_rows(), make_file(), graph=graph, node_names=NAMES, projection="pca")
    assert made["cards"][0]["facts"] == [["feature 2", "1"], ["feature 1", "1"]]  # the rarest first


def test_the_same_batch_has_the_same_key_and_another_has_not():
    first, second = content()["key"], content()["key"]
    assert first == second
    file = make_file()
    fewer = LabelFile(file.columns, file.rows[:-1], {row[0]: row[1] for row in file.rows[:-1]})
    assert labelling_content(make_rows(), fewer, node_names=NAMES, name="kitchen", projection="pca")["key"] != first


def test_the_page_needs_no_plotly_and_no_evaluation_of_text():
    page = render_page(content(progress=progress(make_rows(), make_file().labels, node_names=NAMES)))
    assert "unsafe-eval" not in page
    assert len(page) < 100_000
    assert "@@" not in page


def test_a_file_without_open_rows_is_refused():
    file = LabelFile(("node", "label"), ((NAMES[0], "tea"),), {NAMES[0]: "tea"})
    with pytest.raises(imgcl.InputError, match="every node of the file has a label"):
        labelling_content(make_rows(), file, node_names=NAMES)
