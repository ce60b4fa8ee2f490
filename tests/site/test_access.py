"""What everybody can use: the keyboard, no scripts, less motion; and what a page may load."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from playwright.sync_api import Browser, Page

LANGUAGES = ("en", "zh_CN")


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_first_stop_of_the_keyboard_skips_to_the_content(
    page: Page, problems: list[str], site: str, language: str
) -> None:
    page.goto(f"{site}{language}/install.html")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('.skip-link') !== null")
    assert page.locator("#pst-skip-link").bounding_box()["height"] > 0  # type: ignore[index]
    page.keyboard.press("Enter")
    assert page.evaluate("location.hash") == "#main-content"


def test_every_stop_of_the_keyboard_is_visible(page: Page, problems: list[str], site: str) -> None:
    page.goto(f"{site}en/install.html")
    for _ in range(25):
        page.keyboard.press("Tab")
        hidden = page.evaluate(
            "() => { const focused = document.activeElement;"
            " const shows = (each) => { const s = getComputedStyle(each);"
            "   return s.outlineStyle !== 'none' || s.boxShadow !== 'none'; };"
            " return [focused, ...focused.querySelectorAll('*')].some(shows) ? '' : focused.outerHTML; }"
        )
        assert not hidden


def test_less_motion_is_respected(browser: Browser, site: str) -> None:
    context = browser.new_context(reduced_motion="reduce")
    page = context.new_page()
    page.goto(f"{site}en/install.html")
    moving = page.locator("body *").evaluate_all(
        "all => all.filter(each => !/^(0s(, )?)+$/.test(getComputedStyle(each).animationDuration)).length"
    )
    assert moving == 0
    context.close()


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_a_page_can_be_read_without_scripts(browser: Browser, site: str, mode: str) -> None:
    context = browser.new_context(java_script_enabled=False, color_scheme=mode)
    page = context.new_page()
    page.goto(f"{site}en/features/locking.html")
    assert page.locator("main h1").is_visible()
    assert page.locator("nav[aria-label='Site navigation'] a:visible").count() > 5
    assert page.locator(".copybtn, .theme-switch-button:visible, .search-button:visible").count() == 0
    context.close()


def test_a_page_prints_without_navigation(page: Page, problems: list[str], site: str) -> None:
    page.goto(f"{site}en/features/locking.html")
    page.emulate_media(media="print")
    assert page.locator("main h1").is_visible()
    assert page.locator("header.bd-header:visible, .bd-sidebar-primary:visible, .copybtn:visible").count() == 0


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_page_has_a_policy_that_names_its_own_scripts(html: Path, docnames: list[str], language: str) -> None:
    for name in docnames:
        head = BeautifulSoup((html / language / f"{name}.html").read_text(encoding="utf-8"), "html.parser").head
        policy = head.select_one('meta[http-equiv="Content-Security-Policy"]')
        assert policy.find_previous_sibling() == head.select_one("meta[charset]"), f"{name}: something precedes it"
        assert not re.search(r"script-src[^;]*'unsafe", policy["content"])


def test_the_policy_stops_a_foreign_script(page: Page, site: str) -> None:
    page.goto(f"{site}en/install.html")
    page.evaluate("document.body.append(Object.assign(document.createElement('script'), {text: 'window.x = 1'}))")
    assert page.evaluate("window.x") is None


def test_nothing_of_the_building_machine_is_published(html: Path) -> None:
    home, project = str(Path.home()), str(Path(__file__).parents[2])
    private = re.compile(rf"{re.escape(home)}/|{re.escape(project)}|/tmp/livedoctest")
    for path in html.rglob("*"):
        if path.suffix in {".html", ".js", ".json", ".txt", ".xml", ".py", ".ipynb"}:
            found = private.search(path.read_text(encoding="utf-8"))
            assert not found, f"{path.relative_to(html)}: {found[0]}"
