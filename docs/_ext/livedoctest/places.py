"""Where the blocks of a page stand: in its file, or in others that it brings in."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path

from docutils import nodes

from livedoctest.directives import MARK
from livedoctest.locate import Locator, source_path


class Places:
    """The places of the nodes of a page.

    Args:
        doctree: The page.
        docpath: Its file.
        drafts: By file, the texts that `accept` tries out in their place.
    """

    def __init__(self, doctree: nodes.document, docpath: Path, drafts: dict[Path, str]):
        self.doctree, self.docpath, self.drafts = doctree, docpath, drafts
        self.locators: dict[Path, Locator] = {}
        self.known: dict[nodes.Element, tuple[Path, int]] = {}

    @cached_property
    def elements(self) -> list[nodes.Element]:
        """All of the page, in order."""
        return list(self.doctree.findall(nodes.Element))

    @cached_property
    def order(self) -> dict[nodes.Element, int]:
        """The place of each among them."""
        return {element: number for number, element in enumerate(self.elements)}

    def text(self, path: Path) -> str:
        """The text of a source file, or of the draft that `accept` tries out in its place."""
        if draft := self.drafts.get(path.resolve()):
            return draft
        return path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""

    def locator(self, path: Path) -> Locator:
        """Finds text in a source file."""
        if path not in self.locators:
            self.locators[path] = Locator(self.text(path))
        return self.locators[path]

    def of(self, node: nodes.Element) -> tuple[Path, int]:
        """The file and line of the first line of a node's text."""
        if node not in self.known and not node.source and (nested := self.nested(node)):
            self.known[node] = nested
        if node not in self.known:
            source = node.source or str(self.docpath)
            path, written = source_path(source), node[MARK]
            locator = self.locator(path)
            near = (node.line or 1) + locator.lines_above(source)
            find = locator.bare_line if isinstance(node, nodes.doctest_block) else locator.line
            self.known[node] = path, find(written["kind"], written["text"], near)
        return self.known[node]

    def nested(self, node: nodes.Element) -> tuple[Path, int] | None:
        """The place of a node that knows none, as docutils leaves a bare `>>>` in a list: below one that does."""
        tried = set()
        for other in self.elements[self.order[node] - 1 :: -1]:
            if other.source and other.line and other.source not in tried:
                tried.add(other.source)
                path = source_path(other.source)
                locator = self.locator(path)
                line = locator.nested_line(node[MARK]["text"], other.line + locator.lines_above(other.source))
                if line is not None:
                    return path, line
        return None
