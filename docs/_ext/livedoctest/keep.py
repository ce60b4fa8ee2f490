"""New output in which the author's patterns that still match stay as they are."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from livedoctest.difference import Alignment
from livedoctest.judge import Options, judge
from livedoctest.outcome import Normalizer

_MOST = 40_000  # pairs of lines that are compared; beyond, lines between equal beginnings and ends are all new


def merged(
    expected: Sequence[str],
    printed: Sequence[str],
    fresh: Sequence[str],
    options: Options,
    normalizer: Normalizer,
) -> list[str]:
    """Lines for the page: each expected line that matches what was printed in its place, else the new one.

    Args:
        expected: The lines of the page, as written.
        printed: The lines that were printed, as they are compared.
        fresh: The same lines as they are to be written; one for each printed line, or nothing is kept.
        options: The judge's options for the block.
        normalizer: What both sides go through before they are compared.
    """
    if len(fresh) != len(printed):
        return list(fresh)
    wanted = [normalizer.compared(line) for line in expected]
    same = partial(_same, options=options)

    def goes_on(line: str) -> bool:
        return options.ellipsis and line.rstrip().endswith("...")

    head = _equal(wanted, printed, options)
    tail = _equal(wanted[head:][::-1], printed[head:][::-1], options)
    ends = len(wanted) - tail, len(printed) - tail
    middle, between = wanted[head : ends[0]], printed[head : ends[1]]
    lines, at = list(expected[:head]), head
    if len(middle) * len(between) <= _MOST:
        for i, j, end in Alignment(middle, list(between), same, goes_on).pairs():
            lines += [*fresh[at : head + j], expected[head + i]]
            at = head + end
    return [*lines, *fresh[at : ends[1]], *expected[ends[0] :]]


def _same(one: str, other: str, options: Options) -> bool:
    return judge(one + "\n", other + "\n", options).ok


def _equal(wanted: Sequence[str], printed: Sequence[str], options: Options) -> int:
    """How many lines match one by one from the beginning, up to one that may stand for several."""
    for number, (one, other) in enumerate(zip(wanted, printed, strict=False)):
        if (options.ellipsis and "..." in one) or not _same(one, other, options):
            return number
    return min(len(wanted), len(printed))
