"""Places for pages to run in: on hardware one a card, so that every page finds its own `npu:0`."""

from __future__ import annotations

from typing import Any


class Slots:
    """Deals places to pages.

    Args:
        parallel: How many pages run at once where there are no cards to deal.
        cards: The numbers of the cards, as ASCEND_RT_VISIBLE_DEVICES takes them.
    """

    def __init__(self, parallel: int, cards: list[str]) -> None:
        self._cards = bool(cards)
        self._free = cards or [""] * parallel

    def take(self, page: dict[str, Any]) -> list[str] | None:
        """The cards for a page that asks for so many (for one, unless it says more); None while they are in use.

        A page without a card to itself takes a place all the same, and gets an empty one.
        """
        count = page.get("cards", 1) if self._cards else 1
        if count > len(self._free):
            return None
        taken, self._free = self._free[:count], self._free[count:]
        return taken

    def give_back(self, taken: list[str]) -> None:
        """Let other pages have the places of one that has ended."""
        self._free = sorted(self._free + taken, key=lambda card: (len(card), card))
