"""Build tiny projects as an author would, and look at what comes out."""

from __future__ import annotations

import contextlib
import io
import json
import re
import signal
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from sphinx.cmd.build import build_main

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as in a job in the background: its processes would inherit it
    signal.signal(signal.SIGINT, signal.default_int_handler)

CONF = """extensions = ["myst_parser", "livedoctest"]
myst_enable_extensions = ["colon_fence"]
livedoctest_device = "none"
"""


@dataclass
class Site:
    """A tiny project and its last build."""

    folder: Path
    status: int = 0
    log: str = ""

    @property
    def source(self) -> Path:
        return self.folder / "source"

    @property
    def out(self) -> Path:
        return self.folder / "out"

    def write(self, name: str, text: str) -> Path:
        path = self.source / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
        return path

    def build(self, *arguments: str, builder: str = "html") -> Site:
        stream = io.StringIO()
        with contextlib.redirect_stdout(stream), contextlib.redirect_stderr(stream):
            try:
                self.status = build_main(["-b", builder, *arguments, str(self.source), str(self.out)])
            except SystemExit as stop:
                self.status = stop.code
        self.log = re.sub(r"\x1b\[[\d;]*m", "", stream.getvalue())
        return self

    @property
    def report(self) -> dict[str, Any]:
        return json.loads((self.out / "verification.json").read_text())

    def blocks(self, docname: str = "index") -> list[dict[str, Any]]:
        return next(page["blocks"] for page in self.report["pages"] if page["docname"] == docname)

    def html(self, docname: str = "index") -> str:
        return (self.out / f"{docname}.html").read_text()


@pytest.fixture
def site(tmp_path: Path) -> Callable[..., Site]:
    """Make a project: `site(index="# Title …")` or `site({"a/b.md": …}, conf="…")`."""

    def make(pages: dict[str, str] | None = None, conf: str = "", **named: str) -> Site:
        made = Site(tmp_path)
        made.write("conf.py", CONF + conf)
        for name, text in {**(pages or {}), **{f"{key}.md": value for key, value in named.items()}}.items():
            made.write(name, text)
        return made

    return make
