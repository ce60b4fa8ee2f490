"""Run the blocks of a site: after reading, before writing."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.environment import BuildEnvironment

from livedoctest import report
from livedoctest.block import Block, Finding, Page
from livedoctest.builder import PASSIVE_BUILDERS, VerifyBuilder
from livedoctest.cache import Run, common_key, page_key
from livedoctest.client import RunnerError
from livedoctest.conditions import Skips, settle
from livedoctest.declaration import shadowed_files
from livedoctest.device import Device, DeviceError
from livedoctest.job import Jobs
from livedoctest.outcome import Normalizer, Outcome, outcome
from livedoctest.pages import pages_of
from livedoctest.problems import Problem, Stop, logger, warn
from livedoctest.settings import Settings
from livedoctest.workshop import Workshop, workshop_of

REPORT = "verification.json"  # in the output folder, unless the configuration names another file


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
    workshop, pages = workshop_of(app), pages_of(env)
    settings = workshop.settings
    try:
        found = [finding for name in sorted(pages) for finding in pages[name].findings]
        refuse_faulty(app, [*found, *shadowed_files(app, env, sorted(pages))])
        device = workshop.device
        skips = Skips(device, workshop.stock)
        refuse_faulty(app, [finding for name in sorted(pages) for finding in settle(pages[name], device, skips)])
        runs = executed(workshop, pages, Path(app.confdir))
    except (DeviceError, RunnerError) as error:
        raise Stop(str(error)) from None
    finally:
        workshop.close()
    normalizer = Normalizer(settings.normalizers)
    outcomes = {name: judged(pages[name], runs[name], device, normalizer) for name in pages}
    app.livedoctest = Verification(device, pages, outcomes, runs)  # type: ignore[attr-defined]
    for name in sorted(pages):
        if pages[name].blocks:
            report.log_page(pages[name], outcomes[name], runs[name])
        report.warn_unended(pages[name], outcomes[name], Path(app.srcdir))
        if any(each.failures for each in outcomes[name]):
            from livedoctest.advice import advice  # how outputs are accepted takes long to import; few builds need it

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
    path = Path(app.confdir, settings.report) if settings.report else Path(app.outdir, REPORT)
    content = report.report(verification.device, verification.pages, verification.outcomes, verification.runs)
    executed_here = not all(found.cached for found in verification.runs.values())
    reports = executed_here or getattr(app.env, "livedoctest_reports", False)
    app.env.livedoctest_reports = reports  # type: ignore[attr-defined]
    if reports or not report.repeats(path, content):
        try:
            report.write_report(path, content)
        except OSError as error:
            raise Stop(f"the report {path} cannot be written: {error.strerror}") from None


def refuse_faulty(app: Sphinx, findings: list[Finding]) -> None:
    """List every fault of the pages, then stop: a page that was half understood verifies nothing."""
    for finding in findings:
        warn(Problem[finding.problem], f"{Path(app.srcdir, finding.source)}:{finding.line}", finding.text)
    if findings:
        faults = "1 fault" if len(findings) == 1 else f"{len(findings)} faults"
        raise Stop(f"{faults} on the pages (listed above): nothing was run, nothing is written.")


def executed(workshop: Workshop, pages: dict[str, Page], confdir: Path) -> dict[str, Run]:
    """A run for each page: the stored one where nothing that it depends on has changed, else a new one."""
    device, settings, stock = workshop.device, workshop.settings, workshop.stock
    common = common_key(device, settings, stock, confdir)
    keys = {name: page_key(page, device, common) for name, page in pages.items()}
    with workshop.cache.alone():
        runs = {name: workshop.cache.load(page, keys[name]) for name, page in pages.items()}
        jobs = Jobs([pages[name] for name in sorted(pages) if runs[name] is None], device, settings, stock)

        def keep(name: str) -> None:
            outcomes = judged(pages[name], jobs.runs[name], device, Normalizer(settings.normalizers))
            if all(each.status != "failed" and not each.unended for each in outcomes):
                workshop.cache.store(pages[name], keys[name], jobs.runs[name])

        for name in filter(jobs.complete, jobs.runs):
            keep(name)
        if orders := jobs.orders():
            ended = 0
            for event in workshop.runner(jobs.codes()).run(orders):
                if name := jobs.take(event):
                    if jobs.complete(name):
                        keep(name)  # at once, so that an interrupted build loses nothing
                    ended += 1
                    logger.info("livedoctest: %d of %d have run, %s", ended, len(orders), name)
    return {name: found for name, found in {**runs, **jobs.runs}.items() if found is not None}


def judged(page: Page, found: Run, device: Device, normalizer: Normalizer) -> list[Outcome]:
    """The outcome of each block of a page; only passes are stored."""
    return [
        outcome(block, results, device, normalizer, passed=found.cached)
        for block, results in zip(page.blocks, found.results, strict=True)
    ]


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


def keep_out_of_books(app: Sphinx, config: Config) -> None:
    """The report is none of the files of an EPUB, which its builder packs, with a warning of those it does not know.

    Said before the configuration is compared with that of the last build: if it is another one, all pages are read.
    """
    if not Settings.of(config).report:
        config.epub_exclude_files = [*config.epub_exclude_files, REPORT]


def setup_execution(app: Sphinx) -> None:
    """Run the blocks when all pages have been read; `-b doctest` does that and writes nothing."""
    app.connect("config-inited", keep_out_of_books)
    app.connect("env-updated", verify)
    app.add_builder(VerifyBuilder, override=True)
