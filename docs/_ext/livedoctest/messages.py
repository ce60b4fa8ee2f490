"""The words of marks and feet, in the language of the site.

They are inserted after Sphinx has translated a page, so they have a catalog of their own: `locale/<language>.po`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from html import escape
from pathlib import Path

from babel.messages.pofile import read_po

from livedoctest.block import Block
from livedoctest.cache import Run
from livedoctest.device import Device
from livedoctest.outcome import Outcome

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
    _ = translate(language)
    need = reason.removeprefix("needs ")
    named = {"hardware": _("live hardware"), "simulated": _("the simulated NPU")}
    return _("needs {need}").format(need=named.get(need, need)) if need != reason else reason


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


def shown_versions(device: Device, language: str) -> list[tuple[str, str]]:
    """The versions that matter to readers, in a fixed order. A simulated CANN is called so."""
    names = {
        "torch": "torch",
        "torch_npu": "torch_npu",
        "tensordict": "tensordict",
        "cann": "CANN",
        "python": "Python",
    }
    found = [(name, version) for name in names if (version := device.versions.get(name))]
    if device.kind == "simulated":
        simulated = translate(language)("{version} (simulated)")
        found = [(name, simulated.format(version=version) if name == "cann" else version) for name, version in found]
    return [(names[name], version) for name, version in found]
