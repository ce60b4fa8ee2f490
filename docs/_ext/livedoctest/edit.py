"""Replace rows of a text, and nothing else: a pure function of text and edits.

A row ends at `\\r\\n`, `\\n` or `\\r`, as in files that Python opens as text. Form feeds and Unicode's line separators
are characters like any other. Rows are counted from 0.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

_ROW_END = re.compile(r"(\r\n|\n|\r)")


class RefusedError(ValueError):
    """An output that cannot be accepted; the text says why, and what to do."""


@dataclass(frozen=True, order=True)
class Edit:
    """Replaces the rows from `start` to before `end`, if any, by `rows`, which have no line ends."""

    start: int
    end: int
    rows: tuple[str, ...]


def rows_of(text: str) -> list[str]:
    """The rows of a text, without their ends. After a final line end an empty row follows."""
    return [row for row, _ in _split(text)]


def apply(text: str, edits: Iterable[Edit]) -> str:
    """The text after all edits. Whether it ends with a line end does not change.

    Raises:
        RefusedError: Two edits want different things of one place.
    """
    rows = _split(text)
    ordered = sorted(set(edits))
    _check(ordered)
    usual = next((end for _, end in rows if end), "\n")
    for edit in reversed(ordered):
        end = _end_at(rows, edit) or usual
        rows[edit.start : edit.end] = [(row, end) for row in edit.rows]
    *others, (last, _) = rows
    return "".join(row + (end or usual) for row, end in others) + last


def _split(text: str) -> list[tuple[str, str]]:
    pieces = _ROW_END.split(text)
    return list(zip(pieces[::2], [*pieces[1::2], ""], strict=True))


def _end_at(rows: Sequence[tuple[str, str]], edit: Edit) -> str:
    """The line end of the rows that an edit replaces or follows; files may mix them."""
    at = edit.start if edit.end > edit.start else edit.start - 1
    return rows[at][1] if at >= 0 else ""


def _check(ordered: Sequence[Edit]) -> None:
    for one, other in pairwise(ordered):
        if one.end > other.start or (one.start, one.end) == (other.start, other.end):
            raise RefusedError(
                f"the blocks that show line {other.start + 1} want different outputs there: give each its own text"
            )
