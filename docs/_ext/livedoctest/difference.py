"""The unified diff of expected and printed lines, in which what matches by a pattern is no difference."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator
from functools import cache

_MOST = 40_000  # pairs of lines that are compared; beyond, only equal lines are no difference


def difference(
    expected: list[str],
    got: list[str],
    same: Callable[[str, str], bool],
    goes_on: Callable[[str], bool],
) -> str:
    """Unified diff of lines.

    Args:
        expected: Expected lines.
        got: Printed lines.
        same: Whether an expected line matches a printed line.
        goes_on: Whether an expected line, once it has matched a line, stands for following lines too.
    """
    resolved = expected
    if len(expected) * len(got) <= _MOST:
        resolved = list(Alignment(expected, got, same, goes_on).resolved())
    if resolved == got:  # each line matches one, and yet not all together
        resolved = expected
    return "\n".join(difflib.unified_diff(resolved, got, "expected", "got", lineterm=""))


class Alignment:
    """Pairs expected with printed lines so that most match; then, so that most printed lines are accounted for."""

    def __init__(
        self, expected: list[str], got: list[str], same: Callable[[str, str], bool], goes_on: Callable[[str], bool]
    ) -> None:
        self._expected, self._got = expected, got
        self._same, self._goes_on = cache(same), cache(goes_on)
        rows, columns = len(expected) + 1, len(got) + 1
        # A printed line that an earlier match goes on for counts 1, one in the place of an expected line 2, and a match
        # more than all of those together.
        self._match = 2 * columns
        # what can be gained from expected line i and printed line j on; the same, if line i has matched and goes on
        self._gain = [[0] * columns for _ in range(rows)]
        self._gain_going_on = [[0] * columns for _ in range(rows)]
        for i in reversed(range(len(expected))):
            for j in reversed(range(columns)):
                self._fill(i, j)

    def _fill(self, i: int, j: int) -> None:
        gain, going_on = self._gain, self._gain_going_on
        gain[i][j] = going_on[i][j] = gain[i + 1][j]
        if j < len(self._got):
            gain[i][j] = max(gain[i][j], gain[i][j + 1], self._if_paired(i, j))
            going_on[i][j] = max(going_on[i][j], 1 + going_on[i][j + 1])

    def _if_paired(self, i: int, j: int) -> int:
        if not self._same(self._expected[i], self._got[j]):
            return 2 + self._gain[i + 1][j + 1]
        further = self._gain_going_on[i] if self._goes_on(self._expected[i]) else self._gain[i + 1]
        return self._match + further[j + 1]

    def resolved(self) -> Iterator[str]:
        """The expected lines, those that match replaced by the printed lines that they stand for."""
        i = j = 0
        while i < len(self._expected):
            gain = self._gain[i][j]
            if j < len(self._got) and gain == self._if_paired(i, j):
                end = self._end_of_match(i, j)
                yield from self._got[j:end] or [self._expected[i]]
                i, j = i + 1, max(end, j + 1)
            elif gain == self._gain[i + 1][j]:
                yield self._expected[i]
                i += 1
            else:
                j += 1

    def pairs(self) -> Iterator[tuple[int, int, int]]:
        """Each expected line that matches, with the first printed line it stands for and the end of those."""
        i = j = 0
        while i < len(self._expected):
            gain = self._gain[i][j]
            if j < len(self._got) and gain == self._if_paired(i, j):
                end = self._end_of_match(i, j)
                if end > j:
                    yield i, j, end
                i, j = i + 1, max(end, j + 1)
            elif gain == self._gain[i + 1][j]:
                i += 1
            else:
                j += 1

    def _end_of_match(self, i: int, j: int) -> int:
        """The end of the printed lines from `j` on that the expected line stands for."""
        if not self._same(self._expected[i], self._got[j]):
            return j
        j += 1
        if self._goes_on(self._expected[i]):
            while self._gain_going_on[i][j] != self._gain[i + 1][j]:
                j += 1
        return j
