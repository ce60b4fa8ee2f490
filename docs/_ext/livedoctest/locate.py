"""Find where the text of a block stands in its source file.

Parsers give the line of the fence, or of the enclosing text, and differ in nested constructs. The text itself tells the
place: its lines follow one another in the file, behind one common prefix (the indentation of a list, `> ` of a quote).
"""

from __future__ import annotations

import re
from pathlib import Path

TRANSLATED = re.compile(r":\d+:<translated>.*$|:<translated>.*$")


def source_path(node_source: str) -> Path:
    """The file behind a node's `source`, which in translated text carries a suffix."""
    return Path(TRANSLATED.sub("", node_source))


class Locator:
    """The lines of one source file, searched from top to bottom as the blocks of a page come."""

    def __init__(self, path: Path):
        self.rows = path.read_text(encoding="utf-8", errors="replace").splitlines()
        self.found: set[int] = set()

    def line(self, name: str, text: str, near: int) -> int:
        """The 1-based line where `text`, the content of a `name` directive, starts.

        Of several equal places the one nearest to the parser's line `near` that no earlier block has is taken; `near`
        itself is the answer where the text does not stand in the file (an include that changes it, say).
        """
        wanted = text.split("\n")
        places = [at for at in range(len(self.rows)) if at not in self.found and self.stands(wanted, at, name)]
        if not places:
            return near
        best = min(places, key=lambda at: (at + 1 < near, abs(at + 1 - near)))
        self.found.add(best)
        return best + 1

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
        opener = re.compile(rf"(?:[`~:]{{3,}}\s*\{{{name}\}}|\.\. {name}::)")
        inside_yaml = False
        for row in reversed(self.rows[:at]):
            if opener.search(row):
                return True
            text = row.strip(" \t>")
            if text == "---":
                inside_yaml = not inside_yaml
            elif text and not text.startswith(":") and not inside_yaml:
                return False
        return False
