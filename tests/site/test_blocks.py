"""What readers see and take of the blocks: the copied program, the marks and the foot of a page."""

from __future__ import annotations

import itertools
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from bs4 import BeautifulSoup
from playwright.sync_api import Page

ROOT = Path(__file__).parents[2]
LANGUAGES = ("en", "zh_CN")
OPTIONS = re.compile(r"\s*#\s*doctest:.*$", re.MULTILINE)
BLOCK_OF_BUTTON = """button => {
    const marks = [...document.querySelectorAll('[data-livedoctest]')];
    const mark = marks.find(each => button.compareDocumentPosition(each) & Node.DOCUMENT_POSITION_FOLLOWING);
    return mark ? mark.dataset.livedoctest : null;
}"""


def program(block: dict[str, Any]) -> str:
    """The program of a block, read from the source of its page without any of the engine's code."""
    lines = (ROOT / "docs" / block["source"]).read_text(encoding="utf-8").splitlines()
    if block["source"].endswith(".py"):  # the script of a tutorial: code up to the next cell of text
        return "\n".join(itertools.takewhile(lambda line: line != "# %%", lines[block["line"] - 1 :]))
    fence = next(
        line for line in reversed(lines[: block["line"] - 1]) if re.match(r"[\s>]*(`{3,}|~{3,}|:{3,})\{", line)
    )
    mark = re.search(r"`{3,}|~{3,}|:{3,}", fence)[0]  # type: ignore[index]
    text = textwrap.dedent(
        "\n".join(itertools.takewhile(lambda line: line.strip() != mark, lines[block["line"] - 1 :]))
    )
    if block["kind"] == "doctest":
        rows = re.findall(r"^>>>(?: .*)?$(?:\n\.\.\.(?: .*)?$)*", text, re.MULTILINE)
        return OPTIONS.sub("", "\n".join(line[4:] for row in rows for line in row.split("\n")))
    if block["kind"] == "testconsole":
        return "\n".join(line[2:] for line in text.splitlines() if line.startswith(("$ ", "> ")))
    return OPTIONS.sub("", text)


def read(html: Path, language: str, docname: str) -> BeautifulSoup:
    """A page as it was written."""
    return BeautifulSoup((html / language / f"{docname}.html").read_text(encoding="utf-8"), "html.parser")


def copied(page: Page) -> Iterator[tuple[str | None, str]]:
    """Press every copy button of a page; the id of its block and the clipboard."""
    page.wait_for_load_state("load")
    page.wait_for_timeout(300)  # the buttons come after the library
    for button in page.locator("button.copybtn").all():
        page.evaluate("navigator.clipboard.writeText('nothing was copied')")
        button.dispatch_event("click")
        # Not wait_for_function, here and elsewhere: it evaluates strings in the page, which its policy forbids.
        while (text := page.evaluate("navigator.clipboard.readText()")) == "nothing was copied":
            page.wait_for_timeout(10)
        yield button.evaluate(BLOCK_OF_BUTTON), text


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_copy_button_copies_exactly_the_program(
    page: Page, problems: list[str], site: str, report: dict[str, Any], language: str
) -> None:
    for entry in report["pages"]:
        blocks = {block["id"]: block for block in entry["blocks"]}
        page.goto(f"{site}{language}/{entry['docname']}.html")
        shown = page.locator("[data-livedoctest]").evaluate_all("marks => marks.map(each => each.dataset.livedoctest)")
        found = dict(copied(page))
        assert page.locator(":is(.livedoctest-output, .livedoctest-warning) .copybtn").count() == 0
        assert [each for each in found if each in blocks] == shown, f"{entry['docname']}: a block has no copy button"
        for name in shown:
            assert found[name].rstrip("\n") == program(blocks[name]).rstrip("\n"), (
                f"{blocks[name]['source']}:{blocks[name]['line']}"
            )


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_page_is_copied_as_the_script_that_it_offers(
    page: Page, problems: list[str], site: str, report: dict[str, Any], language: str
) -> None:
    for entry in report["pages"]:
        page.goto(f"{site}{language}/{entry['docname']}.html")
        button = page.locator("button.copy-script")
        assert button.count() == bool(entry["blocks"]), entry["docname"]
        if entry["blocks"]:
            address = page.locator("article a[download][href$='.py']").first.evaluate("link => link.href")
            button.click()
            page.locator("button.copy-script", has_text=re.compile("^(copied|已复制)$")).wait_for()
            assert page.evaluate("navigator.clipboard.readText()") == page.request.get(address).text()


def test_a_page_that_cannot_be_copied_says_so(page: Page, site: str) -> None:
    page.goto(f"{site}en/features/locking.html")
    page.route("**/*.py", lambda route: route.abort())
    page.locator("button.copy-script").click()
    page.locator("button.copy-script", has_text="not copied").wait_for()


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_foot_of_a_page_counts_its_blocks(html: Path, report: dict[str, Any], language: str) -> None:
    for entry in report["pages"]:
        foots = read(html, language, entry["docname"]).select(".livedoctest-foot")
        assert len(foots) == bool(entry["blocks"])
        if foots:
            text = foots[0].get_text(" ")
            passed = sum(block["status"] == "passed" for block in entry["blocks"])
            assert {str(passed), str(len(entry["blocks"]))} <= set(re.findall(r"\d+", text)), text
            assert report["device"]["name"] in text
            assert report["device"]["torch_npu"] in text


def test_both_languages_show_the_same_code_and_outputs(html: Path, report: dict[str, Any]) -> None:
    for entry in report["pages"]:
        english, chinese = (
            [block.get_text() for block in read(html, language, entry["docname"]).select(".highlight pre")]
            for language in LANGUAGES
        )
        assert english == chinese, entry["docname"]


def test_everything_on_the_pages_was_verified(report: dict[str, Any]) -> None:
    assert report["totals"]["failed"] == 0
    assert report["totals"]["passed"] > 0
    assert all(
        block["reason"] for entry in report["pages"] for block in entry["blocks"] if block["status"] == "skipped"
    )
