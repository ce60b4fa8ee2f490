"""A page as a sequence of text and code: what its script and its notebook are made of."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from docutils import nodes

from livedoctest.block import Block, Page
from livedoctest.collect import BLOCK, ROLE
from livedoctest.job import ORDER
from livedoctest.outcome import Outcome
from livedoctest.program import Piece, program
from livedoctest.prose import inline, markdown

REASON = "livedoctest-reason"  # class of the paragraph below a block that says why it is not run


@dataclass
class Cell:
    """Text in Markdown or, where there are pieces, code."""

    text: str = ""
    pieces: list[Piece] = field(default_factory=list)


class Reader:
    """Reads the doctree of a page.

    Args:
        page: Its blocks.
        outcomes: What happened to each.
        not_run: The sentence above a block that did not run, with a place for the reason.
        words: The reason of such a block in the language of the page.
        needs: What a block that ran needs, in that language.
    """

    def __init__(
        self,
        page: Page,
        outcomes: list[Outcome],
        not_run: str,
        words: Callable[[Block, Outcome], str],
        needs: Callable[[Block], str],
    ) -> None:
        self.page = page
        self.outcomes = outcomes
        self.not_run = not_run
        self.words = words
        self.needs = needs
        self.depth = 0

    def cells(self, doctree: nodes.document) -> list[Cell]:
        """The cells of the page: set-up first, clean-up last, as blocks run."""
        found = list(self.read(doctree))
        first = next((number for number, (_, block) in enumerate(found) if block), len(found))
        rest = sorted(found[first:], key=lambda each: ORDER.get(each[1].kind, 1) if each[1] else 1)
        return list(joined(cell for text, block in found[:first] + rest for cell in self.made(text, block)))

    def made(self, text: str, block: Block | None) -> Iterator[Cell]:
        """The cells of one text or block."""
        if block is None:
            yield Cell(text)
            return
        outcome = self.outcomes[block.ordinal]
        if outcome.status == "skipped":
            yield Cell(self.not_run.format(reason=text or self.words(block, outcome)))
        elif block.requires:
            yield Cell(self.needs(block))
        yield Cell(pieces=program(block, outcome))

    def read(self, node: nodes.Node) -> Iterator[tuple[str, Block | None]]:
        """The texts and blocks below a node; the text with a block is why it did not run."""
        if isinstance(node, nodes.Element) and BLOCK in node:
            if node[ROLE] == "program" and node[BLOCK][0] == self.page.docname:
                yield self.reason(node), self.page.blocks[node[BLOCK][1]]
        elif isinstance(node, nodes.title):
            yield f"{'#' * max(self.depth, 1)} {inline(node)}", None
        elif isinstance(node, nodes.section) or any(BLOCK in each for each in node.findall(nodes.Element)):
            self.depth += isinstance(node, nodes.section)
            for child in node.children:
                yield from self.read(child)
            self.depth -= isinstance(node, nodes.section)
        elif REASON not in getattr(node, "attributes", {}).get("classes", ()):
            yield markdown(node), None

    def reason(self, node: nodes.Element) -> str:
        """The paragraph below a block that says why it is not run, in the language of the page."""
        assert node.parent is not None
        following = node.parent[node.parent.index(node) + 1 :][:1]
        return "".join(
            inline(each) for each in following if REASON in getattr(each, "attributes", {}).get("classes", ())
        )


def joined(cells: Iterator[Cell]) -> Iterator[Cell]:
    """Cells, with texts that follow one another as one."""
    text: list[str] = []
    for cell in cells:
        if not cell.pieces:
            text += [cell.text] if cell.text else []
            continue
        if text:
            yield Cell("\n\n".join(text))
        text = []
        yield cell
    if text:
        yield Cell("\n\n".join(text))
