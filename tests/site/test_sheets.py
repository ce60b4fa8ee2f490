"""The one style sheet of a site: what it keeps, what it leaves out, and that later builds keep it true."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from fontTools.ttLib import TTFont
from playwright.sync_api import Browser

ROOT = Path(__file__).parents[2]
CONF = """extensions = ["guide.sheets"]
html_theme = "pydata_sphinx_theme"
html_static_path = ["static"]
html_css_files = ["own.css"]
html_js_files = ["own.js"]
"""
OWN = """@charset "UTF-8";
@import "sub/more.css";
.used { color: red }
.unused { color: red }
.used .unused, .used:not(.unused) { color: red }
.by-script, .put-together, .putting-together { color: red }
@media print { .used { color: red } }
@media screen { .unused { color: red } }
.used::before { content: "\\f015"; background: url(dot.svg) }
"""
MORE = '.used { background: url("dot.svg") } .used b { background: url(#part) }'
PAGE = "Title\n=====\n\n.. container:: {}\n\n   Words.\n"
RULES_WITHOUT_ELEMENTS = """original => {
    const kept = new Set(), missing = new Set();
    const visit = (rules, seen) => [...rules].forEach(rule => {
        if (rule.selectorText) rule.selectorText.split(/,(?![^(]*[)])/).forEach(each => seen.add(each.trim()));
        if (rule.cssRules) visit(rule.cssRules, seen);
    });
    visit(document.querySelector("link[data-sheets]").sheet.cssRules, kept);
    const all = new Set(), sheet = new CSSStyleSheet();
    sheet.replaceSync(original);
    visit(sheet.cssRules, all);
    const found = selector => {
        try {
            return document.querySelector(selector.replace(/::?(before|after|placeholder|[a-z-]*webkit[a-z-]*)/g, ""));
        } catch {
            return null;  // for another browser
        }
    };
    return [all.size, [...all].filter(selector => !kept.has(selector) && found(selector))];
}"""


def build(folder: Path, builder: str = "html") -> str:
    """Build the small site in `folder`, and return what Sphinx says of faults."""
    command = [sys.executable, "-m", "sphinx", "-q", "-b", builder, str(folder), str(folder / "out")]
    environment = os.environ | {"PYTHONPATH": str(ROOT / "docs" / "_ext")}
    return subprocess.run(command, env=environment, capture_output=True, text=True).stderr


def sheet(folder: Path, page: str = "index.html") -> str:
    """The one sheet that a page names."""
    path = folder / "out" / page
    (href,) = re.findall(r'<link[^>]*rel="stylesheet"[^>]*href="([^"]*)"', path.read_text(encoding="utf-8"))
    return (path.parent / href).read_text(encoding="utf-8")


@pytest.fixture
def site_folder(tmp_path: Path) -> Path:
    """A small site of two pages, not built yet."""
    files = {
        "conf.py": CONF,
        "index.rst": PAGE.format("used") + "\n.. toctree::\n\n   sub/page\n",
        "sub/page.rst": PAGE.format("plain"),
        "static/own.css": OWN,
        "static/own.js": 'add("highlight", "k"); const name = "together"; add("by-script", "put-" + name);',
        "static/dot.svg": "<svg xmlns='http://www.w3.org/2000/svg'/>",
        "static/sub/more.css": MORE,
        "static/sub/dot.svg": "<svg xmlns='http://www.w3.org/2000/svg'/>",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(("builder", "page"), [("html", "sub/page.html"), ("dirhtml", "sub/page/index.html")])
def test_pages_name_one_sheet_with_the_rules_that_they_use(site_folder: Path, builder: str, page: str) -> None:
    assert build(site_folder, builder) == ""
    text = sheet(site_folder)
    assert text == sheet(site_folder, page)
    own = text[text.index(".used") :]
    assert re.findall(r"[^\s{}]*used[^{}]*(?=\{)", own) == [
        ".used", ".used b", ".used", ".used:not(.unused)", ".used", ".used::before",
    ]  # fmt: skip
    assert ".by-script,.put-together{" in own  # a script puts the second one together
    assert "@media screen" not in own
    assert 'html[data-theme="dark"] .highlight .k' in text  # the theme writes it after the build
    assert len(text) < (site_folder / "out/_static/styles/pydata-sphinx-theme.css").stat().st_size / 2


def test_addresses_in_the_sheet_lead_to_the_files(site_folder: Path) -> None:
    build(site_folder)
    (folder,) = (site_folder / "out/_static").glob("sheet-*")
    addresses = re.findall(r'url\("?([^")]*)"?\)', (folder / "all.css").read_text(encoding="utf-8"))
    files = [(folder / each).resolve() for each in addresses if not each.startswith(("data:", "#"))]
    static = (site_folder / "out/_static").resolve()
    assert {static / "dot.svg", static / "sub/dot.svg", folder.resolve() / "fa-solid-900.woff2"} <= set(files)
    assert all(path.is_file() for path in files)


def test_a_font_of_icons_has_those_that_the_sheet_shows(site_folder: Path) -> None:
    build(site_folder)
    (path,) = (site_folder / "out/_static").glob("sheet-*/fa-solid-900.woff2")
    assert 0xF015 in TTFont(path).getBestCmap()
    assert path.stat().st_size < 10_000


def test_a_later_build_adds_the_rules_of_a_changed_page(site_folder: Path) -> None:
    build(site_folder)
    before = sheet(site_folder)
    assert build(site_folder) == ""
    assert sheet(site_folder) == before
    (site_folder / "sub/page.rst").write_text(PAGE.format("unused"), encoding="utf-8")
    assert build(site_folder) == ""
    assert "\n.unused{" in sheet(site_folder) == sheet(site_folder, "sub/page.html")
    assert len(list((site_folder / "out/_static").glob("sheet-*"))) == 1


def test_a_later_build_takes_a_changed_sheet(site_folder: Path) -> None:
    build(site_folder)
    (site_folder / "static/own.css").write_text(OWN.replace("red", "blue"), encoding="utf-8")
    (site_folder / "static/sub/more.css").write_text(MORE.replace("#part", "#whole"), encoding="utf-8")
    assert build(site_folder) == ""
    assert "blue" in sheet(site_folder)
    assert "#whole" in sheet(site_folder)


@pytest.mark.parametrize(
    "line", ['@import "https://example.org/a.css";', '@import "sub/more.css" print;', "@import none;"]
)
def test_an_import_that_cannot_be_bundled_is_an_error(site_folder: Path, line: str) -> None:
    (site_folder / "static/own.css").write_text(f"\n{line}", encoding="utf-8")
    said = build(site_folder)
    assert f"own.css:2: cannot bundle `{line[:-1]}`" in said
    assert not list((site_folder / "out/_static").glob("sheet-*"))


def test_a_sheet_with_a_mistake_is_an_error(site_folder: Path) -> None:
    (site_folder / "static/own.css").write_text("\n.used { color: red } }", encoding="utf-8")
    assert "own.css:2: " in build(site_folder)


@pytest.mark.parametrize("language", ["en", "zh_CN"])
def test_no_rule_that_applies_to_an_element_is_left_out(browser: Browser, site: str, html: Path, language: str) -> None:
    context = browser.new_context(bypass_csp=True)
    page = context.new_page()
    static = html / language / "_static"
    originals = ("styles/pydata-sphinx-theme.css", "basic.css", "sphinx-design.min.css", "sg_gallery.css", "guide.css")
    original = "\n".join((static / name).read_text(encoding="utf-8") for name in originals)
    for name in ("index", "features/nesting", "verification", "search", "tutorials/devices_and_files"):
        page.goto(f"{site}{language}/{name}.html?q=lock&highlight=lock")
        page.locator(".theme-switch-button:visible").first.hover()  # shows a tooltip
        page.locator(".tooltip").first.wait_for(state="attached")
        page.locator(".search-button__button:visible").first.click()
        rules, lost = page.evaluate(RULES_WITHOUT_ELEMENTS, original)
        assert rules > 1000
        assert lost == [], name
    context.close()
