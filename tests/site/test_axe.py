"""No page has a barrier that axe-core finds, in either language and colour mode."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page

ALL: dict[str, Any] = {"resultTypes": ["violations"]}
COLOURS = {**ALL, "runOnly": {"type": "rule", "values": ["color-contrast", "link-in-text-block"]}}


def violations(page: Page, options: dict[str, Any] = ALL) -> Iterator[str]:
    """What axe-core finds on the page that is open."""
    for violation in Axe().run(page, options=options).response["violations"]:
        yield from (f"{violation['id']}: {node['html'][:200]}" for node in violation["nodes"])


@pytest.mark.parametrize("language", ["en", "zh_CN"])
def test_axe_finds_nothing(browser: Browser, site: str, docnames: list[str], language: str) -> None:
    context = browser.new_context(reduced_motion="reduce")
    page = context.new_page()
    found = []
    for name in docnames:
        page.emulate_media(color_scheme="light")
        page.goto(f"{site}{language}/{name}.html")
        found += [f"{name}: {each}" for each in violations(page)]
        page.emulate_media(color_scheme="dark")  # the same page in other colours: nothing else can have changed
        page.locator("html[data-theme=dark]").wait_for(state="attached")
        found += [f"{name}, dark: {each}" for each in violations(page, COLOURS)]
    context.close()
    assert found == []


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_axe_finds_nothing_in_the_search_dialog(browser: Browser, site: str, mode: str) -> None:
    context = browser.new_context(color_scheme=mode, reduced_motion="reduce")
    page = context.new_page()
    page.goto(f"{site}zh_CN/index.html")
    page.locator(".search-button__button:visible").click()
    page.locator("#pst-search-dialog[open]").wait_for()
    assert list(violations(page)) == []
    context.close()
