"""What must hold of a page as a whole: its file, the encoding, what front matter says of blocks, and used files."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util.matching import Matcher

from livedoctest.block import Block, Finding, Page
from livedoctest.problems import Stop

CHOSEN = 800  # priority: others have chosen which pages are read


def check_declaration(page: Page, declared: str, path: Path) -> None:
    """What the front matter says of blocks must be so: a page without any says `livedoctest: none`."""
    runs = any(block.kind in ("doctest", "testcode", "testconsole") and not block.norun for block in page.blocks)
    rows = path.read_text(encoding="utf-8", errors="replace").splitlines() if declared else []
    line = next((number for number, row in enumerate(rows, 1) if re.match(r":?livedoctest\s*:", row)), 1)
    if declared == "none" and runs:
        words = "The front matter says `livedoctest: none`, but the page has blocks that run."
        page.findings.append(Finding("CONTRADICTION", page.source, line, words))
    elif declared not in ("", "none"):
        words = f"The front matter says `livedoctest: {declared}`; the only value is none."
        page.findings.append(Finding("CONTRADICTION", page.source, line, words))
    elif not (declared or runs or page.findings):
        words = "No block of this page runs; say `livedoctest: none` in its front matter if that is meant."
        page.findings.append(Finding("EMPTY_PAGE", page.source, 1, words))


def unused_files(page: Page) -> Iterator[Finding]:
    """File blocks that no later block that runs names: writing a file is no check of what is in it."""
    for number, block in enumerate(page.blocks):
        if block.kind == "testfile" and not block.norun and not is_used(block, page.blocks[number + 1 :]):
            words = (
                f"No later block of {page.source} uses {block.units[0].name}, so nothing checks it: run or import it; "
                "if it is no program, show it in the language `text`."
            )
            yield Finding("UNVERIFIED", block.source, block.line, words)


def is_used(file: Block, later: list[Block]) -> bool:
    """Whether a block names a file, as a word, before another file takes its name; a package is named by its folder."""
    path = Path(file.units[0].name)
    name = path.parent.name if path.stem in ("__init__", "__main__") else path.stem
    word = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")
    for block in later:
        if block.kind == "testfile" and Path(block.units[0].name) == path:
            return False
        if word.search(block.code) and not block.norun:
            return True
    return False


def shadowed_files(app: Sphinx, env: BuildEnvironment, docnames: list[str]) -> Iterator[Finding]:
    """Files that Sphinx leaves out with a warning, because a file with another suffix makes the same page."""
    config = app.config
    excluded, included = Matcher(config.exclude_patterns), Matcher(config.include_patterns)
    for name in docnames:
        read = env.doc2path(name)
        for path in (Path(env.srcdir, name + suffix) for suffix in config.source_suffix):
            source = path.relative_to(env.srcdir).as_posix()
            if path != read and path.is_file() and included(source) and not excluded(source):
                words = (
                    f"This file is not read, so nothing checks it: {read.name} is the same page. Rename one of the two."
                )
                yield Finding("UNVERIFIED", source, 1, words)


def check_encoding(app: Sphinx, env: BuildEnvironment, docnames: list[str]) -> None:
    """Name the page that Sphinx is about to fail on, which says only which byte it could not decode."""
    for name in docnames:
        path = Path(env.doc2path(name))
        try:
            path.read_text(env.settings["input_encoding"])
        except UnicodeDecodeError as error:
            line = error.object.count(b"\n", 0, error.start) + 1
            words = f"this is no text in UTF-8 (byte {error.object[error.start]:#04x}): save the file in that encoding"
            raise Stop(f"{path}:{line}: {words}") from None


def setup_declaration(app: Sphinx) -> None:
    """Check what Sphinx is about to read."""
    app.connect("env-before-read-docs", check_encoding, CHOSEN)
