"""The report, opened from a file in a real browser."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from imgcl.report import build_content, write_report
from report_samples import HOSTILE, make_content, make_nodes, make_runs, make_two_classes

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_report(make_content(), tmp_path_factory.mktemp("report") / "report.html")


def test_it_opens_without_errors_and_without_any_request(open_page, report):
    opened = open_page(report)
    for chart in (
        "#distribution",
        "#map-0",
        "#map-1",
        "#recall",
        "#confusion-0",
        "#effects-chart",
        "#losses",
        ".shares",
    ):
        opened.scroll_to(chart)
    assert opened.requests == [report.as_uri()]
    assert opened.errors == []
    assert opened.dialogs == []
    assert opened.page.locator("#results tbody tr").count() == 4
    assert "Recall of the rare classes" in opened.page.inner_text("#conclusion")
    assert "GBT (plain contrastive pre-training)" in opened.page.inner_text("#lead")
    assert "over 3 splits and 2 seeds of the pre-training" in opened.page.inner_text("#results-note")


def test_the_two_by_two_has_the_numbers_of_the_results(open_page, report):
    opened = open_page(report)
    rows = [row.split("\t") for row in opened.page.locator("#results tbody tr").all_inner_texts()]
    square = opened.page.locator("#square tbody tr").all_inner_texts()
    for i, row in enumerate(square):
        wanted = [f"{rows[2 * i + j][2].split(' ')[0]}, tail {rows[2 * i + j][5].split(' ')[0]}" for j in (0, 1)]
        assert row.split("\t")[1:] == wanted


def test_the_policy_would_stop_a_request(open_page, report):
    opened = open_page(report)
    blocked = opened.page.evaluate("() => fetch('https://example.org/').then(() => 'fetched', () => 'blocked')")
    assert blocked == "blocked"
    assert opened.requests == [report.as_uri()]


def test_colour_switching_changes_the_points(open_page, report):
    opened = open_page(report)
    opened.scroll_to("#map-0")
    seen, pictures = {}, set()
    for colour in ("class", "predicted", "correct", "centrality", "degree"):
        opened.page.select_option("#colour", colour)
        opened.page.wait_for_timeout(150)
        seen[colour] = tuple(opened.colours(0))
        pictures.add(opened.page.locator("#map-0").screenshot())
    assert len(set(seen.values())) == 5
    assert len(pictures) == 5  # not only the values: what is on the screen is different too
    assert set(seen["class"]) == {0, 1, 2}
    assert set(seen["correct"]) <= {0, 1, 2}
    opened.page.select_option("#colour", "pseudo")
    assert "has no pseudo-labels" in opened.page.inner_text("#map-0")
    assert len(set(opened.colours(1))) == 3


def test_the_filter_is_a_legend_only_where_its_colours_are_those_of_the_map(open_page, report):
    opened = open_page(report)
    opened.scroll_to("#map-0")
    swatch = opened.page.locator("#filter .swatch").first
    for colour, shown in (("class", True), ("predicted", True), ("pseudo", False), ("degree", False)):
        opened.page.select_option("#colour", colour)
        assert swatch.is_visible() is shown, colour
    assert "degree, 0 to 109" in opened.page.inner_text("#legend")


def test_the_classifier_changes_what_is_predicted(open_page, report):
    opened = open_page(report)
    opened.scroll_to("#map-0")
    opened.page.select_option("#colour", "predicted")
    balanced = opened.colours(0)
    opened.page.check("#classifier input[value=plain]")
    assert opened.colours(0) != balanced


def test_the_class_filter_hides_points(open_page, report):
    opened = open_page(report)
    opened.scroll_to("#map-0")
    assert opened.points(0) == opened.points(1) == 110
    opened.page.get_by_role("checkbox", name="tea").uncheck()
    assert opened.points(0) == opened.points(1) == 50
    opened.page.get_by_role("button", name="tail").click()
    assert opened.points(0) == 20
    opened.page.get_by_role("button", name="none").click()
    assert opened.points(0) == 0
    opened.page.get_by_role("button", name="all", exact=True).click()
    assert opened.points(0) == 110
    assert opened.errors == []


def test_compare_mode_shows_both_runs(open_page, report):
    opened = open_page(report)
    opened.scroll_to("#map-1")
    titles = [opened.page.text_content(f"#map-{side} .gtitle") for side in (0, 1)]
    assert titles == ["GBT", "GBT + ImGCL"]
    opened.scroll_to("#recall")
    names = opened.page.evaluate("() => document.getElementById('recall').data.map(trace => trace.name)")
    assert names == ["GBT", "GBT + ImGCL"]
    assert opened.page.locator("#confusions h3").all_inner_texts() == titles


def test_one_run_is_compared_by_its_classifiers(open_page, tmp_path):
    content = build_content(make_runs()[1:], make_nodes(), imbalance="exp:4", splits=2, projection="pca")
    opened = open_page(write_report(content, tmp_path / "one.html"))
    opened.scroll_to("#recall")
    names = opened.page.evaluate("() => document.getElementById('recall').data.map(trace => trace.name)")
    assert names == ["plain", "pbs"]
    assert opened.page.locator(".map").count() == 1
    assert opened.page.locator("#effects").count() == 0
    assert "one made with --no-balance" in opened.page.inner_text("#lead")
    assert opened.errors == []


def test_two_classes_have_no_middle_and_one_run_has_a_verdict(open_page, tmp_path):
    opened = open_page(write_report(make_two_classes(), tmp_path / "two.html"))
    for chart in ("#distribution", "#recall", "#confusion-0"):
        opened.scroll_to(chart)
    page = opened.page.inner_text("body")
    assert "middle" not in page
    assert "pbs" not in page
    assert "reweight: every class has the same weight" in page
    assert opened.page.inner_text("#conclusion").startswith("Recall of the rare class, reweight: ")
    assert opened.errors == []


def test_a_class_has_one_colour_in_bars_map_and_filter(open_page, report):
    opened = open_page(report)
    for chart in ("#distribution", "#map-0"):
        opened.scroll_to(chart)
    bars = opened.page.evaluate("() => document.getElementById('distribution').data.map(t => t.marker.color)")
    scale = opened.page.evaluate("() => document.getElementById('map-0').data[0].marker.colorscale.map(s => s[1])")
    assert bars[0] == bars[1] == scale[2::2]  # the first step of the map is for nodes without a class
    hexes = """() => [...document.querySelectorAll('#filter .swatch')].map(s => '#' + s.style.background.match(/\\d+/g)
        .map(v => Number(v).toString(16).padStart(2, '0')).join('').toUpperCase())"""
    assert opened.page.evaluate(hexes) == bars[0]


def test_the_confusion_matrix_is_whole_and_clear_of_its_tools(open_page, report):
    opened = open_page(report)
    opened.scroll_to("#confusion-0")
    names = opened.page.locator("#confusion-0 .xtick text").all_text_contents()
    assert names == ["tea", "salt", "pepper"]
    opened.page.hover("#confusion-0 .nsewdrag")
    tools = opened.page.locator("#confusion-0 .modebar").bounding_box()
    plot = opened.page.locator("#confusion-0 .nsewdrag").bounding_box()
    assert tools["y"] + tools["height"] <= plot["y"] + 1


def test_the_tail_column_is_in_view_on_a_telephone(open_page, report):
    opened = open_page(report, width=390)
    column = opened.page.locator("#results th", has_text="tail").bounding_box()
    assert column["x"] + column["width"] <= 390
    assert not opened.page.locator("#results th", has_text="G-mean").is_visible()


def test_three_runs_are_compared_two_at_a_time(open_page, tmp_path):
    first, second = make_runs()
    runs = [first, second, replace(second, name="third", embeddings=[-Z for Z in second.embeddings])]
    content = build_content(runs, make_nodes(), imbalance="exp:4", splits=2, projection="pca")
    opened = open_page(write_report(content, tmp_path / "three.html"))
    opened.scroll_to("#map-1")
    opened.page.select_option("#side-1", label="third")
    assert opened.page.text_content("#map-1 .gtitle") == "third"
    assert opened.errors == []


def test_hovering_shows_the_node_and_rings_it_in_both_maps(open_page, report):
    opened = open_page(report)
    opened.scroll_to("#map-0")
    # of the tail class (nodes 90 to 109) the node with the most room around it, so that the mouse means no other
    node, x, y = opened.page.evaluate(
        """() => { const map = document.getElementById("map-0"), size = map._fullLayout, data = map.data[0];
        const box = map.getBoundingClientRect();
        const at = (i) => [box.x + size.xaxis._offset + size.xaxis.d2p(data.x[i]),
                           box.y + size.yaxis._offset + size.yaxis.d2p(data.y[i])];
        const all = [...data.x].map((_, i) => at(i));
        const gap = (i, k) => k === i ? 1e9 : Math.hypot(all[k][0] - all[i][0], all[k][1] - all[i][1]);
        const room = (i) => Math.min(...all.map((_, k) => gap(i, k)));
        const node = [...Array(20).keys()].map((k) => 90 + k).sort((a, b) => room(b) - room(a))[0];
        return [node, ...all[node]]; }"""
    )
    opened.page.mouse.move(x - 30, y - 30)
    opened.page.mouse.move(x, y, steps=4)
    opened.page.wait_for_function(  # tips of nodes on the mouse's way come first
        "name => !document.getElementById('tip').hidden && document.querySelector('#tip strong').textContent === name",
        arg=f"node {node}",
        timeout=20_000,
    )
    tip = opened.page.inner_text("#tip")
    assert "degree" in tip
    assert "pepper (tail)" in tip
    assert "GBT + ImGCL says" in tip
    assert opened.page.locator(".ring").count() == 2


def test_a_node_is_found_by_number_with_the_keyboard_alone(open_page, report):
    opened = open_page(report)
    opened.scroll_to("#map-0")
    opened.page.focus("#find-text")
    opened.page.keyboard.type("17")
    opened.page.keyboard.press("Enter")
    assert opened.page.inner_text("#node").startswith("node 17")
    assert opened.page.locator(".ring").count() == 2
    opened.page.fill("#find-text", "nobody")
    opened.page.keyboard.press("Enter")
    assert "There is no node “nobody”" in opened.page.inner_text("#node")


def test_every_control_is_reached_by_the_tabulator(open_page, report):
    opened = open_page(report)
    reached = set()
    for _ in range(120):
        opened.page.keyboard.press("Tab")
        reached.add(
            opened.page.evaluate(
                "() => document.activeElement.id || document.activeElement.tagName + document.activeElement.value"
            )
        )
    assert {"theme", "sought", "threshold", "colour", "find-text", "INPUT0", "INPUTpbs"} <= reached


@pytest.mark.parametrize("names", [HOSTILE, ["<b>x</b>", "&lt;i&gt;", "{{7*7}} %{y}"]])
def test_hostile_names_are_shown_as_text_and_do_nothing(open_page, tmp_path, names):
    content = make_content(make_nodes(names, [f"<img src=x onerror=alert({i})>" for i in range(110)]))
    content["graph"]["name"] = "<script>alert('graph')</script>"
    content["runs"][0]["name"] = "<a href='javascript:alert(3)'>run</a>"
    opened = open_page(write_report(content, tmp_path / "hostile.html"))
    for chart in ("#distribution", "#map-0", "#recall", "#confusion-0", "#effects-chart", "#losses"):
        opened.scroll_to(chart)
    opened.page.fill("#find-text", "5")
    opened.page.keyboard.press("Enter")
    assert opened.dialogs == []
    assert opened.errors == []
    assert opened.requests == [(tmp_path / "hostile.html").as_uri()]
    assert opened.page.locator("main img, main script, main b, svg a").count() == 0
    assert opened.page.inner_text("h1") == "<script>alert('graph')</script>"
    labels = opened.page.locator("#filter label").all_inner_texts()
    for name, label in zip(names, labels, strict=True):
        assert name.split("\u2028")[0] in label
    ticks = opened.page.locator("#distribution .xtick text").all_text_contents()
    assert names[0][:10] in ticks[0]
    assert "<img src=x" in opened.page.inner_text("#node")
    assert "<a href=" in opened.page.text_content("#map-0 .gtitle")


@pytest.mark.parametrize("width", [400, 1600])
def test_it_is_usable_on_a_telephone_and_on_a_large_screen(open_page, report, width):
    opened = open_page(report, width=width)
    for chart in ("#distribution", "#map-0", "#map-1", "#recall", "#confusion-0", "#effects-chart", "#losses"):
        opened.scroll_to(chart)
        box = opened.page.locator(chart).bounding_box()
        assert 250 < box["width"] <= width
    assert opened.page.evaluate("() => document.documentElement.scrollWidth") <= width
    opened.page.get_by_role("checkbox", name="tea").uncheck()
    assert opened.points(0) == 50


def test_light_dark_and_print(open_page, report):
    opened = open_page(report, color_scheme="dark")
    opened.scroll_to("#distribution")
    background = "() => getComputedStyle(document.body).backgroundColor"
    dark = opened.page.evaluate(background)
    opened.page.click("#theme")
    light = opened.page.evaluate(background)
    assert dark != light
    assert light == "rgb(255, 255, 255)"
    opened.page.click("#theme")
    opened.page.emulate_media(media="print")
    opened.page.evaluate("() => dispatchEvent(new Event('beforeprint'))")
    assert opened.page.evaluate(background) == "rgb(255, 255, 255)"
    assert not opened.page.locator("nav").is_visible()
    assert opened.page.locator(".js-plotly-plot").count() >= 9  # all charts are there, seen or not
    widths = opened.page.evaluate(
        "() => [...document.querySelectorAll('.js-plotly-plot')].map(chart => chart._fullLayout.width)"
    )
    assert max(widths) <= 720  # what was drawn for a wide screen fits the paper too
    assert opened.page.locator("details:not([open])").count() == 0
    assert len(opened.page.pdf()) > 50_000  # and tells the page that printing is over
    opened.page.emulate_media(media="screen")
    opened.page.wait_for_function("() => document.getElementById('distribution')._fullLayout.width > 1000")
    assert opened.page.evaluate(background) == dark
    assert opened.page.locator("details:not([open])").count() == 3


def test_without_webgl_the_points_are_still_drawn(open_page, report, browser):
    context = browser.new_context()
    context.add_init_script(
        "const real = HTMLCanvasElement.prototype.getContext;"
        "HTMLCanvasElement.prototype.getContext = function (kind, ...rest) {"
        "  return kind.includes('webgl') ? null : real.call(this, kind, ...rest); };"
    )
    page = context.new_page()
    page.goto(report.as_uri())
    page.evaluate("() => document.getElementById('map-0').scrollIntoView()")
    page.wait_for_selector("#map-0 .scatterlayer .point", state="attached")
    assert page.locator("#map-0 .scatterlayer .point").count() == 110
    context.close()


def test_without_labels_the_page_has_a_map_and_no_scores(open_page, tmp_path):
    content = make_content(replace(make_nodes(), labels=None))
    opened = open_page(write_report(content, tmp_path / "unlabelled.html"))
    opened.scroll_to("#map-1")
    assert opened.errors == []
    assert opened.page.locator("#per-class, #confusion, #effects, #classes").count() == 0
    assert opened.points(0) == 110


def test_the_page_of_a_study_can_be_explored(open_page, tmp_path):
    rows = [
        {"group": f"{graph} · <b>{method}</b>", "series": classifier, "metric": metric}
        | {"mean": 0.5, "sd": 0.1, "low": 0.4, "high": 0.6}
        for graph in ("photo", "dblp")
        for method in ("gbt", "dgi")
        for classifier in ("plain", "pbs")
        for metric in ("accuracy", "tail")
    ]
    table = {
        "title": "<script>alert(1)</script>",
        "header": ["a", "b"],
        "rows": [["1", "<i>2</i>"]],
        "note": "`exp:9` <b>",
    }
    content = {
        "kind": "study",
        "graph": {"name": "s"},
        "title": "Study",
        "text": ["What it says."],
        "open": 2,
        "failed": 0,
    }
    content |= {"missing": {}, "tables": [table], "figures": {}, "rows": rows, "facts": {"command": "imgcl study s"}}
    file = write_report(content, tmp_path / "study.html")
    opened = open_page(file, width=400)
    opened.scroll_to("#estimates")
    shown = "() => document.getElementById('estimates').data.map(trace => trace.x.length)"
    assert opened.page.evaluate(shown) == [4, 4]
    opened.page.fill("#search", "photo")
    assert opened.page.evaluate(shown) == [2, 2]
    opened.page.select_option("#metric", "tail")
    assert "<i>2</i>" in opened.page.inner_text("#tables")
    assert opened.page.locator("#tables code").all_inner_texts() == ["exp:9"]
    assert opened.page.locator("#tables b").count() == 0
    assert "2 cells are open" in opened.page.inner_text("#summary")
    assert opened.page.evaluate("() => document.documentElement.scrollWidth") <= 400
    assert (opened.errors, opened.dialogs, opened.requests) == ([], [], [file.as_uri()])
