"""How pages look: on a phone, on paper, without scripts, in Chinese; and pictures of some, to be looked at."""

from __future__ import annotations

import itertools
import re
from pathlib import Path
from typing import Any

import pytest
from bs4 import BeautifulSoup
from playwright.sync_api import Browser, Page

LANGUAGES = ("en", "zh_CN")
SCREENSHOTS = Path(__file__).parents[2] / "build" / "screenshots"
ENGLISH = re.compile(r"[A-Za-z][A-Za-z'’-]+(?:[\s,]+[A-Za-z][A-Za-z'’-]+){3,}")  # four words in a row
CHINESE = re.compile("[\u4e00-\u9fff]")
QUOTED = re.compile('“[^”]*”|"[^"]*"')  # what a program says
SPOKEN = ("title", "aria-label", "placeholder", "alt", "data-tooltip")
PARENTS = "each => { const all = []; for (let up = each; up; up = up.parentElement) all.push(up); return all; }"
SHOWN = """all => all.map(each => {
    let ground = each;
    while (ground.parentElement && getComputedStyle(ground).backgroundColor === "rgba(0, 0, 0, 0)")
        ground = ground.parentElement;
    const own = getComputedStyle(each);
    return {
        background: getComputedStyle(ground).backgroundColor, border: own.borderTopStyle, shadow: own.boxShadow,
        size: own.fontSize,
    };
})"""
SCROLLS = f"foot => ({PARENTS})(foot).filter(each => getComputedStyle(each).overflowY !== 'visible').length"


def chinese(html: Path, name: str) -> BeautifulSoup:
    """A Chinese page without what is not translated: code, and names of documents in other languages."""
    page = BeautifulSoup((html / "zh_CN" / f"{name}.html").read_text(encoding="utf-8"), "html.parser")
    for part in page.select("script, style, pre, code, a.external, [lang=en]"):
        part.decompose()
    return page


def test_a_chinese_page_has_no_english_sentences(html: Path, docnames: list[str]) -> None:
    found = [
        f"{name}: {match[0]}"
        for name in docnames
        for text in chinese(html, name).body.stripped_strings
        for match in ENGLISH.finditer(QUOTED.sub("", text))
    ]
    assert found == []


def test_all_that_a_chinese_page_says_to_screen_readers_is_chinese(html: Path, docnames: list[str]) -> None:
    found = {
        f"{name}: {attribute}={part[attribute]!r}"
        for name in docnames
        for part in chinese(html, name).select(", ".join(f"[{attribute}]" for attribute in SPOKEN))
        for attribute in SPOKEN
        if part.get(attribute, "").strip() and not CHINESE.search(part[attribute])
    }
    assert found == set()


def test_what_scripts_add_to_a_chinese_page_is_chinese(page: Page, problems: list[str], site: str) -> None:
    page.goto(f"{site}zh_CN/features/locking.html")
    page.locator(".copybtn").first.wait_for(state="attached")
    for words in page.locator("button").evaluate_all(
        "all => all.map(each => [each.textContent, each.title, each.ariaLabel, each.dataset.tooltip].join(' '))"
    ):
        assert CHINESE.search(words) or not words.strip(), words


def test_a_picture_on_a_chinese_page_is_chinese_unless_all_its_words_are_code(html: Path, docnames: list[str]) -> None:
    pictures = 0
    for name in docnames:
        page = BeautifulSoup((html / "zh_CN" / f"{name}.html").read_text(encoding="utf-8"), "html.parser")
        code = " ".join(part.get_text() for part in page.select("pre, code"))
        for image in page.select("article img[src$='.svg']"):
            pictures += 1
            picture = (html / "zh_CN" / name).parent / image["src"]
            drawn = BeautifulSoup(picture.read_text(encoding="utf-8"), "html.parser")
            text = " ".join(part.get_text() for part in drawn.select("text"))
            foreign = [word for word in re.findall("[A-Za-z]{3,}", text) if word not in code]
            assert CHINESE.search(text) or not foreign, f"{name}: {image['src']}: {foreign}"
    assert pictures > 0


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_picture_keeps_its_distance_from_the_text_below(page: Page, site: str, html: Path, language: str) -> None:
    pages = [path for path in (html / language).rglob("*.html") if 'class="diagram' in path.read_text(encoding="utf-8")]
    assert pages
    for path in pages:
        page.goto(f"{site}{language}/{path.relative_to(html / language)}")
        gaps = page.locator("article .diagram").evaluate_all(
            "all => all.filter(each => each.nextElementSibling).map("
            "each => each.nextElementSibling.getBoundingClientRect().top - each.getBoundingClientRect().bottom)"
        )
        assert all(gap >= 10 for gap in gaps), f"{path}: {gaps}"


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_words_of_a_diagram_can_be_read_on_a_phone(browser: Browser, site: str, html: Path, language: str) -> None:
    context = browser.new_context(viewport={"width": 360, "height": 740})
    page = context.new_page()
    pages = [path for path in (html / language).rglob("*.html") if "/_images/" in path.read_text(encoding="utf-8")]
    assert pages
    for path in pages:
        page.goto(f"{site}{language}/{path.relative_to(html / language)}")
        for image in page.locator("article img[src$='.svg']").all():
            drawing = (path.parent / image.get_attribute("src")).read_text(encoding="utf-8")  # type: ignore[operator]
            scale = image.evaluate("each => each.getBoundingClientRect().width / each.naturalWidth")
            sizes = [float(size) * scale for size in re.findall(r"""font-size[=:] *["']?([0-9.]+)""", drawing)]
            assert sizes, path
            assert min(sizes) >= 10.5, f"{path}: {sizes}"


def test_a_diagram_that_is_wider_than_a_phone_scrolls_from_the_keyboard(browser: Browser, site: str) -> None:
    context = browser.new_context(viewport={"width": 360, "height": 740}, reduced_motion="reduce")
    page = context.new_page()
    page.goto(f"{site}zh_CN/features/nesting.html")
    box = page.get_by_role("group", name="示意图")
    box.focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_timeout(500)
    assert box.evaluate("each => each.scrollLeft") > 0
    context.close()


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_an_output_looks_unlike_code_but_has_its_size(browser: Browser, site: str, mode: str) -> None:
    context = browser.new_context(color_scheme=mode)
    page = context.new_page()
    page.goto(f"{site}en/install.html")
    styles = {
        part: page.locator(f"article {part}").evaluate_all(SHOWN)
        for part in (".livedoctest-program pre", ".livedoctest-output pre", ".highlight-console .go")
    }
    assert all(styles.values())
    backgrounds = {part: {each["background"] for each in found} for part, found in styles.items()}
    (behind_code,) = backgrounds[".livedoctest-program pre"]
    assert behind_code not in backgrounds[".livedoctest-output pre"]
    assert len({each["size"] for found in styles.values() for each in found}) == 1
    context.close()


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("mode", ["light", "dark"])
def test_the_note_of_the_gallery_is_a_line_without_a_box(browser: Browser, site: str, language: str, mode: str) -> None:
    context = browser.new_context(color_scheme=mode)
    page = context.new_page()
    page.goto(f"{site}{language}/tutorials/devices_and_files.html")
    note = page.locator(".sphx-glr-download-link-note")
    assert note.locator("a").is_visible()
    assert note.locator(".admonition-title").is_hidden()
    (shown,) = note.evaluate_all(SHOWN)
    assert shown["background"] == page.locator("body").evaluate_all(SHOWN)[0]["background"]
    assert shown["border"] == shown["shadow"] == "none"
    assert note.bounding_box()["height"] < 60  # type: ignore[index]
    context.close()


@pytest.mark.parametrize("width", [360, 1280])
@pytest.mark.parametrize("mode", ["light", "dark"])
def test_the_search_dialog_is_whole_and_stands_out(browser: Browser, site: str, mode: str, width: int) -> None:
    context = browser.new_context(viewport={"width": width, "height": 740}, color_scheme=mode, reduced_motion="reduce")
    page = context.new_page()
    page.goto(f"{site}zh_CN/index.html")
    page.locator(".search-button__button:visible").click()
    field = page.locator("#pst-search-dialog input[type=search]")
    assert field.evaluate("each => each === document.activeElement")
    assert field.get_attribute("placeholder") == "搜索本指南"
    box, inner = page.locator("#pst-search-dialog").bounding_box(), field.bounding_box()
    assert box
    assert inner
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= width
    assert inner["width"] >= 180
    colour = "each => getComputedStyle(each, '::backdrop').backgroundColor"
    assert page.locator("#pst-search-dialog").evaluate(colour) not in ("rgba(0, 0, 0, 0)", "transparent")
    context.close()


@pytest.mark.parametrize("width", [360, 800, 1100, 1280])
def test_the_path_to_a_page_starts_where_its_title_does(browser: Browser, site: str, width: int) -> None:
    context = browser.new_context(viewport={"width": width, "height": 900})
    page = context.new_page()
    page.goto(f"{site}en/features/nesting.html")
    left = "each => each.getBoundingClientRect().left"
    starts = [page.locator(part).first.evaluate(left) for part in (".breadcrumb-home a", "article h1")]
    assert abs(starts[0] - starts[1]) <= 1
    context.close()


def test_the_header_of_a_phone_has_search_and_language(browser: Browser, site: str) -> None:
    context = browser.new_context(viewport={"width": 360, "height": 740})
    page = context.new_page()
    for language in LANGUAGES:
        page.goto(f"{site}{language}/features/nesting.html")
        boxes = [
            page.locator(f"header {part}:visible").bounding_box()
            for part in (
                ".primary-toggle",
                ".navbar-brand",
                ".search-button__button",
                ".language-switch",
                ".secondary-toggle",
            )
        ]
        for left, right in itertools.pairwise(boxes):
            assert left["x"] + left["width"] <= right["x"] + 1  # type: ignore[index]
    context.close()


def test_a_page_without_scripts_is_light_in_every_mode(browser: Browser, site: str) -> None:
    context = browser.new_context(java_script_enabled=False, color_scheme="dark")
    page = context.new_page()
    page.goto(f"{site}en/features/nesting.html")
    colour = "(each, name) => getComputedStyle(each)[name].match(/[0-9]+/g).slice(0, 3).map(Number)"
    assert min(page.locator("body").evaluate(colour, "backgroundColor")) > 230
    assert max(page.locator(".logo__title").evaluate(colour, "color")) < 100
    context.close()


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_the_first_visit_shows_the_mode_of_the_system_at_once(browser: Browser, site: str, mode: str) -> None:
    context = browser.new_context(color_scheme=mode)
    page = context.new_page()
    page.route("**/*.js*", lambda route: route.abort())  # only what is in the page itself
    page.goto(f"{site}en/index.html")
    assert page.locator("html").get_attribute("data-theme") == mode
    context.close()


def test_a_dark_page_prints_light(browser: Browser, site: str) -> None:
    context = browser.new_context(color_scheme="dark")
    page = context.new_page()
    page.goto(f"{site}en/features/nesting.html")
    themes = []
    for event in ("beforeprint", "afterprint"):
        page.evaluate("name => dispatchEvent(new Event(name))", event)
        themes.append(page.locator("html").get_attribute("data-theme"))
    assert themes == ["light", "dark"]
    context.close()


def test_a_printed_page_keeps_its_end(page: Page, site: str) -> None:
    page.goto(f"{site}en/features/nesting.html")
    page.emulate_media(media="print")
    assert page.locator("article .livedoctest-foot").is_visible()
    assert page.locator("article .livedoctest-foot").evaluate(SCROLLS) == 0


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_landing_page_says_what_was_verified(html: Path, report: dict[str, Any], language: str) -> None:
    page = BeautifulSoup((html / language / "index.html").read_text(encoding="utf-8"), "html.parser")
    facts = page.select_one("#what-is-verified-right-now").get_text(" ")
    pages = sum(bool(entry["blocks"]) for entry in report["pages"])
    assert {str(report["totals"]["passed"]), str(pages)} <= set(re.findall(r"\d+", facts))
    device = report["device"]
    assert all(device[name] in facts for name in ("name", "torch", "torch_npu", "tensordict", "cann", "python"))
    simulated = {"en": "simulated NPU", "zh_CN": "模拟 NPU"}[language]
    assert (simulated in facts) == (device["kind"] == "simulated")
    assert page.select_one("#what-is-verified-right-now > p a")["href"].endswith("verification.html")


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", ["index", "features/nesting", "verification"])
def test_a_picture_of_a_page_is_kept(browser: Browser, site: str, language: str, name: str) -> None:
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    page.goto(f"{site}{language}/{name}.html")
    path = SCREENSHOTS / f"{name.replace('/', '-')}.{language}.png"
    page.screenshot(path=path, full_page=True)
    assert path.stat().st_size > 10_000  # an empty page is smaller
    context.close()
