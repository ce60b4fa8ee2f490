"""Find where the text of a block stands in its source file.

Parsers give the line of the fence, or of the enclosing text, and differ in nested constructs. The text itself tells the
place: its lines follow one another in the file, behind one common prefix (the indentation of a list, `> ` of a quote).
"""

from __future__ import annotations

import re
from pathlib import Path

ADDED = re.compile(r"(:\d+)?:<translated>.*$|:docstring of .*$")


def source_path(node_source: str) -> Path:
    """The file behind a node's `source`, to which translation and autodoc add words."""
    return Path(ADDED.sub("", node_source))


class Locator:
    """The lines of one source file, searched from top to bottom as the blocks of a page come."""

    def __init__(self, text: str):
        # as parsers split text: also at form feeds and Unicode's separators, which to editors end no line
        self.rows = text.splitlines()
        self.numbers: list[int] = []
        number = 1
        for row in text.splitlines(keepends=True):
            self.numbers.append(number)
            number += row.endswith("\n")
        self.found: set[int] = set()

    def line(self, name: str, text: str, near: int) -> int:
        """The 1-based line where `text`, the content of a `name` directive, starts.

        Of several equal places the one nearest to the parser's line `near` that no earlier block has is taken; `near`
        itself is the answer where the text does not stand in the file (an include that changes it, say), or is empty.
        """
        if not text.strip():
            return near  # blank lines stand everywhere
        wanted = text.split("\n")
        places = [at for at in range(len(self.rows)) if self.stands(wanted, at, name)]
        if not places:
            return near
        places = [at for at in places if at not in self.found] or places  # a file may be included twice
        best = min(places, key=lambda at: (self.numbers[at] < near, abs(self.numbers[at] - near)))
        self.found.add(best)
        return self.numbers[best]

    def stands(self, wanted: list[str], at: int, name: str) -> bool:
        """Whether the lines `wanted`, from the directive `name`, stand at the 0-based line `at`."""
        first = self.rows[at]
        if not first.rstrip().endswith(wanted[0].rstrip()):
            return False
        prefix = first[: len(first.rstrip()) - len(wanted[0].rstrip())]
        if prefix.strip(" \t>"):
            return False
        rows = self.rows[at : at + len(wanted)]
        if len(rows) < len(wanted):
            return False
        same = all(row.rstrip() == (prefix + want).rstrip() for row, want in zip(rows, wanted, strict=True))
        return same and self.opened_by(at, name)

    def opened_by(self, at: int, name: str) -> bool:
        """Whether the nearest line above `at` that is no option and not blank opens the directive `name`."""
        return self.opening(at, name) is not None

    def options_above(self, line: int, name: str) -> list[str]:
        """The rows `:option: value`, or of YAML, between the line where a block's text starts and its directive."""
        at = next((place for place in self.found if self.numbers[place] == line), None)
        opening = None if at is None else self.opening(at, name)
        if at is None or opening is None:
            return []
        rows = [row.strip(" \t>") for row in self.rows[opening + 1 : at]]
        return [row for row in rows if row.startswith(":") or re.match(r"[\w-]+:(\s|$)", row)]

    def opening(self, at: int, name: str) -> int | None:
        """The line above `at` that opens the directive `name`, if only options and blank lines are between."""
        opener = re.compile(rf"(?:[`~:]{{3,}}\s*\{{{name}\}}|\.\. {name}::)", re.IGNORECASE)
        inside_yaml = False
        for above in range(at - 1, -1, -1):
            if opener.search(self.rows[above]):
                return above
            text = self.rows[above].strip(" \t>")
            if text == "---":
                inside_yaml = not inside_yaml
            elif text and not text.startswith(":") and not inside_yaml:
                return None
        return None
