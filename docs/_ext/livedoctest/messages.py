"""The words of marks and feet, in the language of the site.

They are inserted after Sphinx has translated a page, so they have a catalog of their own: `locale/<language>.po`.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from html import escape
from pathlib import Path

from babel.messages.pofile import read_po

from livedoctest.block import Block, Page
from livedoctest.cache import Run
from livedoctest.device import Device
from livedoctest.outcome import Outcome
from livedoctest.records import Record

CATALOGS = Path(__file__).parent / "locale"
SIGNS = {"passed": "✓", "failed": "✗", "skipped": "○"}
MOVES = {
    "h2d": "host-to-device copies",
    "d2h": "device-to-host copies",
    "peer": "copies between devices",
    "ops": "operators on the device",
    "fallback": "operators that fell back to the CPU",
    "sync": "synchronisations",
}
NAMES = {"torch": "torch", "torch_npu": "torch_npu", "tensordict": "tensordict", "cann": "CANN", "python": "Python"}


@functools.cache
def translate(language: str) -> Callable[[str], str]:
    """The translation of our own words; text without one stays English."""
    path = CATALOGS / f"{language}.po"
    if not path.is_file():
        return str
    with path.open(encoding="utf-8") as file:
        catalog = read_po(file)
    return lambda text: str(message.string) if (message := catalog.get(text)) and message.string else text


def device_label(device: Device, language: str) -> str:
    """What the reader is told of the device. A simulated one is never called hardware."""
    _ = translate(language)
    label = {
        "simulated": _("simulated NPU ({name}, {count} devices)"),
        "hardware": _("live hardware ({name}, {count} devices)"),
        "none": _("Python without a device"),
    }[device.kind]
    return label.format(name=device.name, count=device.count)


def block_mark(block: Block, outcome: Outcome, device: Device, language: str) -> str:
    """The mark under a block, as HTML."""
    _ = translate(language)
    words = {"passed": _("verified"), "failed": _("failed"), "skipped": _("not run here")}[outcome.status]
    if block.kind == "testfile" and outcome.status == "passed":
        words = _("written to the page's folder")  # what runs it is verified, and marked
    title = device_label(device, language)
    if outcome.status == "skipped" and not block.norun:
        words += f": {skip_words(outcome.reason, language)}"
    if outcome.status == "passed" and block.requires:
        words += f" · {need_words(block.requires, language)}"  # where a reader copies it to, too
    if outcome.status == "failed":
        words = _("The output is not the one that this page expects: the last run failed.")
    moves = f" · {moves_words(outcome.moves, language)}" if outcome.moves else ""
    sign = f'<span aria-hidden="true">{SIGNS[outcome.status]}</span> '
    return (
        f'<p class="livedoctest-mark livedoctest-mark-{outcome.status}" title="{escape(title)}" '
        f'data-livedoctest="{block.id}">{sign}{escape(words + moves)}</p>\n'
    )


def skip_words(reason: str, language: str) -> str:
    """Why a block does not run on this device."""
    need = reason.removeprefix("needs ")
    return need_words(need, language) if need != reason else reason


def need_words(requires: str, language: str) -> str:
    """What a block needs, wherever it runs."""
    _ = translate(language)
    named = {"hardware": _("live hardware"), "simulated": _("the simulated NPU")}

    def words(need: str) -> str:
        count = re.fullmatch(r"npu\s*>=\s*(\d+)", need)
        return _("at least {count} NPUs").format(count=count[1]) if count else named.get(need, need)

    return _("needs {need}").format(need=_(", ").join(words(need) for need in re.split(r"\s+and\s+", requires)))


def moves_words(moves: dict[str, int], language: str) -> str:
    """The counts that a block states, counted on the simulated NPU."""
    _ = translate(language)
    parts = []
    for name, label in MOVES.items():
        if name in moves:
            size = f" ({moves[f'{name}_bytes']} B)" if f"{name}_bytes" in moves else ""
            parts.append(_("{label}: {count}").format(label=_(label), count=moves[name]) + size)
    return _("counted on the simulated NPU: {counts}").format(counts=_(", ").join(parts))


def page_foot(outcomes: list[Outcome], device: Device, run: Run, language: str) -> str:
    """The foot of a page, as HTML: how many blocks, on which device, when, with which versions."""
    _ = translate(language)
    counts = {status: sum(each.status == status for each in outcomes) for status in ("passed", "failed", "skipped")}
    sentences = [
        _("{passed} of {total} code blocks on this page were verified on {date}. Device: {device}.").format(
            passed=counts["passed"],
            total=len(outcomes),
            date=run.started[:10],
            device=device_label(device, language),
        )
    ]
    if counts["skipped"]:
        sentences.append(_("{count} not run here.").format(count=counts["skipped"]))
    if counts["failed"]:
        sentences.append(_("{count} failed.").format(count=counts["failed"]))
    versions = " · ".join(f"{name} {version}" for name, version in shown_versions(device, language))
    text = functools.reduce(lambda one, other: _("{one} {other}").format(one=one, other=other), sentences)
    title = _("Verification of this page")
    state = "failed" if counts["failed"] else "passed"
    return (
        f'<aside class="livedoctest-foot livedoctest-foot-{state}" aria-label="{escape(title)}" '
        f'data-passed="{counts["passed"]}" data-total="{len(outcomes)}">'
        f'<p>{escape(text)}</p><p class="livedoctest-versions">{escape(versions)}</p></aside>\n'
    )


def record_lines(found: list[Record], page: Page, language: str) -> str:
    """A line for each record of the page, below its foot, as HTML."""
    _ = translate(language)
    lines = []
    for each in found:
        text = _("Live hardware: {device}, {date}, {passed} of {total} code blocks verified.").format(
            device=each.device, date=each.date, passed=each.passed, total=len(each.blocks)
        )
        if each.stale(page):
            text = _("{one} {other}").format(one=text, other=_("The code of this page has changed since."))
        versions = ((NAMES[name], each.versions[name]) for name in NAMES if each.versions.get(name))
        words = " · ".join(f"{name} {version}" for name, version in versions)
        state = "stale" if each.stale(page) else "current"
        lines.append(f'<p class="livedoctest-record livedoctest-record-{state}">{escape(text)} {escape(words)}</p>\n')
    return "".join(lines)


def record_cell(found: Record | None, page: Page, language: str) -> str:
    """What the overview says of a page on a device."""
    _ = translate(language)
    if found is None:
        return "—"
    words = _("{passed} of {total}, {date}").format(passed=found.passed, total=len(found.blocks), date=found.date)
    return f"{words} {_('(before the code changed)')}" if found.stale(page) else words


def counts_words(outcomes: list[Outcome], language: str) -> str:
    """How many blocks were verified, and how many were not."""
    _ = translate(language)
    texts = {"passed": _("{count} verified"), "failed": _("{count} failed"), "skipped": _("{count} not run here")}
    counts = {status: sum(each.status == status for each in outcomes) for status in texts}
    return _(", ").join(texts[status].format(count=count) for status, count in counts.items() if count)


def shown_versions(device: Device, language: str) -> list[tuple[str, str]]:
    """The versions that matter to readers, in a fixed order. A simulated CANN is called so."""
    found = [(name, version) for name in NAMES if (version := device.versions.get(name))]
    if device.kind == "simulated":
        simulated = translate(language)("{version} (simulated)")
        found = [(name, simulated.format(version=version) if name == "cann" else version) for name, version in found]
    return [(NAMES[name], version) for name, version in found]
