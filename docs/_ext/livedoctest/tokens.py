"""Text as numbers, the spaces that pad them, and single characters: what the option NUMBER compares.

An expected token matches exactly one printed token.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

# A decimal fraction, or digits with an exponent; not a part of 2.13.0, nor the end of a name such as v1.5.
_FRACTION = r"(?<![\w.])[+-]?(?:(?:\d+\.\d+|\.\d+|\d+\.(?!\w))(?:[eE][+-]?\d+)?(?!\d|\.\w)|\d+[eE][+-]?\d+(?!\w))"
_TOKEN = re.compile(
    rf"(?P<fraction>{_FRACTION})|(?P<special>\b(?:nan|inf)\b)|(?P<integer>\d+)|(?P<spaces> +)|(?P<other>.)", re.DOTALL
)


@dataclass(frozen=True)
class Token:
    """A token.

    Attributes:
        text: What stands in the text; of padding that counts, one space.
        kind: The name of its group in the pattern above.
        open_before: In expected text: `...` stands before the token and may be the beginning of the same number.
        open_after: Likewise, after it.
    """

    text: str
    kind: str
    open_before: bool = False
    open_after: bool = False

    def takes(self, printed: Token) -> bool:
        """Whether this expected token matches a printed one."""
        if self.text == printed.text:
            return True
        if self.kind == printed.kind == "fraction" and _close(self.text, printed.text):
            return True
        if printed.kind not in ("fraction", "integer"):
            return False
        if self.open_before and self.open_after:
            return self.text in printed.text
        return (self.open_after and printed.text.startswith(self.text)) or (
            self.open_before and printed.text.endswith(self.text)
        )


def tokens(text: str) -> list[Token]:
    """Cut text into tokens, without the padding of its numbers."""
    found = [Token(match[0], match.lastgroup or "") for match in _TOKEN.finditer(text)]
    kept = []
    for i, token in enumerate(found):
        if token.kind == "spaces":
            before, after = found[i - 1 : i], found[i + 1 : i + 2]
            if _padded(before) or _padded(after):
                if not (_wordlike(before) and _wordlike(after)):
                    continue
                token = replace(token, text=" ")
        kept.append(token)
    return kept


def patterns(pieces: Sequence[str]) -> list[list[Token]]:
    """Cut the pieces of expected text, between which `...` stands, into tokens."""
    cut = []
    for i, piece in enumerate(pieces):
        after_gap, before_gap = i > 0, i < len(pieces) - 1
        # spaces beside `...` may pad the number that it hides
        piece = piece.lstrip(" ") if after_gap else piece
        found = tokens(piece.rstrip(" ") if before_gap else piece)
        if found and after_gap:
            found[0] = replace(found[0], open_before=True)
        if found and before_gap:
            found[-1] = replace(found[-1], open_after=True)
        cut.append(found)
    return cut


def stands_at(printed: Sequence[Token], piece: Sequence[Token], at: int) -> bool:
    """Whether a piece of expected text matches the printed tokens from `at` on."""
    if at + len(piece) > len(printed):
        return False
    return all(token.takes(printed[at + i]) for i, token in enumerate(piece))


def find(printed: Sequence[Token], piece: Sequence[Token], start: int, end: int) -> int:
    """The first place from `start` on where a piece matches printed tokens before `end`, or -1."""
    places = range(start, end - len(piece) + 1)
    return next((at for at in places if stands_at(printed, piece, at)), -1)


def _padded(neighbour: list[Token]) -> bool:
    return bool(neighbour) and neighbour[0].kind in ("fraction", "special")


def _wordlike(neighbour: list[Token]) -> bool:
    """Whether the token would run together with one that followed it at once."""
    return bool(neighbour) and (neighbour[0].text[-1].isalnum() or neighbour[0].text == "_")


def _close(expected: str, printed: str) -> bool:
    """Whether a number rounds to the expected one at its last written digit."""
    digits, _, exponent = expected.lower().partition("e")
    places = len(digits.partition(".")[2])
    try:
        unit = Decimal(1).scaleb(int(exponent or 0) - places)
        return abs(Decimal(printed) - Decimal(expected)) <= unit / 2
    except ArithmeticError:  # an exponent that no number has
        return False
