"""What a known address adds: canonical links, site maps, `robots.txt`, and a page for missing pages at any depth."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from bs4 import BeautifulSoup

ROOT = Path(__file__).parents[2]
ADDRESS = "https://docs.example.org/guide"


@pytest.fixture(scope="module")
def addressed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site of one page, built with the guide's configuration for an address."""
    folder = tmp_path_factory.mktemp("addressed")
    source = folder / "source"
    shutil.copytree(ROOT / "docs" / "_tutorials", source / "_tutorials", ignore=shutil.ignore_patterns("*.py"))
    front = "---\nlivedoctest: none\n---\n\n"
    (source / "index.md").write_text(f"{front}# Guide\n\nWhat it is.\n\n```{{toctree}}\npage\n```\n", encoding="utf-8")
    (source / "page.md").write_text(f"{front}# Page\n\nWhat it says.\n", encoding="utf-8")
    environment = os.environ | {"GUIDE_ADDRESS": f"{ADDRESS}/"}
    for language in ("en", "zh_CN"):
        options = ["-q", "-b", "html", "-c", str(ROOT), "-d", str(folder / language), "-D", f"language={language}"]
        options += ["-D", f"livedoctest_report={folder / 'report.json'}", "-D", f"livedoctest_cache={folder / 'cache'}"]
        command = [sys.executable, "-m", "sphinx", *options, str(source), str(folder / "html" / language)]
        subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    root = [sys.executable, "-m", "guide.root", str(folder / "html")]
    subprocess.run(root, env=environment, check=True, capture_output=True)
    return folder / "html"


@pytest.mark.parametrize("language", ["en", "zh_CN"])
def test_a_page_names_its_own_address_and_that_of_the_other_language(addressed: Path, language: str) -> None:
    head = BeautifulSoup((addressed / language / "page.html").read_text(encoding="utf-8"), "html.parser").head
    own = f"{ADDRESS}/{language}/page.html"
    assert head.select_one("link[rel=canonical]")["href"] == own
    assert head.select_one("meta[property='og:url']")["content"] == own
    assert head.select_one("meta[property='og:image']")["content"].startswith(f"{ADDRESS}/{language}/_static/")
    assert {link["hreflang"]: link["href"] for link in head.select("link[rel=alternate]")} == {
        "en": f"{ADDRESS}/en/page.html",
        "zh-CN": f"{ADDRESS}/zh_CN/page.html",
        "x-default": f"{ADDRESS}/index.html",
    }


def test_the_site_maps_name_every_page_in_both_languages(addressed: Path) -> None:
    robots = (addressed / "robots.txt").read_text(encoding="utf-8")
    for language in ("en", "zh_CN"):
        assert f"Sitemap: {ADDRESS}/{language}/sitemap.xml\n" in robots
        site_map = ElementTree.parse(addressed / language / "sitemap.xml").getroot()
        assert f"{ADDRESS}/{language}/page.html" in [each.text for each in site_map.iterfind("{*}url/{*}loc")]
        assert {link.get("hreflang") for link in site_map.iterfind("{*}url/{*}link")} == {"en", "zh-CN"}


def test_the_page_for_missing_pages_leads_back_from_any_depth(addressed: Path) -> None:
    page = BeautifulSoup((addressed / "404.html").read_text(encoding="utf-8"), "html.parser")
    links = [link["href"] for link in page.select("main a")]
    assert [link for link in links if link.endswith("index.html")] == [
        "/guide/en/index.html",
        "/guide/zh_CN/index.html",
    ]
    assert all(link.startswith("/guide/") for link in links)
