"""Find where the text of a block stands in its source file.

Parsers give the line of the fence, or of the enclosing text, and differ in nested constructs. The text itself tells the
place: its lines follow one another in the file, behind one common prefix (the indentation of a list, `> ` of a quote).
"""

from __future__ import annotations

import ast
import functools
import re
import warnings
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
        places = self.free(self.written[name, text], near)
        return self.nearest(places, near) or self.nested_line(text, near) or self.somewhere(text, near)

    def free(self, places: list[int], near: int) -> list[int]:
        """Of some rows those that no earlier block has; else those of the same block: a file may be included twice."""
        return [at for at in places if at not in self.found] or [at for at in places if self.found[at] == near]

    def nearest(self, places: list[int], near: int) -> int | None:
        """The line of the first row at or below the line `near`, else of the last above it, which is taken then."""
        best = min(places, key=lambda at: (self.numbers[at] < near, abs(self.numbers[at] - near)), default=None)
        if best is None:
            return None
        self.found[best] = near
        return self.numbers[best]

    def bare_line(self, name: str, text: str, near: int) -> int:
        """The same for a text that is in no directive `name`, of which parsers know the line itself.

        Only of a docstring they may be wrong, to which extensions add lines.
        """
        shown = self.somewhere(text, near)
        places = self.places(text, lambda at: self.opening(at, name) is None) if shown != near else []
        return min((self.numbers[at] for at in places), key=lambda line: abs(line - near), default=shown)

    def nested_line(self, text: str, near: int) -> int | None:
        """The same for a text without a line of its own, in a list or a cell, below the line `near` of something above.

        None if the text does not stand in the file.
        """
        if ("", text) not in self.written:
            wanted = [row.strip() for row in text.expandtabs(TAB).split("\n")]
            first = first_row(wanted[0])
            places = (at for at, row in enumerate(self.rows) if wanted[0] in row and first.search(row))
            self.written["", text] = [at for at in places if self.shows(wanted, at)]
        return self.nearest(self.free(self.written["", text], near), near)

    def shows(self, wanted: list[str], at: int) -> bool:
        """Whether the rows from `at` on show the stripped rows `wanted`, among other text."""
        rows = self.rows[at : at + len(wanted)]
        return len(rows) == len(wanted) and all(want in row for want, row in zip(wanted, rows, strict=True))

    def literal_line(self, text: str, near: int) -> int:
        """The same for a text that is in none of our directives."""
        places = [self.numbers[at] for at in self.places(text, lambda at: at not in self.found)]
        return min(places, key=lambda line: abs(line - near), default=None) or self.somewhere(text, near)

    def includes(self, line: int) -> bool:
        """Whether a directive that shows a file stands at a line."""
        return any(number == line and "include" in row for number, row in zip(self.numbers, self.rows, strict=True))

    def starts(self, text: str, line: int) -> bool:
        """Whether the first row of a text is all that stands at a line."""
        row = self.rows[self.numbers.index(line)] if line in self.numbers else ""
        return row.strip(MARGIN) == text.expandtabs(TAB).split("\n")[0].strip(MARGIN)

    def somewhere(self, text: str, near: int) -> int:
        """The line from `near` on, or before it, that shows the first line of a text among others; else `near`."""
        first = next((row.strip() for row in text.expandtabs(TAB).split("\n") if row.strip()), "")
        shows = first_row(first)
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
        name = match[1].rpartition(".")[2]
        if attribute := next((each for each in getattr(found, "body", ()) if name in targets(each)), None):
            return self.lines_above_attribute(attribute)
        value = getattr(getattr(found, "body", [None])[0], "value", None)
        if not isinstance(value, ast.Constant) or not isinstance(value.value, str):
            return 0
        blank = len(value.value) - len(value.value.lstrip())
        return value.lineno - 1 + value.value.count("\n", 0, blank)

    def lines_above_attribute(self, statement: ast.stmt) -> int:
        """How many lines stand above what documents an attribute: comments above it, or a string below it."""
        at = statement.lineno - 1
        while at and self.rows[at - 1].lstrip().startswith("#:"):
            at -= 1
        return at if at < statement.lineno - 1 else statement.end_lineno or at

    @functools.cached_property
    def tree(self) -> ast.Module | None:
        """The file as a program, if it is one."""
        return parsed(self.text)

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


def parsed(text: str) -> ast.Module | None:
    """A text as a program, if it is one. What Python would warn of in it is for its author, not for this build."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return ast.parse(text)
        except (SyntaxError, ValueError, MemoryError, RecursionError):  # the last two: nested too deeply
            return None


def first_row(text: str) -> re.Pattern[str]:
    """What finds the first row of a text, as a word of a row; quotes, commas and bars of tables may touch it."""
    return re.compile(rf"(?<![^\s,])[\"'|]?{re.escape(text)}[\"'|]?(?!\S)")


def targets(statement: ast.AST) -> list[str]:
    """The names that an assignment gives values to: attributes, whose docstrings stand below it or in comments."""
    left = getattr(statement, "targets", [getattr(statement, "target", None)])
    return [each.id for each in left if isinstance(each, ast.Name)]
