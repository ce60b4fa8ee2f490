"""Finding one's way: pages load by themselves, the language switch, the root page, the search."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import quote

import pytest
from bs4 import BeautifulSoup
from playwright.sync_api import Browser, Page, expect

LANGUAGES = {"en": "en", "zh_CN": "zh-CN"}
OTHER = {"en": "zh_CN", "zh_CN": "en"}
HEADING = "main section[id] section[id]"  # a section below the title


def results(page: Page, site: str, language: str, query: str) -> list[str]:
    """The addresses that a search finds, without anchors."""
    page.goto(f"{site}{language}/search.html?q={quote(query)}")
    page.locator("#search-results .search-summary", has_text=re.compile(r"\S")).wait_for()
    links = page.locator("#search-results ul.search li a").evaluate_all("links => links.map(each => each.href)")
    return [link.removeprefix(f"{site}{language}/").partition("#")[0] for link in links]


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_page_loads_without_errors_or_other_hosts(
    page: Page, problems: list[str], site: str, docnames: list[str], language: str
) -> None:
    for name in docnames:
        page.goto(f"{site}{language}/{name}.html")


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_page_names_its_language_and_the_other_one(html: Path, docnames: list[str], language: str) -> None:
    for name in docnames:
        path = html / language / f"{name}.html"
        page = BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")
        assert page.html["lang"] == LANGUAGES[language]
        assert page.select_one("meta[name=description]")["content"]
        assert len(page.select("main h1")) == 1
        switches = page.select("a.language-switch")
        assert switches
        for switch in switches:
            assert (path.parent / switch["href"]).resolve() == html / OTHER[language] / f"{name}.html"
            assert switch["lang"] == switch["hreflang"] == LANGUAGES[OTHER[language]]


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_link_to_other_documentation_says_what_it_leads_to(html: Path, docnames: list[str], language: str) -> None:
    for name in docnames:
        page = BeautifulSoup((html / language / f"{name}.html").read_text(encoding="utf-8"), "html.parser")
        links = page.select("a.extlink-torch-page, a.extlink-npu-docs")
        paths = [link.text for link in links if f"{link['href']}".removesuffix(".html").endswith(f"/{link.text}")]
        assert paths == [], name


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_switch_keeps_page_and_anchor(page: Page, problems: list[str], site: str, language: str) -> None:
    page.goto(f"{site}{language}/install.html")
    anchor = page.locator(HEADING).first.get_attribute("id")
    page.goto(f"{site}{language}/install.html#{anchor}")
    page.locator("a.language-switch:visible").click()
    page.wait_for_url(f"{site}{OTHER[language]}/install.html#{anchor}")
    assert page.locator(f"section#{anchor}").count() == 1


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_phone_shows_the_whole_width_of_a_page(
    browser: Browser, site: str, docnames: list[str], language: str
) -> None:
    context = browser.new_context(viewport={"width": 360, "height": 740})
    page = context.new_page()
    for name in docnames:
        page.goto(f"{site}{language}/{name}.html")
        assert page.evaluate("document.documentElement.scrollWidth") <= 360, name
    context.close()


def test_the_switch_keeps_the_query_of_a_search(page: Page, problems: list[str], site: str) -> None:
    page.goto(f"{site}en/search.html?q=npu")
    page.locator("a.language-switch:visible").click()
    page.wait_for_url(f"{site}zh_CN/search.html?q=npu")


def test_the_switch_works_from_the_keyboard(page: Page, problems: list[str], site: str) -> None:
    page.goto(f"{site}en/install.html")
    for _ in range(20):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.matches('a.language-switch')"):
            break
    page.keyboard.press("Enter")
    page.wait_for_url(f"{site}zh_CN/install.html")


def test_the_switch_works_without_scripts(browser: Browser, site: str) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{site}en/install.html")
    page.locator("a.language-switch:visible").click()
    page.wait_for_url(f"{site}zh_CN/install.html")
    context.close()


@pytest.mark.parametrize(
    ("locale", "expected"), [("en-GB", "en"), ("zh-TW", "zh_CN"), ("zh-CN", "zh_CN"), ("de-DE", "en")]
)
def test_the_root_page_opens_the_language_of_the_browser(
    browser: Browser, site: str, locale: str, expected: str
) -> None:
    context = browser.new_context(locale=locale)
    page = context.new_page()
    page.goto(site)
    page.wait_for_url(f"{site}{expected}/index.html")
    context.close()


def test_the_root_page_remembers_the_choice(page: Page, problems: list[str], site: str) -> None:
    page.goto(f"{site}en/index.html")
    page.locator("a.language-switch:visible").click()
    page.wait_for_url(f"{site}zh_CN/index.html")
    page.goto(site)
    page.wait_for_url(f"{site}zh_CN/index.html")


def test_the_root_page_offers_both_languages_without_scripts(browser: Browser, site: str) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(site)
    links = page.locator("main a").evaluate_all("links => links.map(each => each.href)")
    assert links == [f"{site}en/index.html", f"{site}zh_CN/index.html"]
    context.close()


def test_the_site_works_from_a_folder(page: Page, html: Path) -> None:
    page.goto((html / "index.html").as_uri())
    page.wait_for_url((html / "en" / "index.html").as_uri())
    page.locator("a.language-switch:visible").click()
    page.wait_for_url((html / "zh_CN" / "index.html").as_uri())


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("batch_size", "features/construction.html"),
        ("npu:0", "features/construction.html"),
        ("torch_npu", "install.html"),
        ("107001", "troubleshooting.html"),
        ("where", "features/tensor-like.html"),
    ],
)
def test_search_finds_api_names_and_codes_of_errors(
    page: Page, problems: list[str], site: str, language: str, query: str, expected: str
) -> None:
    assert expected in results(page, site, language, query)


@pytest.mark.parametrize(
    ("language", "query", "word"), [("en", "isend irecv", "isend"), ("zh_CN", "锁页内存", "锁页内存")]
)
def test_search_leads_to_sections_that_hold_the_words(
    page: Page, problems: list[str], site: str, language: str, query: str, word: str
) -> None:
    results(page, site, language, query)
    page.wait_for_selector(".search-sections a")
    section = page.locator(".search-sections li").first
    assert word in section.inner_text()
    section.locator("a").click()
    page.wait_for_url(f"{site}{language}/**#*")
    assert word in page.locator(page.evaluate("location.hash")).inner_text()


@pytest.mark.parametrize(
    ("language", "query", "expected"),
    [
        ("en", "out of memory", "troubleshooting"),
        ("en", "OOM", "troubleshooting"),
        ("en", "checkpoint", "cookbook/resume-training"),
        ("en", "EMA", "cookbook/moving-average"),
        ("en", "multi-node", "features/distributed"),
        ("en", "random seed", "features/functional"),
        ("en", "distributed training", "features/distributed"),
        ("en", "multiple machines", "features/distributed"),
        ("en", "docker", "install"),
        ("en", "memory leak", "troubleshooting"),
        ("en", "performance", "overview"),
        ("en", "overflow", "guides/dtypes"),
        ("en", "FSDP", "guides/devices"),
        ("zh_CN", "发送 接收", "features/distributed"),
        ("zh_CN", "分布式", "features/distributed"),
        ("zh_CN", "多机", "features/distributed"),
        ("zh_CN", "断点续训", "cookbook/resume-training"),
        ("zh_CN", "显存不足", "troubleshooting"),
        ("zh_CN", "经验回放", "features/preallocation"),
        ("zh_CN", "分布式训练", "features/distributed"),
        ("zh_CN", "卡死", "troubleshooting"),
        ("zh_CN", "确定性计算", "cookbook/resume-training"),
        ("zh_CN", "加载模型", "features/state-dict"),
        ("zh_CN", "数据加载", "cookbook/dataset"),
        ("zh_CN", "溢出", "guides/dtypes"),
        ("zh_CN", "性能", "overview"),
    ],
)
def test_search_puts_the_best_page_for_the_words_of_a_reader_first(
    page: Page, problems: list[str], site: str, language: str, query: str, expected: str
) -> None:
    results(page, site, language, query)
    first = page.locator("#search-results ul.search > li a").first
    expect(first).to_have_attribute("href", re.compile(rf"(^|/){expected}\.html"))


@pytest.mark.parametrize("query", ["批量大小", "张量", "嵌套", "键", "批量大小 batch_size", "batch_size批量"])
def test_search_finds_chinese_words(page: Page, problems: list[str], site: str, query: str) -> None:
    assert "features/construction.html" in results(page, site, "zh_CN", query)


def test_search_finds_any_piece_of_a_chinese_sentence(page: Page, problems: list[str], site: str, html: Path) -> None:
    page.goto(f"{site}zh_CN/install.html")
    sentence = page.locator("main p").first.inner_text()
    runs = [run for run in split_han(sentence) if len(run) >= 5]
    assert runs
    for query in [run[start : start + 4] for run in runs for start in range(len(run) - 3)][:8]:
        assert "install.html" in results(page, site, "zh_CN", query), query


def test_search_says_when_there_is_nothing(page: Page, problems: list[str], site: str) -> None:
    assert results(page, site, "zh_CN", "龘龘") == []
    assert results(page, site, "en", "qwertyuiop") == []


def split_han(text: str) -> list[str]:
    """The runs of Chinese characters in a text."""
    return "".join(each if "\u4e00" <= each <= "\u9fff" else " " for each in text).split()


def test_only_pages_of_the_gallery_load_its_scripts(html: Path, docnames: list[str]) -> None:
    pages = {name: (html / "en" / f"{name}.html").read_text(encoding="utf-8") for name in docnames}
    loading = {name for name, text in pages.items() if "_static/sg-" in text}
    assert loading == {name for name, text in pages.items() if 'class="sphx-glr' in text} != set()
