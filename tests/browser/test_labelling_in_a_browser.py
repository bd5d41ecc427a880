"""The labelling page, used in a real browser."""

from __future__ import annotations

from pathlib import Path

import pytest

import imgcl
from imgcl.labelling import LabelFile, progress
from imgcl.report import labelling_content, write_report
from labelling_samples import NAMES, make_file, make_graph, make_rows

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def label_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    content = labelling_content(
        make_rows(),
        make_file(),
        graph=make_graph(),
        node_names=NAMES,
        name="kitchen",
        projection="pca",
        progress=progress(make_rows(), make_file().labels, node_names=NAMES),
    )
    return write_report(content, tmp_path_factory.mktemp("labelling") / "label.html")


def press(opened, *keys: str) -> None:
    for key in keys:
        opened.page.keyboard.press(key)


def saved(opened, tmp_path: Path) -> LabelFile:
    with opened.page.expect_download() as download:
        opened.page.click("#download")
    assert download.value.suggested_filename == "to_label.csv"
    path = tmp_path / "to_label.csv"
    download.value.save_as(path)
    return LabelFile.read(path, NAMES)


def test_a_batch_is_labelled_by_keys_and_handed_back(open_page, label_page, tmp_path):
    opened = open_page(label_page)
    assert opened.page.inner_text("#node") == NAMES[4]
    press(opened, "3", "1", "ArrowRight", "n")  # tea, pepper, skip one, and a class that is typed
    opened.page.keyboard.type("olive oil, cold")
    press(opened, "Enter")
    assert opened.page.inner_text("#counted") == "3 of 5 labelled · 4 classes found"
    file = saved(opened, tmp_path)
    new = {NAMES[4]: "tea", NAMES[5]: "pepper", NAMES[6]: "", NAMES[7]: "olive oil, cold", NAMES[8]: ""}
    assert file.labels == make_file().labels | new
    assert file.columns == make_file().columns
    assert [row[2:] for row in file.rows] == [row[2:] for row in make_file().rows]
    batch = imgcl.suggest(make_rows(), 5, tmp_path / "to_label.csv", node_names=NAMES)
    assert not set(batch["node"]) & set(file.labels)
    assert opened.errors == []
    assert [address for address in opened.requests if not address.startswith("blob:")] == [label_page.as_uri()]
    assert opened.dialogs == []


def test_labels_stay_across_a_reload_and_undo_takes_them_back(open_page, label_page, tmp_path):
    opened = open_page(label_page)
    press(opened, "1", "2")
    opened.page.reload()
    opened.page.wait_for_selector("html[data-ready=true]")
    assert opened.page.inner_text("#counted").startswith("2 of 5 labelled")
    assert opened.page.inner_text("#node") == NAMES[6]
    press(opened, "u")
    assert opened.page.inner_text("#node") == NAMES[5]  # back where the label was
    assert opened.page.inner_text("#counted").startswith("1 of 5 labelled")
    press(opened, "u")
    assert opened.page.is_disabled("#undo")
    assert saved(opened, tmp_path).n_labels == 4


def test_a_label_may_be_changed_and_removed(open_page, label_page):
    opened = open_page(label_page)
    press(opened, "1", "ArrowLeft")
    assert opened.page.get_attribute("#choices button >> nth=0", "aria-pressed") == "true"
    press(opened, "2", "ArrowLeft")
    assert "labelled salt" in opened.page.inner_text("#place")
    press(opened, "x")
    assert opened.page.inner_text("#counted").startswith("0 of 5 labelled")


def test_words_that_mean_no_label_are_refused(open_page, label_page):
    opened = open_page(label_page)
    for word in ("NA", "-1", "inf"):
        opened.page.fill("#new-class", word)
        press(opened, "Enter")
        assert f"“{word}” means that there is no label" in opened.page.inner_text("#wrong")
    assert opened.page.inner_text("#counted").startswith("0 of 5 labelled")


def test_keys_are_letters_while_one_types_and_can_be_turned_off(open_page, label_page):
    opened = open_page(label_page)
    opened.page.focus("#new-class")
    opened.page.keyboard.type("u1x")
    assert opened.page.input_value("#new-class") == "u1x"
    press(opened, "Escape")
    opened.page.click("summary:has-text('Keys')")
    opened.page.uncheck("#keys")
    press(opened, "1")
    assert opened.page.inner_text("#counted").startswith("0 of 5 labelled")


def test_it_is_spoken_and_every_control_has_a_name(open_page, label_page):
    opened = open_page(label_page)
    opened.page.click("#choices button:has-text('salt')")
    assert opened.page.inner_text("#said") == f"{NAMES[4]} labelled salt. 1 of 5. Next: {NAMES[5]}."
    assert opened.page.evaluate("document.activeElement.dataset.name") == "salt"  # the focus stays
    nameless = opened.page.evaluate(
        "() => [...document.querySelectorAll('button, input, progress, canvas')].filter((each) =>"
        " !(each.textContent.trim() || each.labels?.length || each.getAttribute('aria-label'))).length"
    )
    assert nameless == 0
    assert NAMES[5] in opened.page.get_attribute("#map", "aria-label")
    for _ in range(4):
        opened.page.click("#choices button:has-text('salt')")
    assert "All are labelled" in opened.page.inner_text("#said")


@pytest.mark.parametrize("width", [390, 800, 1600])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_is_wider_than_the_window(open_page, label_page, width, scheme):
    opened = open_page(label_page, width=width, color_scheme=scheme)
    press(opened, "1")
    assert opened.page.evaluate("document.documentElement.scrollWidth") <= width
    assert opened.page.get_attribute("html", "data-theme") == scheme
    assert opened.page.inner_text("#node") == NAMES[5]  # markup in a name stays text


def test_two_colours_of_the_map_are_on_the_screen(open_page, label_page):
    opened = open_page(label_page)
    before = opened.page.locator("#map").screenshot()
    press(opened, "1")
    assert opened.page.locator("#map").screenshot() != before
