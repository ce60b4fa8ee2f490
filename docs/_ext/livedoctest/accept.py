"""Write what the blocks printed into the sources, for outputs only, and only if the pages then verify."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from livedoctest import atomic
from livedoctest.block import Block, Page
from livedoctest.edit import Edit, RefusedError, apply, rows_of
from livedoctest.execute import Verification, judged
from livedoctest.fence import longer
from livedoctest.outcome import Normalizer
from livedoctest.proposal import Part, Refusal, propose, with_new
from livedoctest.session import Session, parsed_text
from livedoctest.settings import Settings

LINES = ("line", "warnings_line", "expected_line")
NOT_AS_BEFORE = "with the new output the page would not be read as before: make the block print something else"


@dataclass
class Change:
    """What is to become of one source file; it may be a page, or included by pages."""

    path: Path
    name: str  # as reports name it
    edits: list[Edit] = field(default_factory=list)
    parts: dict[int, set[Part]] = field(default_factory=lambda: defaultdict(set))  # by the line of their block
    refusals: list[Refusal] = field(default_factory=list)

    @property
    def summary(self) -> str:
        """One line for the author."""
        if self.refusals:
            return f"{self.name}: refused, nothing written"
        count = sum(map(len, self.parts.values()))
        return f"{self.name}: {count} output{'s' * (count != 1)} rewritten"

    def on(self, page: Page) -> bool:
        """Whether blocks of the page come from the file."""
        return any(block.source == self.name for block in page.blocks)


def accept(session: Session, verification: Verification) -> list[Change]:
    """Rewrite the outputs that differ. A file with anything that cannot be accepted is left alone.

    Returns:
        What was done, or refused and why, for each file with a failure.
    """
    return Acceptance(session, verification).run()


class Acceptance:
    """The way from results to files: propose, draft, try the drafts out, write."""

    def __init__(self, session: Session, verification: Verification) -> None:
        self._session = session
        self._verification = verification
        self._normalizer = Normalizer(Settings.of(session.app.config).normalizers)
        self._changes: dict[Path, Change] = {}
        self._drafts: dict[Path, str] = {}

    def run(self) -> list[Change]:
        """All of it, for all files."""
        self._propose()
        for change in self._changes.values():
            if not change.refusals:
                self._draft(change)
        while refused := self._fail_trial():
            for change in refused:
                del self._drafts[change.path]
        for path, text in self._drafts.items():
            self._write(self._changes[path], text)
        return list(self._changes.values())

    def _propose(self) -> None:
        """Collect what the results of all pages ask for, by file."""
        for docname, page in sorted(self._verification.pages.items()):
            outcomes, results = self._verification.outcomes[docname], self._verification.runs[docname].results
            for block, outcome, found in zip(page.blocks, outcomes, results, strict=True):
                if outcome.status != "failed":
                    continue
                path = self._session.source(block.source)
                change = self._changes.setdefault(path, Change(path, block.source))
                proposal = propose(page, block, found, self._verification.device, self._normalizer, self._text(path))
                change.edits += proposal.edits
                change.parts[block.line].update(proposal.parts)
                change.refusals += [Refusal(each.line, f"{block.kind}: {each.reason}") for each in proposal.refusals]

    def _text(self, path: Path) -> str:
        return self._session.sources[path].decode("utf-8", errors="surrogateescape")

    def _draft(self, change: Change) -> None:
        """Make the new text of a file, if its edits fit together."""
        text = self._text(change.path)
        try:
            self._drafts[change.path] = apply(text, [*change.edits, *longer(rows_of(text), change.edits)])
        except RefusedError as error:
            change.refusals.append(Refusal(min(change.edits).start + 1, str(error)))

    def _fail_trial(self) -> list[Change]:
        """Read the pages again with the drafts, and judge the same results: the files that must be left alone."""
        refused = []
        for change in [self._changes[path] for path in self._drafts]:
            pages = [name for name, page in self._verification.pages.items() if change.on(page)]
            found = (problem for name in pages for problem in self._problems(name, change))
            if problem := next(found, None):
                change.refusals.append(problem)
                refused.append(change)
        return refused

    def _problems(self, docname: str, change: Change) -> Iterator[Refusal]:
        """What is wrong with a page when it is read with the drafts."""
        old = self._verification.pages[docname]
        drafts = {path: parsed_text(text) for path, text in self._drafts.items()}
        new, same_prose = self._session.try_out(docname, drafts)
        if new.findings or not same_prose or len(old.blocks) != len(new.blocks):
            fault = f"with the new output the page has a fault: {new.findings[0].text}" if new.findings else ""
            yield Refusal(min(change.edits).start + 1, fault or NOT_AS_BEFORE)
            return
        outcomes = judged(new, self._verification.runs[docname], self._verification.device, self._normalizer)
        for before, after, outcome in zip(old.blocks, new.blocks, outcomes, strict=True):
            if before.source != change.name:
                continue
            if content(with_new(before, after, change.parts.get(before.line, ()))) != content(after):
                yield Refusal(before.line, NOT_AS_BEFORE)
            elif outcome.status == "failed":
                yield Refusal(before.line, self._disagreement(docname, change, outcome.reason))

    def _disagreement(self, docname: str, change: Change, reason: str) -> str:
        """Why a block still fails: another page that includes it printed something else, or parsing lost something."""
        if sum(change.on(page) for page in self._verification.pages.values()) > 1:
            return f"with the new output, on the page {docname}, {reason}: make it the same on all pages that show it"
        lost = "parsers may drop tabs and indentation: make the block print it in another way"
        return f"when the new output is read back, {reason}; {lost}"

    def _write(self, change: Change, text: str) -> None:
        """Write a file, unless it has changed since its blocks were read."""
        if change.path.read_bytes() != self._session.sources[change.path]:
            change.refusals.append(Refusal(1, "the file was changed while its blocks ran: accept again"))
        else:
            atomic.replace(change.path, text.encode("utf-8", errors="surrogateescape"))


def content(block: Block) -> dict[str, Any]:
    """Everything of a block but its place, and but its text, of which the units are."""
    values = asdict(block)
    values["outputs"] = [other for other in values["outputs"] if not other["applies"]]
    for line in LINES:
        values.pop(line, None)
        for part in (*values["units"], *values["outputs"]):
            part.pop(line, None)
    if block.kind in ("doctest", "testconsole"):
        del values["code"]
    return values
