"""`{livedoctest-reference}`: tables of what is declared in the code, as text of the page, translated like it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields
from typing import ClassVar

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from livedoctest.problems import Problem
from livedoctest.settings import Settings
from livedoctest.table import table

Row = tuple[list[str], str]  # code, and a sentence about it


def settings() -> Iterator[Row]:
    """The configuration values."""
    for each in fields(Settings):
        default = list(each.default) if isinstance(each.default, tuple) else each.default
        yield [f"livedoctest_{each.name}", repr(default)], each.metadata["help"]


def warnings() -> Iterator[Row]:
    """The warnings."""
    for problem in Problem:
        yield [f"livedoctest.{problem.subtype}"], problem.value


def commands() -> Iterator[Row]:
    """The commands."""
    from livedoctest.__main__ import COMMANDS  # builds have no use for the rest of it

    for name, help in COMMANDS.items():
        yield [f"python -m livedoctest {name} SRC"], f"{help[0].upper()}{help[1:]}."


class ReferenceDirective(SphinxDirective):
    """A table of the settings, the warnings or the commands."""

    required_arguments = 1
    tables: ClassVar[dict[str, tuple[list[str], Callable[[], Iterator[Row]]]]] = {
        "settings": (["Setting", "Default", "Meaning"], settings),
        "warnings": (["Warning", "Meaning"], warnings),
        "commands": (["Command", "What it does"], commands),
    }

    def run(self) -> list[nodes.Node]:
        """The table."""
        if self.arguments[0] not in self.tables:
            raise self.error(f"{self.arguments[0]!r}: expected one of {', '.join(self.tables)}")
        head, rows = self.tables[self.arguments[0]]
        body = [[*map(self.code, code), self.sentence(text)] for code, text in rows()]
        return [table([[self.sentence(text) for text in head]], body)]

    def sentence(self, text: str) -> nodes.paragraph:
        """Text of the page."""
        inline, _ = self.parse_inline(text)
        paragraph = nodes.paragraph(text, "", *inline)
        self.set_source_info(paragraph)
        return paragraph

    def code(self, text: str) -> nodes.paragraph:
        """A name, the same in all languages."""
        return nodes.paragraph("", "", nodes.literal(text, text), translatable=False)


def setup_reference(app: Sphinx) -> None:
    """Register the directive."""
    app.add_directive("livedoctest-reference", ReferenceDirective)
