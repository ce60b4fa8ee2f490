"""Where expected output stands in the rows of its source, by the lines that parsing found; checked before any edit."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from livedoctest.block import Block
from livedoctest.edit import Edit, RefusedError
from livedoctest.fence import Fence, fence_of, longest_run
from livedoctest.rewrite import TRAILING

MARGIN = (
    " \t>#"  # what may stand before text: indentation, quotes, and in the script of a gallery the marks of comments
)
MARKS = r"[\s>#]*"  # the same at the beginning of a row
INDENT = "   "  # of the content of a directive in reStructuredText
ITEM = re.compile(r"(?:[*+-]|\(?\w{1,4}[.)])[ \t]+")
PROMPTS = {"doctest": ">>> ", "testconsole": "$ "}
MOST = 1_000_000  # pairs of rows that are compared to find those that can stay


@dataclass(frozen=True)
class Span:
    """Rows from `start` to before `end`, each behind `prefix`: the indentation of a list, `> ` of a quote, `# `."""

    start: int
    end: int
    prefix: str

    def written(self, new: Sequence[str]) -> tuple[str, ...]:
        """Rows of text as they stand in the source."""
        return tuple(self.prefix + row if row else self.prefix.rstrip() for row in new)

    def edits(self, rows: Sequence[str], new: Sequence[str]) -> Iterator[Edit]:
        """What makes the rows the new ones, without touching those that are the same already."""
        old, wanted = rows[self.start : self.end], self.written(new)
        if len(old) * len(wanted) > MOST:
            yield Edit(self.start, self.end, wanted)
            return
        one, other = ([row.rstrip(TRAILING) for row in each] for each in (old, wanted))
        matcher = difflib.SequenceMatcher(None, one, other, autojunk=False)
        for tag, old_start, old_end, start, end in matcher.get_opcodes():
            if tag != "equal":
                yield Edit(self.start + old_start, self.start + old_end, wanted[start:end])


def prompted_output(rows: Sequence[str], block: Block, index: int) -> Span:
    """The output below a prompt of a doctest or console block; in the latter with the exit status.

    Blank lines that set commands of a console apart are no output.
    """
    unit = block.units[index]
    code = PROMPTS[block.kind] + unit.code.split("\n")[0]
    prefix = prefix_before(rows, unit.line - 1, code)
    text = block.code.split("\n")
    if block.kind == "testconsole":
        following = block.units[index + 1 : index + 2]
        end = following[0].line if following else block.line + len(text)
        old = text[unit.expected_line - block.line : end - block.line]
        while old and not old[-1].strip():
            old.pop()
    else:
        old = unit.expected.split("\n")[:-1]
    return checked(rows, unit.expected_line - 1, old, prefix)


def text_span(rows: Sequence[str], line: int, text: Sequence[str]) -> Span:
    """The rows of a whole text that starts at a line."""
    at = next((number for number, row in enumerate(text) if row.strip()), 0)
    return checked(rows, line - 1, text, prefix_before(rows, line - 1 + at, text[at]))


def filling(rows: Sequence[str], name: str, line: int, new: list[str]) -> Edit:
    """The edit that puts text into a directive that has none, opened at a line."""
    start, end = extent(rows, name, line)
    if match := re.match(rf"{MARKS}(?=\.\. )", rows[start]):
        return Edit(end, end, Span(0, 0, match[0] + INDENT).written(["", *new]))
    prefix = rows[end - 1][: len(rows[end - 1]) - len(rows[end - 1].lstrip(" \t>"))]
    span = Span(end - 1, end - 1, prefix)
    return Edit(span.start, span.end, span.written(with_blank(rows, span, new)))


def prefix_before(rows: Sequence[str], at: int, text: str) -> str:
    """What stands before a text in its row; the mark of a list's item as the indentation of what follows."""
    row, wanted = (rows[at] if 0 <= at < len(rows) else "").rstrip(), text.rstrip()
    prefix = row[: len(row) - len(wanted)]
    if not row.endswith(wanted) or ITEM.sub("", prefix).strip(MARGIN):
        raise misplaced(at)
    return re.sub(r"[^\s>#]", " ", prefix)


def checked(rows: Sequence[str], start: int, text: Sequence[str], prefix: str) -> Span:
    """The span of a text. Raises RefusedError if it does not stand there."""
    end = start + len(text)
    for number, row in zip(range(start, end), text, strict=True):
        if number >= len(rows) or rows[number].rstrip() != (prefix + row).rstrip():
            raise misplaced(number)
    return Span(start, end, prefix)


def misplaced(at: int) -> RefusedError:
    """The error for text that is not where parsing found it."""
    return RefusedError(
        f"line {at + 1} of the source is not as it was read (an include or an extension changes the text): edit by hand"
    )


def needs_blank(rows: Sequence[str], at: int, first: str) -> bool:
    """Whether text that starts at a row would be read as options of the directive above, without a blank row."""
    return first.lstrip().startswith((":", "---")) and bool(rows[at - 1].strip(" \t>"))


def removal(rows: Sequence[str], name: str, line: int) -> Edit:
    """Takes a directive with its content, which includes a line, out of the page, and one blank row above it."""
    start, end = extent(rows, name, line)
    if not rows[start - 1].strip(MARGIN):
        start -= 1
    return Edit(start, end, ())


def extent(rows: Sequence[str], name: str, line: int) -> tuple[int, int]:
    """The rows of a whole directive, of which `line` is content; in reStructuredText those indented below it."""
    at = line - 1
    fence = fence_of(rows, at, name) or fence_of(rows, at + 1, name)  # parsers name the opener of an empty one
    if fence:
        if fence.closer is None:
            raise unclosed(fence)
        return fence.opener, fence.closer + 1
    opener = re.compile(rf"(?P<indent>{MARKS})\.\. {name}::", re.IGNORECASE)
    start = next((number for number in range(min(at, len(rows) - 1), -1, -1) if opener.match(rows[number])), None)
    match = opener.match(rows[start]) if start is not None else None
    if start is None or match is None:
        raise misplaced(at)
    end = start + 1
    for number in range(start + 1, len(rows)):
        if rows[number].strip(MARGIN):
            if not rows[number].startswith(match["indent"] + " "):
                break
            end = number + 1
    return start, end


def unclosed(fence: Fence) -> RefusedError:
    """The error for a block that ends with the text around it."""
    return RefusedError(f"the block that opens at line {fence.opener + 1} has no closing fence: add one")


def new_output(rows: Sequence[str], block: Block, new: Sequence[str]) -> Edit:
    """A testoutput below a testcode that has none, with the same fence and behind the same prefix."""
    if block.source.endswith(".py"):
        return new_cell(rows, block, new)
    fence = fence_of(rows, block.line - 1, "testcode")
    if fence is None:
        start, end = extent(rows, "testcode", block.line)
        before, _, group = rows[start].partition(".. ")
        opener = f".. testoutput::{group.partition('::')[2]}"
        return Edit(end, end, Span(0, 0, before).written(["", opener, "", *Span(0, 0, INDENT).written(new)]))
    if fence.closer is None:
        raise unclosed(fence)
    before = rows[fence.opener][: rows[fence.opener].index(fence.marks)]
    prefix = re.sub(r"[^\s>]", " ", before)  # of a list item: the indentation of what follows
    marks = fence.marks[0] * max(len(fence.marks), longest_run(new, fence.marks[0]) + 1)
    opener = marks + re.sub("testcode", "testoutput", fence.info, count=1, flags=re.IGNORECASE)
    blank = [""] if needs_blank([opener], 1, new[0]) else []
    text = ["", opener, *blank, *new, marks]
    return Edit(fence.closer + 1, fence.closer + 1, Span(0, 0, prefix).written(text))


def new_cell(rows: Sequence[str], block: Block, new: Sequence[str]) -> Edit:
    """A testoutput in a text cell of its own, below the code that needs it in the script of a gallery."""
    at = checked(rows, block.line - 1, block.code.rstrip("\n").split("\n"), "").end
    return Edit(at, at, ("", "# %%", "# .. testoutput::", "#", *Span(0, 0, "#    ").written(new)))


def with_blank(rows: Sequence[str], span: Span, new: list[str]) -> list[str]:
    """The new rows of a testoutput, below a blank one if that keeps them from being read as options."""
    return ["", *new] if new and needs_blank(rows, span.start, new[0]) else new
