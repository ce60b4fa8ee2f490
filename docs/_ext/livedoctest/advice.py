"""What a failure report says last: the command that accepts what the block did, or why that cannot be accepted."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable
from pathlib import Path

from sphinx.application import Sphinx

from livedoctest.block import Block, Page
from livedoctest.cache import Run
from livedoctest.device import Device
from livedoctest.outcome import Failure, Normalizer, Outcome
from livedoctest.proposal import Proposal, propose
from livedoctest.settings import Settings


def advice(
    app: Sphinx, page: Page, outcomes: list[Outcome], run: Run, device: Device
) -> Callable[[Block, Failure], str]:
    """For each failure of a page, its last part."""
    normalizer = Normalizer(Settings.of(app.config).normalizers)
    proposals: dict[int, Proposal] = {}
    for block, outcome, results in zip(page.blocks, outcomes, run.results, strict=True):
        if outcome.failures:
            path = Path(app.srcdir, block.source)
            source = path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
            proposals[block.ordinal] = propose(page, block, results, device, normalizer, source)
    command = accept_command(Path(app.srcdir), Path(app.confdir), page.docname)
    refused = {
        (page.blocks[ordinal].source, each.line): each.reason
        for ordinal, proposal in proposals.items()
        for each in proposal.refusals
    }

    def words(block: Block, failure: Failure) -> str:
        if reason := refused.get((block.source, failure.line)):
            cause = reason.removeprefix(failure.what.partition("\n")[0]).lstrip("; ")
            return f"not possible: {cause or 'it has to run to its end first'}"
        others = sorted(line for source, line in refused if source == block.source)
        return f"{command}\n(once line {others[0]} is mended, which cannot be accepted)" if others else command

    return words


def accept_command(source: Path, configuration: Path, docname: str) -> str:
    """The command line that accepts the outputs of a page, for the current folder."""
    here = Path.cwd()
    source, configuration = (
        Path(os.path.relpath(path, here)) if path.is_relative_to(here) else path for path in (source, configuration)
    )
    option = [] if source == configuration else ["-c", str(configuration)]
    return shlex.join(["python", "-m", "livedoctest", "accept", *option, str(source), docname])
