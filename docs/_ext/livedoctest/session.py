"""Pages as the command line verifies them: read, run, and tried again with new text."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.errors import SphinxError
from sphinx.util.logging import pending_warnings, suppress_logging

from livedoctest.block import Page
from livedoctest.conditions import Skips, settle
from livedoctest.directives import MARK
from livedoctest.execute import Verification
from livedoctest.gallery import docname_of_script
from livedoctest.inclusion import DraftInclude
from livedoctest.pages import pages_of
from livedoctest.stock import Stock

FIRST, LAST = 1, 999  # priorities: before and after what other extensions do at the same event


class UnknownPageError(SphinxError):
    """A page was named that the project does not have."""

    category = "Unknown page"


class Session:
    """Reads pages, runs their blocks and keeps what it read, so that new text can be tried on the same pages.

    Args:
        app: A Sphinx application that has read nothing yet.
        names: Docnames or paths of the pages to verify; none stands for all.
    """

    def __init__(self, app: Sphinx, names: Sequence[str]) -> None:
        self.app = app
        self.names = names
        self.sources: dict[Path, bytes] = {}  # what stood in the files when their blocks were read
        self.drafts: dict[Path, str] = {}  # what is read in their place
        self._prose: dict[str, list[str]] = {}
        app.add_directive("include", DraftInclude, override=True)
        app.connect("env-before-read-docs", self._choose)
        app.connect("source-read", self._read_draft, FIRST)
        app.connect("include-read", self._include_draft, FIRST)
        app.connect("doctree-read", self._remember, LAST)
        app.connect("env-updated", self._drop_others, FIRST)

    def verify(self) -> Verification:
        """Read the pages, run their blocks and judge them; failures are logged."""
        with pending_warnings():  # as a build does, so that they come after the progress of reading
            self.app.builder.read()
        verification: Verification = self.app.livedoctest  # type: ignore[attr-defined]
        return verification

    def try_out(self, docname: str, drafts: dict[Path, str]) -> tuple[Page, bool]:
        """Read a page again with drafts in the place of files.

        Returns:
            The page, and whether all that is no block on it reads the same as before.
        """
        env, prose = self.app.env, self._prose[docname]
        self.drafts = env.livedoctest_drafts = drafts  # type: ignore[attr-defined]
        with suppress_logging():  # what there is to say of the page was said at the first time
            self.app.events.emit("env-purge-doc", env, docname)
            env.clear_doc(docname)
            self.app.builder.read_doc(docname)
        same, self._prose[docname] = self._prose[docname] == prose, prose
        page, device = pages_of(env)[docname], self.app.livedoctest.device  # type: ignore[attr-defined]
        page.findings += settle(page, device, Skips(device, Stock.of(self.app.config)))
        return page, same

    def source(self, name: str) -> Path:
        """The file that a block names as its source."""
        return Path(self.app.srcdir, name).resolve()

    def _choose(self, app: Sphinx, env: BuildEnvironment, docnames: list[str]) -> None:
        self.names = [docname_of(env, name) for name in self.names] or sorted(docnames)
        # Sphinx does not go on without the root page
        docnames[:] = [name for name in docnames if name in (*self.names, app.config.root_doc)]

    def _read_draft(self, app: Sphinx, docname: str, content: list[str]) -> None:
        path = app.env.doc2path(docname).resolve()
        content[0] = self.drafts.get(path, content[0])

    def _include_draft(self, app: Sphinx, path: Path, docname: str, content: list[str]) -> None:
        """MyST offers the whole file; of reStructuredText it is the draft already, or a part of it."""
        source = self.source(str(path))
        if source in self.drafts and parsed_text(content[0]) == parsed_text(self.sources[source].decode("utf-8")):
            content[0] = self.drafts[source]

    def _remember(self, app: Sphinx, doctree: nodes.document) -> None:
        docname = app.env.docname
        self._prose[docname] = list(prose(doctree))
        for block in pages_of(app.env)[docname].blocks:
            path = self.source(block.source)
            if path not in self.sources:
                self.sources[path] = path.read_bytes() if path.is_file() else b""  # of conf.py, or of a built-in

    def _drop_others(self, app: Sphinx, env: BuildEnvironment) -> None:
        pages = pages_of(env)
        for name in pages.keys() - set(self.names):
            del pages[name]


def prose(node: nodes.Node) -> Iterator[str]:
    """What a page holds beside its blocks: the kinds of its nodes, and its text."""
    if isinstance(node, nodes.Text):
        yield node.astext()
    elif not (isinstance(node, nodes.Element) and MARK in node):
        yield f"<{type(node).__name__}>"
        for child in node.children:
            yield from prose(child)


def docname_of(env: BuildEnvironment, name: str) -> str:
    """The docname that a user means, who may give the path of the page's file."""
    path = Path(name).resolve()
    by_path = docname_of_script(env, path) or env.path2doc(path)
    for docname in (name, by_path):
        if docname in env.found_docs:
            return docname
    close = difflib.get_close_matches(name, env.found_docs, 1)
    hint = f"; did you mean {close[0]}?" if close else ""
    raise UnknownPageError(f"there is no page {name!r} in {env.srcdir}{hint}")


def parsed_text(text: str) -> str:
    """A file's text as parsers get it: without a byte order mark, every line ended by `\\n`."""
    return re.sub(r"\r\n?", "\n", text.removeprefix("\ufeff"))
