"""The guide as `nox -s docs` built it, served under a prefix as documentation hosts do, in a real browser."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

ROOT = Path(__file__).parents[2]
PREFIX = "/projects/guide/"
CHROMIUM = "/usr/bin/chromium"
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


class Handler(SimpleHTTPRequestHandler):
    """Files of the site below the prefix, and nothing beside it."""

    def translate_path(self, path: str) -> str:
        return super().translate_path(path.removeprefix(PREFIX[:-1]) if path.startswith(PREFIX) else "/outside")

    def log_message(self, *arguments: Any) -> None:
        pass


@pytest.fixture(scope="session")
def html() -> Path:
    """The folder of the built site."""
    folder = ROOT / "build" / "html"
    if not (folder / "index.html").is_file():
        pytest.fail("there is no built site to test: run `nox -s docs` first (`nox -s tests` does)")
    return folder


@pytest.fixture(scope="session")
def report(html: Path) -> dict[str, Any]:
    """The report of the build."""
    return json.loads((html.parent / "verification.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def site(html: Path) -> Iterator[str]:
    """The address of the served site."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=str(html)))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}{PREFIX}"
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Chromium."""
    if not Path(CHROMIUM).is_file():
        pytest.fail(f"there is no {CHROMIUM}: `apt-get install chromium`")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


class Problems(list[str]):
    """What went wrong while a page was shown: scripts, missing files, requests to other hosts."""

    def watch(self, page: Page, site: str) -> None:
        """Collect from now on."""
        page.on("pageerror", lambda error: self.append(f"{page.url}: {error}"))
        page.on(
            "console",
            lambda message: self.append(f"{page.url}: {message.text}") if message.type == "error" else None,
        )
        page.on(
            "request",
            lambda request: None if request.url.startswith(site) else self.append(f"request to {request.url}"),
        )
        page.on(
            "response",
            lambda answer: self.append(f"{answer.status} {answer.url}") if answer.status >= 400 else None,
        )


@pytest.fixture
def problems(page: Page, site: str) -> Iterator[Problems]:
    """Problems of the page; a test fails if it leaves any."""
    found = Problems()
    found.watch(page, site)
    yield found
    assert found == []


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """An empty page of a new reader, who may read the clipboard."""
    context = browser.new_context(permissions=["clipboard-read", "clipboard-write"])
    yield context.new_page()
    context.close()


@pytest.fixture(scope="session")
def docnames(html: Path) -> list[str]:
    """Every page that both languages have, without suffix."""
    folders = [
        {str(path.relative_to(html / name)) for path in (html / name).rglob("*.html")} for name in ("en", "zh_CN")
    ]
    assert folders[0] == folders[1], "the two languages differ in their pages"
    return sorted(path.removesuffix(".html") for path in folders[0] if not path.startswith("_static"))
