"""Chromium, and pages that say what went wrong in them."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if program is None:
        pytest.skip("these tests need Chromium: apt-get install chromium")
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=program, args=FLAGS)
        yield launched
        launched.close()


class Opened:
    """A page with everything that a reader should never see: errors, dialogs, requests."""

    def __init__(self, page: Page, file: Path) -> None:
        self.page = page
        self.errors: list[str] = []
        self.dialogs: list[str] = []
        self.requests: list[str] = []
        page.set_default_timeout(120_000)  # on a busy machine everything waits
        page.on("console", lambda message: self.errors.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("dialog", self._dialog)
        page.on("request", lambda request: self.requests.append(request.url))
        page.goto(file.as_uri())
        page.wait_for_selector("html[data-ready=true]")

    def _dialog(self, dialog: Any) -> None:
        self.dialogs.append(dialog.message)
        dialog.dismiss()

    def scroll_to(self, selector: str) -> None:
        """Bring a chart into view and wait until it is drawn; charts above it that are drawn meanwhile move it away."""
        self.page.wait_for_function(
            """selector => {
                const chart = document.querySelector(selector);
                if (!chart._fullLayout) chart.scrollIntoView();
                return chart._fullLayout;
            }""",
            arg=selector,
            polling=100,
        )

    def points(self, side: int) -> int:
        """Number of points on a map."""
        return int(self.page.evaluate("id => document.getElementById(id).data[0].x.length", f"map-{side}"))

    def colours(self, side: int) -> list[float]:
        """Value behind the colour of every point of a map."""
        found: list[float] = self.page.evaluate(
            "id => [...document.getElementById(id).data[0].marker.color]", f"map-{side}"
        )
        return found


@pytest.fixture
def open_page(browser: Browser) -> Iterator[Callable[..., Opened]]:
    contexts = []

    def opened(file: Path, width: int = 1200, **options: Any) -> Opened:
        contexts.append(browser.new_context(viewport={"width": width, "height": 900}, **options))
        return Opened(contexts[-1].new_page(), file)

    yield opened
    for context in contexts:
        context.close()
