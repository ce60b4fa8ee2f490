"""The fences of a Markdown page, as rows: where a block begins and ends, and how long its marks must be."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from livedoctest.directives import DIRECTIVES
from livedoctest.edit import Edit
from livedoctest.scan import FENCE, directive_name

_CLOSER = re.compile(r"[\s>]*(?P<marks>`{3,}|~{3,}|:{3,})\s*$")
_DEEPEST = 3  # columns that a closing fence may be indented by; further in, it is text


@dataclass(frozen=True)
class Fence:
    """A fenced block. `closer` is None where the page or the enclosing text ends first."""

    opener: int
    closer: int | None
    marks: str
    info: str
    column: int

    def closed_by(self, row: str) -> bool:
        """Whether a row of the content would end it."""
        match = _CLOSER.match(row)
        if not match or not match["marks"].startswith(self.marks):
            return False
        return match.start("marks") <= self.column + _DEEPEST

    def contains(self, start: int, end: int) -> bool:
        """Whether the rows from `start` to before `end` are content of the fence."""
        return self.opener < start and (self.closer is None or end <= self.closer)


def fences(rows: Sequence[str]) -> list[Fence]:
    """All fences of a page, inner ones before those that enclose them."""
    found: list[Fence] = []
    stack: list[Fence] = []
    for number, row in enumerate(rows):
        if stack and stack[-1].closed_by(row):
            found.append(replace(stack.pop(), closer=number))
        elif not (stack and _literal(stack[-1])) and (match := FENCE.match(row)):
            stack.append(Fence(number, None, match["marks"], match["info"].strip(), match.start("marks")))
    return found + stack[::-1]


def fence_of(rows: Sequence[str], at: int, name: str) -> Fence | None:
    """The fenced directive `name` that the row `at` is content of, if it is in one."""
    around = [fence for fence in fences(rows) if fence.contains(at, at)]
    inner = max(around, key=lambda fence: fence.opener, default=None)
    return inner if inner and _directive(inner) == name else None


def longer(rows: Sequence[str], edits: Iterable[Edit]) -> list[Edit]:
    """What else must change so that no new row ends the fence around it: longer marks, of enclosing fences too."""
    content = list(edits)
    given = len(content)
    for fence in fences(rows):
        inside = [row for edit in content if fence.contains(edit.start, edit.end) for row in edit.rows]
        longest = longest_run(inside, fence.marks[0])
        if longest >= len(fence.marks):
            content += _with_marks(rows, fence, fence.marks[0] * (longest + 1))
    return content[given:]


def longest_run(rows: Iterable[str], mark: str) -> int:
    """The length of the longest run of a mark with which a row starts."""
    begin = re.compile(rf"[\s>*+.\d-]*({re.escape(mark)}+)")  # what `scan` may take for a fence
    return max((len(match[1]) for row in rows if (match := begin.match(row))), default=0)


def _literal(fence: Fence) -> bool:
    """Whether the content is not parsed as Markdown; as `scan` sees it."""
    name = _directive(fence)
    return name is None or name in DIRECTIVES


def _directive(fence: Fence) -> str | None:
    name = directive_name(fence.info)
    return name and name.lower()  # names of directives have no case


def _with_marks(rows: Sequence[str], fence: Fence, marks: str) -> Iterator[Edit]:
    for number in (fence.opener, fence.closer):
        match = FENCE.match(rows[number]) if number is not None else None
        if number is not None and match and len(match["marks"]) < len(marks):
            row = rows[number][: match.start("marks")] + marks + rows[number][match.end("marks") :]
            yield Edit(number, number + 1, (row,))
