"""Find where the text of a block stands in its source file.

Parsers give the line of the fence, or of the enclosing text, and differ in nested constructs. The text itself tells the
place: its lines follow one another in the file, behind one common prefix (the indentation of a list, `> ` of a quote).
"""

from __future__ import annotations

import ast
import functools
import re
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

ADDED = re.compile(r"(:\d+)?:<translated>.*$|:docstring of .*$")
DOCSTRING = re.compile(r":docstring of ([\w.]+)")
MARGIN = " \t>"  # what may stand before text, and above it in an empty row: indentation, quotes
TAB = 8  # columns between the tab stops of docutils, which expands tabs in all that it reads


def source_path(node_source: str) -> Path:
    """The file behind a node's `source`, to which translation and autodoc add words."""
    return Path(ADDED.sub("", node_source))


class Locator:
    """The lines of one source file, searched from top to bottom as the blocks of a page come."""

    def __init__(self, text: str):
        # as parsers split text: also at form feeds and Unicode's separators, which to editors end no line
        self.text = text
        self.rows = [row.expandtabs(TAB) for row in text.splitlines()]
        self.by_content: dict[str, list[int]] = defaultdict(list)
        for at, row in enumerate(self.rows):
            self.by_content[row.strip(MARGIN)].append(at)
        self.numbers: list[int] = []
        number = 1
        for row in text.splitlines(keepends=True):
            self.numbers.append(number)
            number += row.endswith("\n")
        self.written: dict[
            tuple[str, str], list[int]
        ] = {}  # all places of a directive with a text: pages may repeat it
        self.found: dict[int, int] = {}  # the parser's line, by the place that was found for it

    def line(self, name: str, text: str, near: int) -> int:
        """The 1-based line where `text`, the content of a `name` directive, starts.

        Of several equal places the one nearest to the parser's line `near` that no earlier block has is taken. Where
        the text does not stand by itself (in a cell of a table, say, or an include changes it), it is `somewhere`.
        """
        if not text.strip():
            return near  # blank lines stand everywhere
        if (name, text) not in self.written:
            self.written[name, text] = self.places(text, lambda at: self.opening(at, name) is not None)
        places = self.written[name, text]
        places = [at for at in places if at not in self.found] or [
            at
            for at in places
            if self.found[at] == near  # a file may be included twice
        ]
        if not places:
            return self.somewhere(text, near)
        best = min(places, key=lambda at: (self.numbers[at] < near, abs(self.numbers[at] - near)))
        self.found[best] = near
        return self.numbers[best]

    def bare_line(self, name: str, text: str, near: int) -> int:
        """The same for a text that is in no directive `name`, of which parsers know the line itself.

        Only of a docstring they may be wrong, to which extensions add lines.
        """
        shown = self.somewhere(text, near)
        places = self.places(text, lambda at: self.opening(at, name) is None) if shown != near else []
        return min((self.numbers[at] for at in places), key=lambda line: abs(line - near), default=shown)

    def literal_line(self, text: str, near: int) -> int:
        """The same for a text that is in none of our directives."""
        places = [self.numbers[at] for at in self.places(text, lambda at: at not in self.found)]
        return min(places, key=lambda line: abs(line - near), default=near)

    def somewhere(self, text: str, near: int) -> int:
        """The line from `near` on, or before it, that shows the first line of a text among others; else `near`."""
        first = next(row.strip() for row in text.expandtabs(TAB).split("\n") if row.strip())
        shows = re.compile(rf"(?<!\S)[\"'|]?{re.escape(first)}[\"'|]?(?!\S)")
        lines = (
            number for number, row in zip(self.numbers, self.rows, strict=True) if first in row and shows.search(row)
        )
        return min(lines, key=lambda line: (line < near, abs(line - near)), default=near)

    def places(self, text: str, fits: Callable[[int], bool]) -> list[int]:
        """The rows, counted from 0, at which a text stands and that fit."""
        wanted = text.expandtabs(TAB).split("\n")
        return [at for at in self.by_content.get(wanted[0].strip(MARGIN), ()) if self.stands(wanted, at) and fits(at)]

    def stands(self, wanted: list[str], at: int) -> bool:
        """Whether the lines `wanted` stand at the 0-based line `at`, all behind one prefix."""
        first = self.rows[at]
        if not first.rstrip().endswith(wanted[0].rstrip()):
            return False
        prefix = first[: len(first.rstrip()) - len(wanted[0].rstrip())]
        if prefix.strip(MARGIN):
            return False
        rows = self.rows[at : at + len(wanted)]
        if len(rows) < len(wanted):
            return False
        return all(row.rstrip() == (prefix + want).rstrip() for row, want in zip(rows, wanted, strict=True))

    def lines_above(self, node_source: str) -> int:
        """How many lines stand above what a node calls its source: those above its docstring, or none."""
        match = DOCSTRING.search(node_source)
        if not match or self.tree is None:
            return 0
        found: ast.AST = self.tree
        for name in match[1].split("."):  # the first ones are of the module
            found = next((each for each in ast.walk(found) if getattr(each, "name", "") == name), found)
        value = getattr(getattr(found, "body", [None])[0], "value", None)
        if not isinstance(value, ast.Constant) or not isinstance(value.value, str):
            return 0
        blank = len(value.value) - len(value.value.lstrip())
        return value.lineno - 1 + value.value.count("\n", 0, blank)

    @functools.cached_property
    def tree(self) -> ast.Module | None:
        """The file as a program, if it is one."""
        try:
            return ast.parse(self.text)
        except (SyntaxError, ValueError):
            return None

    def options_above(self, line: int, name: str) -> list[str]:
        """The rows `:option: value`, or of YAML, between the line where a block's text starts and its directive."""
        at = next((place for place in self.found if self.numbers[place] == line), None)
        opening = None if at is None else self.opening(at, name)
        if at is None or opening is None:
            return []
        rows = [row.strip(MARGIN) for row in self.rows[opening + 1 : at]]
        return [row for row in rows if row.startswith(":") or re.match(r"[\w-]+:(\s|$)", row)]

    def opening(self, at: int, name: str) -> int | None:
        """The line above `at` that opens the directive `name`, if only options and blank lines are between."""
        opener = re.compile(rf"(?:[`~:]{{3,}}\s*\{{{name}\}}|\.\. {name}::)", re.IGNORECASE)
        inside_yaml = False
        for above in range(at - 1, -1, -1):
            if opener.search(self.rows[above]):
                return above
            text = self.rows[above].strip(MARGIN)
            if text == "---":
                inside_yaml = not inside_yaml
            elif text and not text.startswith(":") and not inside_yaml:
                return None
        return None
