"""What the server is told to run, and what its results become: a job is a page, or one of the groups of its blocks."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from livedoctest.block import Block, Page
from livedoctest.cache import Run
from livedoctest.client import RunnerError
from livedoctest.conditions import devices_needed
from livedoctest.device import Device
from livedoctest.outcome import Normalizer, outcome, skip_reason
from livedoctest.settings import Settings
from livedoctest.stock import GLOBAL, Stock

ORDER = {
    "testsetup": 0,
    "testcleanup": 2,
}  # as in sphinx.ext.doctest; everything else between them, as written


@dataclass
class Jobs:
    """The jobs of pages; `runs` collects their results."""

    pages: list[Page]
    device: Device
    settings: Settings
    stock: Stock
    runs: dict[str, Run] = field(init=False)
    _sources: dict[str, str] = field(init=False)
    _places: list[tuple[str, list[Block]]] = field(init=False)
    _left: Counter[str] = field(init=False)

    def __post_init__(self) -> None:
        started = datetime.now(UTC).isoformat(timespec="seconds")
        self.runs = {page.docname: Run([[] for _ in page.blocks], 0.0, started) for page in self.pages}
        self._sources = {page.docname: page.source for page in self.pages}
        self._places = [
            (page.docname, self.stock.around(blocks)) for page in self.pages for blocks in grouped(page, self.device)
        ]
        self._left = Counter(docname for docname, _ in self._places)

    def orders(self) -> list[dict[str, Any]]:
        """The jobs as the server's protocol describes them; empty where no block runs here."""
        return [
            {
                "docname": str(number),
                "source": self._sources[docname],
                "cards": max(devices_needed(block.requires, self.device) for block in blocks),
                "blocks": [self._order(block) for block in blocks],
            }
            for number, (docname, blocks) in enumerate(self._places)
        ]

    def codes(self) -> Iterator[str]:
        """The Python code that runs."""
        for _, blocks in self._places:
            yield from (unit.code for block in blocks for unit in block.units if unit.mode in ("exec", "single"))

    def _order(self, block: Block) -> dict[str, Any]:
        return {
            "kind": block.kind,
            "source": block.source,
            "timeout": block.timeout or self.settings.timeout,
            "count": block.moves is not None and self.device.kind == "simulated",
            "units": [
                {"mode": unit.mode, "code": unit.code, "line": unit.line, "name": unit.name} for unit in block.units
            ],
        }

    def take(self, event: dict[str, Any]) -> str:
        """Add what the server says to the runs; returns the page whose job has ended, or an empty string.

        Raises RunnerError if the global set-up or clean-up fails.
        """
        docname, blocks = self._places[int(event["docname"])]
        if "result" not in event:
            self.runs[docname].seconds += event["seconds"]
            self.runs[docname].modules.update(event["modules"])
            self._add_end(docname, blocks, event["end"])
            self._left[docname] -= 1
            return docname
        block = blocks[event["block"]]
        if block.ordinal == GLOBAL:
            self._check_global(docname, block, event["result"])
        else:
            self.runs[docname].results[block.ordinal].append(event["result"])
        return ""

    def _add_end(self, docname: str, blocks: list[Block], end: dict[str, Any] | None) -> None:
        """What shows after the last block counts as done by it; the global clean-up stands on no page."""
        if end and any(end.values()):
            last = next(block for block in reversed(blocks) if block.ordinal != GLOBAL)
            self.runs[docname].results[last.ordinal][-1]["end"] = end

    def complete(self, docname: str) -> bool:
        """Whether all jobs of a page have ended."""
        return not self._left[docname]

    def _check_global(self, docname: str, block: Block, result: dict[str, Any]) -> None:
        fault = result["fault"]
        if fault and fault["kind"] == "lost":
            return  # the block that ended the process is reported
        found = outcome(block, [result], self.device, Normalizer(self.settings.normalizers))
        for failure in found.failures:
            raise RunnerError(
                f"{block.source} in conf.py, on the page {docname}: {failure.what}\n{failure.got}".rstrip()
            )


def grouped(page: Page, device: Device) -> Iterator[list[Block]]:
    """The blocks that run here, by group: each group has a process of its own, as if it were a page."""
    groups: dict[str, list[Block]] = defaultdict(list)
    here = [block for block in page.blocks if not skip_reason(block, device)]
    names = sorted({name for block in here for name in block.groups} - {"*"}) or ["default"]
    for block in here:
        for name in names if "*" in block.groups else block.groups:
            groups[name].append(block)
    for name in names:
        if groups[name]:
            yield sorted(groups[name], key=lambda block: ORDER.get(block.kind, 1))
