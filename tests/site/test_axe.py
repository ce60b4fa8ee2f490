"""No page has a barrier that axe-core finds, in either language and colour mode."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page

COLOURS = ("color-contrast", "link-in-text-block")
# Nearly all time goes into colours, and most elements look like one before: words of code, links of the sidebar. Those
# that have the same look, and so have all elements around them, are marked but for the first.
MARK = """() => {
    const seen = new Set();
    for (const each of document.body.querySelectorAll("*")) {
        delete each.dataset.seen;
        if (each.childElementCount) continue;
        const own = getComputedStyle(each);
        const look = [own.fontSize, own.fontWeight, own.textDecorationLine, own.opacity];
        for (let part = each; part; part = part.parentElement) {
            const style = getComputedStyle(part);
            look.push(part.tagName, part.className, style.color, style.backgroundColor);
        }
        const key = look.join("|");
        if (seen.has(key)) each.dataset.seen = "";
        seen.add(key);
    }
}"""


def violations(page: Page) -> Iterator[str]:
    """What axe-core finds on the page that is open."""
    rest = {"rules": {rule: {"enabled": False} for rule in COLOURS}}
    yield from run(page, None, rest)
    yield from colours(page)


def colours(page: Page) -> Iterator[str]:
    """Which colours axe-core finds hard to tell apart on the page that is open."""
    page.evaluate(MARK)
    yield from run(page, {"exclude": [["[data-seen]"]]}, {"runOnly": {"type": "rule", "values": COLOURS}})


def run(page: Page, context: dict[str, Any] | None, options: dict[str, Any]) -> Iterator[str]:
    """Run axe-core on what `context` leaves of the page, with `options`."""
    found = Axe().run(page, context, {"resultTypes": ["violations"], **options}).response["violations"]
    for violation in found:
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
        found += [f"{name}, dark: {each}" for each in colours(page)]
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


@pytest.mark.parametrize("rule", ["pre .n { color: #ddd }", "tr:nth-child(even) td { background: #333 }"])
def test_axe_finds_colours_that_one_cannot_read(browser: Browser, site: str, rule: str) -> None:
    context = browser.new_context(color_scheme="light")
    page = context.new_page()
    page.goto(f"{site}en/install.html")
    page.add_style_tag(content=rule.replace(" }", " !important }"))
    found = list(violations(page))
    context.close()
    assert found
    assert all(each.startswith("color-contrast: ") for each in found)
