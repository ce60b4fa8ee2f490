"""What a run tells: warnings for the author, a line a page, and a file for tools."""

from __future__ import annotations

import json
import os
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from livedoctest.block import Block, Page
from livedoctest.cache import Run
from livedoctest.device import Device
from livedoctest.outcome import Failure, Outcome
from livedoctest.problems import Problem, logger, warn


def warn_failures(page: Page, outcomes: list[Outcome], srcdir: Path, advice: Callable[[Block, Failure], str]) -> None:
    """One warning a failure, at the failing line; `advice` tells how to accept what the block did, or why not."""
    for block, outcome in zip(page.blocks, outcomes, strict=True):
        for failure in outcome.failures:
            problem = Problem.NOT_RUN if failure.ended else Problem.FAILED
            location = f"{srcdir / block.source}:{failure.line}"
            warn(problem, location, failure_text(block, failure, advice(block, failure)))


def warn_unended(page: Page, outcomes: list[Outcome], srcdir: Path) -> None:
    """A warning for what the page left running, at its last block."""
    for block, outcome in zip(page.blocks, outcomes, strict=True):
        if outcome.unended:
            what, _, stack = outcome.unended.partition("\n")
            remedy = "its script would hang. End the thread or handler that is left on the page, or make it a daemon."
            warn(
                Problem.UNENDED, f"{srcdir / block.source}:{block.line}", f"The page {what}: {remedy}\n{stack}".rstrip()
            )


def failure_text(block: Block, failure: Failure, advice: str) -> str:
    """The parts of a failure, always in this order: what, source, expected, got, diff, accept."""
    parts = [f"{block.kind}: {failure.what}"]
    for title, text in (
        ("source", failure.code),
        ("expected", failure.expected),
        ("got", failure.got),
        ("diff", failure.diff),
        ("accept", advice),
    ):
        if text.strip() or (title in ("expected", "got") and failure.diff):
            parts.append(f"  {title}:\n{textwrap.indent(text.rstrip() or '(nothing)', ' ' * 6)}")
    return "\n".join(parts) + "\n"  # Sphinx adds the kind of warning, which belongs to no part


def log_page(page: Page, outcomes: list[Outcome], run: Run) -> None:
    """Log what there is to say of a page."""
    for line in page_lines(page, outcomes, run):
        logger.info("livedoctest: %s", line)


def page_lines(page: Page, outcomes: list[Outcome], run: Run) -> Iterator[str]:
    """The progress line of a page, and what its blocks wrote to descriptor 2."""
    counts = {status: sum(each.status == status for each in outcomes) for status in ("passed", "failed", "skipped")}
    words = ", ".join(f"{count} {status}" for status, count in counts.items() if count) or "no blocks"
    yield f"{page.docname}: {words}{' (stored)' if run.cached else f' in {run.seconds:.2f} s'}"
    if run.cached:
        return
    for block, outcome in zip(page.blocks, outcomes, strict=True):
        for log in outcome.logs:
            yield f"{block.source}:{block.line} wrote to standard error:\n{textwrap.indent(log.rstrip(), '    ')}"


def report(
    device: Device, pages: dict[str, Page], outcomes: dict[str, list[Outcome]], runs: dict[str, Run]
) -> dict[str, Any]:
    """The machine-readable report of a build."""
    entries = [page_entry(pages[name], outcomes[name], runs[name]) for name in sorted(pages)]
    statuses = [block["status"] for entry in entries for block in entry["blocks"]]
    totals = {status: statuses.count(status) for status in ("passed", "failed", "skipped")}
    return {
        "device": {
            "kind": device.kind,
            "name": device.name,
            "count": device.count,
            **{name: device.versions.get(name) for name in ("cann", "torch", "torch_npu", "tensordict", "python")},
            "started": min((run.started for run in runs.values() if run.started), default=None),
        },
        "pages": entries,
        "totals": {"pages": len(entries), "blocks": len(statuses), **totals},
    }


def page_entry(page: Page, outcomes: list[Outcome], run: Run) -> dict[str, Any]:
    """A page in the report."""
    return {
        "docname": page.docname,
        "source": page.source,
        "seconds": round(run.seconds, 3),
        "cached": run.cached,
        "blocks": [
            {
                "id": block.id,
                "source": block.source,
                "line": block.line,
                "kind": block.kind,
                "status": outcome.status,
                "reason": outcome.reason,
                "seconds": round(outcome.seconds, 3),
                "moves": outcome.moves,
            }
            for block, outcome in zip(page.blocks, outcomes, strict=True)
        ],
    }


def write_report(path: Path, content: dict[str, Any]) -> None:
    """Write the report; a reader never sees half of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(path.name + ".new")
    fresh.write_text(json.dumps(content, ensure_ascii=False) + "\n", encoding="utf-8")
    os.replace(fresh, path)


def repeats(path: Path, content: dict[str, Any]) -> bool:
    """Whether the report at `path` says the same, apart from which pages were stored."""
    try:
        before = json.loads(path.read_text(encoding="utf-8"))
        for page in before["pages"]:
            page["cached"] = True
    except (OSError, ValueError, KeyError, TypeError):
        return False
    return bool(before == content)
