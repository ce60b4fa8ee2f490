"""Run the blocks of a site: after reading, before writing."""

from __future__ import annotations

import os
import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

from livedoctest import report
from livedoctest.advice import advice
from livedoctest.block import Block, Page
from livedoctest.builder import VerifyBuilder
from livedoctest.cache import Cache, Run, cache_of, page_key
from livedoctest.client import RunnerError, run
from livedoctest.collect import pages_of
from livedoctest.device import Device, DeviceError, detect
from livedoctest.outcome import Normalizer, Outcome, outcome, skip_reason
from livedoctest.problems import Problem, logger, warn
from livedoctest.settings import Settings

PASSIVE_BUILDERS = ("gettext", "linkcheck", "changes")  # they read pages, but write none
ORDER = {
    "testsetup": 0,
    "testcleanup": 2,
}  # as in sphinx.ext.doctest; everything else between them, as written


class Stop(SystemExit):
    """Ends the build with status 2, after the cause was logged.

    Sphinx would print any other exception as a fault of its own, below a page of versions and with a plea to report it.
    """

    def __init__(self, cause: str) -> None:
        logger.error("livedoctest: %s", cause)
        super().__init__(2)


@dataclass
class Verification:
    """What the build knows once the blocks have run; marks and reports are made of it."""

    device: Device
    pages: dict[str, Page]
    outcomes: dict[str, list[Outcome]]
    runs: dict[str, Run]

    def of(self, docname: str, ordinal: int) -> tuple[Block, Outcome]:
        """A block and what happened to it."""
        return self.pages[docname].blocks[ordinal], self.outcomes[docname][ordinal]


def verify(app: Sphinx, env: BuildEnvironment) -> list[str]:
    """Run what has no stored result, report, and name the pages whose marks changed."""
    if app.builder.name in PASSIVE_BUILDERS:
        return []
    settings, pages = Settings.of(app.config), pages_of(env)
    refuse_faulty(app, pages)
    try:
        device = detect(settings.device)
        runs = executed(app, device, pages, settings)
    except (DeviceError, RunnerError) as error:
        raise Stop(str(error)) from None
    normalizer = Normalizer(settings.normalizers)
    outcomes = {name: judged(pages[name], runs[name], device, normalizer) for name in pages}
    app.livedoctest = Verification(device, pages, outcomes, runs)  # type: ignore[attr-defined]
    for name in sorted(pages):
        if pages[name].blocks:
            report.log_page(pages[name], outcomes[name], runs[name])
        words = advice(app, pages[name], outcomes[name], runs[name], device)
        report.warn_failures(pages[name], outcomes[name], Path(app.srcdir), words)
    write_report(app, settings, app.livedoctest)  # type: ignore[attr-defined]
    if any(each.status == "failed" for page in outcomes.values() for each in page):
        app.statuscode = 1
    return changed(app, env, app.livedoctest)  # type: ignore[attr-defined]


def write_report(app: Sphinx, settings: Settings, verification: Verification) -> None:
    """Write the report, unless another build has executed the pages and this one only shows its results.

    The languages of a site share one report. It says what the build that executed did; that build, run again, may say
    that everything was stored.
    """
    path = Path(app.confdir, settings.report) if settings.report else Path(app.outdir, "verification.json")
    content = report.report(verification.device, verification.pages, verification.outcomes, verification.runs)
    executed_here = not all(found.cached for found in verification.runs.values())
    reports = executed_here or getattr(app.env, "livedoctest_reports", False)
    app.env.livedoctest_reports = reports  # type: ignore[attr-defined]
    if reports or not report.repeats(path, content):
        report.write_report(path, content)


def refuse_faulty(app: Sphinx, pages: dict[str, Page]) -> None:
    """List every fault found while reading, then stop: a page that was half understood verifies nothing."""
    findings = [finding for name in sorted(pages) for finding in pages[name].findings]
    for finding in findings:
        warn(Problem[finding.problem], f"{Path(app.srcdir, finding.source)}:{finding.line}", finding.text)
    if findings:
        faults = "1 fault" if len(findings) == 1 else f"{len(findings)} faults"
        raise Stop(f"{faults} on the pages (listed above): nothing was run, nothing is written.")


def executed(app: Sphinx, device: Device, pages: dict[str, Page], settings: Settings) -> dict[str, Run]:
    """A run for each page: the stored one where nothing that it depends on has changed, else a new one."""
    cache = cache_of(app, settings)
    keys = {name: page_key(page, device, settings, Path(app.confdir)) for name, page in pages.items()}
    with cache.lock:
        runs = {name: cache.load(name, keys[name]) for name in pages}
        missing = [pages[name] for name in sorted(pages) if runs[name] is None]
        fresh = execute(missing, device, settings)
        store_passes(cache, fresh, pages, keys, device, Normalizer(settings.normalizers))
    return {name: found for name, found in {**runs, **fresh}.items() if found is not None}


def store_passes(
    cache: Cache,
    fresh: dict[str, Run],
    pages: dict[str, Page],
    keys: dict[str, str],
    device: Device,
    normalizer: Normalizer,
) -> None:
    """Keep the runs of pages without a failure."""
    for name, found in fresh.items():
        if all(each.status != "failed" for each in judged(pages[name], found, device, normalizer)):
            cache.store(name, keys[name], found)


def judged(page: Page, found: Run, device: Device, normalizer: Normalizer) -> list[Outcome]:
    """The outcome of each block of a page."""
    return [
        outcome(block, results, device, normalizer) for block, results in zip(page.blocks, found.results, strict=True)
    ]


def execute(pages: list[Page], device: Device, settings: Settings) -> dict[str, Run]:
    """Run pages in processes of their own. Pages without a block that runs here need none."""
    started = datetime.now(UTC).isoformat(timespec="seconds")
    runs = {page.docname: Run([[] for _ in page.blocks], 0.0, started) for page in pages}
    jobs: list[dict[str, Any]] = []
    places: list[tuple[str, list[Block]]] = []
    for page in pages:
        for blocks in grouped(page, device):
            places.append((page.docname, blocks))
            jobs.append(job(str(len(jobs)), blocks, device, settings))
    if not jobs:
        return runs
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])
    environment = {**device.environment, "PATH": path}  # so that console blocks find the same Python
    parallel = 1 if device.kind == "hardware" else os.cpu_count() or 1
    for event in run(jobs, env=environment, preload=list(device.preload), parallel=parallel, log=logger.info):
        docname, blocks = places[int(event["docname"])]
        if "result" in event:
            runs[docname].results[blocks[event["block"]].ordinal].append(event["result"])
        else:
            runs[docname].seconds += event["seconds"]
    return runs


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


def job(name: str, blocks: list[Block], device: Device, settings: Settings) -> dict[str, Any]:
    """What the server is told of a page (or one of its groups)."""
    return {
        "docname": name,
        "blocks": [
            {
                "kind": block.kind,
                "source": block.source,
                "timeout": block.timeout or settings.timeout,
                "count": block.moves is not None and device.kind == "simulated",
                "units": [
                    {"mode": unit.mode, "code": unit.code, "line": unit.line, "name": unit.name} for unit in block.units
                ],
            }
            for block in blocks
        ],
    }


def changed(app: Sphinx, env: BuildEnvironment, verification: Verification) -> list[str]:
    """The pages whose outcome is not the one that their written file shows, so that they must be written again."""
    shown = getattr(env, "livedoctest_shown", {})
    output = str(app.outdir)  # builders may share one environment
    device = repr(verification.device.identity)
    now = {
        (output, name): repr((device, verification.outcomes[name], verification.runs[name].started))
        for name in verification.pages
    }
    env.livedoctest_shown = {**shown, **now}  # type: ignore[attr-defined]
    return [name for (_, name), text in now.items() if shown.get((output, name)) != text]


def setup_execution(app: Sphinx) -> None:
    """Run the blocks when all pages have been read; `-b doctest` does that and writes nothing."""
    app.connect("env-updated", verify)
    app.add_builder(VerifyBuilder, override=True)
