"""Records of verified runs on live hardware: files that are committed, so that every build can show them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

from livedoctest import atomic
from livedoctest.block import Block, Page
from livedoctest.cache import Run
from livedoctest.device import Device
from livedoctest.outcome import Outcome
from livedoctest.problems import Problem, warn
from livedoctest.settings import Settings


@dataclass(frozen=True)
class Record:
    """A run of a page on one kind of live device, in which no block failed.

    Attributes:
        device: What torch_npu calls the device.
        count: How many there were.
        versions: By distribution, and CANN's.
        date: ISO 8601, UTC.
        blocks: For each block its id, kind, status, digests of code and output, and the output where it is not, letter
            for letter, what the page expects.
    """

    device: str
    count: int
    versions: dict[str, str | None]
    date: str
    blocks: list[dict[str, Any]]

    def stale(self, page: Page) -> bool:
        """Whether the code of the page has changed since."""
        return [each["code"] for each in self.blocks] != [digest(block.code) for block in page.blocks]

    @property
    def passed(self) -> int:
        """How many blocks ran and passed."""
        return sum(each["status"] == "passed" for each in self.blocks)


def digest(text: str) -> str:
    """A short digest of code or output."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def record(page: Page, outcomes: list[Outcome], run: Run, device: Device) -> Record:
    """The record of a run."""
    blocks = [entry(block, outcome) for block, outcome in zip(page.blocks, outcomes, strict=True)]
    return Record(device.name, device.count, device.versions, run.started[:10], blocks)


def entry(block: Block, outcome: Outcome) -> dict[str, Any]:
    """A block in a record."""
    output = "".join(outcome.published)
    found = {"id": block.id, "kind": block.kind, "status": outcome.status, "code": digest(block.code)}
    if outcome.status == "passed":
        found["output"] = digest(output)
        if output.rstrip() != "".join(unit.expected for unit in block.units).rstrip():
            found["text"] = output
    return found


def folder_of(app: Sphinx) -> Path | None:
    """The folder of the records, if the project keeps any."""
    name = Settings.of(app.config).records
    return Path(app.confdir, name) if name else None


def load(app: Sphinx, docname: str) -> list[Record]:
    """The record of a page for each device that has one, by name of the device; each is read once a build."""
    if not hasattr(app, "livedoctest_records"):
        app.livedoctest_records = {}  # type: ignore[attr-defined]
    kept: dict[str, list[Record]] = app.livedoctest_records  # type: ignore[attr-defined]
    folder = folder_of(app)
    if docname not in kept:
        paths = sorted(folder.glob(f"*/{docname}.json")) if folder else []
        kept[docname] = [found for path in paths if (found := read(path))]
    return kept[docname]


def read(path: Path) -> Record | None:
    """A record; one that cannot be read is warned of."""
    try:
        return Record(**json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError) as error:
        warn(Problem.RECORD, str(path), f"This record cannot be read ({error}): restore it, or write it anew.")
        return None


def load_all(app: Sphinx, docnames: Iterable[str]) -> dict[str, list[Record]]:
    """The records of several pages."""
    return {name: load(app, name) for name in docnames}


def write(folder: Path, docname: str, new: Record) -> bool:
    """Write a record, unless the one that is there differs in its date only. Whether it was written."""
    path = folder / new.device.replace("/", "-") / f"{docname}.json"
    content = asdict(new)
    if path.is_file():
        try:
            if {**json.loads(path.read_text(encoding="utf-8")), "date": new.date} == content:
                return False
        except ValueError:
            pass  # unreadable: replaced
    path.parent.mkdir(parents=True, exist_ok=True)
    atomic.replace(path, (json.dumps(content, ensure_ascii=False, indent=1) + "\n").encode())
    return True
