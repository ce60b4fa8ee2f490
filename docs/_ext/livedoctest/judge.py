"""Compares what the page says with what was printed: a pure function of both and of the block's options.

Patterns need no backtracking: the pieces of expected text between the `...` have fixed lengths, and are looked for from
left to right. That holds for numbers too, because both sides are then cut into tokens, of which one matches one.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence, Sized
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from livedoctest.difference import difference
from livedoctest.tokens import find, patterns, stands_at, tokens

_ELLIPSIS = "..."
_SPACE = " \t\r\f\v"  # a line break is never trailing space

Piece = TypeVar("Piece", bound=Sized)


@dataclass(frozen=True)
class Options:
    """How to compare; the fields are the flags of doctest, and NUMBER.

    Attributes:
        ellipsis: `...` stands for any text, also over several lines.
        number: A decimal fraction stands for every number that rounds to it at its last written digit; the spaces that
            pad such numbers do not count. Integers, and everything else, stay exact.
        normalize_whitespace: All runs of white space are equal.
        ignore_exception_detail: Of an exception only the type counts, without its module.
        dont_accept_blankline: `<BLANKLINE>` stands for itself, not for an empty line.
    """

    ellipsis: bool = False
    number: bool = False
    normalize_whitespace: bool = False
    ignore_exception_detail: bool = False
    dont_accept_blankline: bool = False


@dataclass(frozen=True)
class Verdict:
    """The outcome of a comparison.

    Attributes:
        ok: Whether the text is as expected.
        line: The first expected line that is not, counted from 0; the last one if only further text follows.
        diff: Unified diff from expected to printed text; lines that match by a pattern are no difference in it.
    """

    ok: bool
    line: int = 0
    diff: str = ""


def judge(expected: str, got: str, options: Options) -> Verdict:
    """Compare printed text, exactly but for white space at the ends of lines, and for what the options allow."""
    wanted, printed = _lines(expected), _lines(got)
    if not options.dont_accept_blankline:
        wanted = ["" if line == "<BLANKLINE>" else line for line in wanted]
    if _matches(wanted, printed, options):
        return Verdict(True)
    first = bisect_left(range(len(wanted)), True, key=lambda i: not _begins(wanted[: i + 1], printed, options))
    return Verdict(
        ok=False,
        line=max(0, min(first, len(wanted) - 1)),
        diff=difference(
            wanted,
            printed,
            same=lambda one, other: _matches([one], [other], options),
            goes_on=lambda line: options.ellipsis and line.endswith(_ELLIPSIS),
        ),
    )


def judge_exception(expected: str, got: str, options: Options) -> Verdict:
    """Compare an exception, given as "Type: message"; the type has its module unless that is builtins or the page."""
    if options.ignore_exception_detail:
        expected, got = _kind(expected), _kind(got)
    return judge(expected.rstrip("\n"), got.rstrip("\n"), options)


def _kind(exception: str) -> str:
    name = exception.partition("\n")[0].partition(":")[0]
    return name.rpartition(".")[2]


def _lines(text: str) -> list[str]:
    lines = [line.rstrip(_SPACE) for line in text.split("\n")]
    return lines if text and not text.endswith("\n") else lines[:-1]


def _matches(wanted: list[str], printed: list[str], options: Options) -> bool:
    return _compare(_joined(wanted, options), _joined(printed, options), options)


def _begins(wanted: list[str], printed: list[str], options: Options) -> bool:
    """Whether the printed text begins with what is wanted, in whole lines (whole words if line breaks don't count)."""
    end = " " if options.normalize_whitespace else ""
    return _compare(_joined(wanted, options) + end, _joined(printed, options) + end, options, whole=False)


def _joined(lines: list[str], options: Options) -> str:
    return " ".join(" ".join(lines).split()) if options.normalize_whitespace else "".join(f"{line}\n" for line in lines)


def _compare(expected: str, got: str, options: Options, whole: bool = True) -> bool:
    """Whether the printed text is the expected one, or, unless it is compared as a `whole`, begins with it."""
    pieces = expected.split(_ELLIPSIS) if options.ellipsis else [expected]
    if _in_order(pieces, len(got), got.startswith, got.find, whole):
        return True
    if not options.number:
        return False
    printed = tokens(got)
    return _in_order(patterns(pieces), len(printed), partial(stands_at, printed), partial(find, printed), whole)


def _in_order(
    pieces: Sequence[Piece],
    length: int,
    stands_at: Callable[[Piece, int], bool],
    find: Callable[[Piece, int, int], int],
    whole: bool,
) -> bool:
    """Whether the pieces stand one after the other in printed text of this length, from its first to its last place."""
    first, *rest = pieces
    if not stands_at(first, 0):
        return False
    start, end = len(first), length
    if whole and not rest:
        return start == end
    if whole:
        last = rest.pop()
        end -= len(last)
        if end < start or not stands_at(last, end):
            return False
    for piece in rest:
        found = find(piece, start, end)
        if found < 0:
            return False
        start = found + len(piece)
    return True
