"""From what a block did to what is said of it: passed, failed and why, or not run and why."""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from livedoctest import prompts
from livedoctest.block import Block, Unit
from livedoctest.conditions import unmet
from livedoctest.device import Device
from livedoctest.judge import Options, Verdict, judge, judge_exception

# The escape sequences of ECMA-48: of colours and cursors, of links and titles (ended by BEL or ST), and all short ones.
ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]P^_X][^\x07\x1b]*(?:\x07|\x1b\\)|[ -/]*[0-~])")
# What the C++ loggers of PyTorch and torch_npu write to standard error, which consoles show: with the time, so never
# equal. "[W1130 00:33:04.528 File.cpp:1] text", "I1130 00:33:04.528 PID File.cpp:1] text", either after "[rank1]:".
LOG_LINE = re.compile(
    r"^(?:\[rank\d+\]: ?)?(?:\[[IWEF]\d{4} \d\d:\d\d:\d\d\.\d+ |[IWEF]\d{4} \d\d:\d\d:\d\d\.\d+ +\d+ \S+:\d+\] ).*\n?",
    re.MULTILINE,
)
ADDRESS = re.compile(r"\b0x[0-9a-fA-F]{6,}\b")


@dataclass
class Failure:
    """One thing that is not as the page says; `line` is in the block's source."""

    line: int
    what: str
    code: str = ""
    expected: str = ""
    got: str = ""
    diff: str = ""
    ended: bool = False  # the process did not survive


@dataclass
class Outcome:
    """What happened to a block. `published` is the output of each unit as readers see it."""

    status: str
    reason: str = ""
    failures: list[Failure] = field(default_factory=list)
    published: list[str] = field(default_factory=list)
    seconds: float = 0.0
    moves: dict[str, int] | None = None
    logs: list[str] = field(default_factory=list)
    unended: str = ""  # what the page left running after this block, its last


class Normalizer:
    """Replaces what differs from machine to machine."""

    def __init__(self, pairs: tuple[tuple[str, str], ...]):
        self.pairs = [(re.compile(pattern), replacement) for pattern, replacement in pairs]
        folder = re.escape(tempfile.gettempdir())
        self.machine = [
            (re.compile(rf"{folder}/livedoctest-\w+/\d+/work"), "/tmp/page"),
            (re.compile(rf"{folder}/livedoctest-\w+/\d+/tmp"), "/tmp"),
            (re.compile(rf"{re.escape(sys.prefix)}(?=/)"), "/environment"),
            (re.compile(rf"{re.escape(str(Path.home()))}(?=/)"), "~"),
            (ADDRESS, "0x…"),
        ]

    def compared(self, text: str) -> str:
        """`text` as it is compared: without colours and log lines, after the declared pairs."""
        text = LOG_LINE.sub("", ANSI.sub("", text))
        for pattern, replacement in self.pairs:
            text = pattern.sub(replacement, text)
        return text

    def published(self, text: str) -> str:
        """`text` as readers see it: also without the folders and addresses of the building machine."""
        text = self.compared(text)
        for pattern, replacement in self.machine:
            text = pattern.sub(replacement, text)
        return text


def skip_reason(block: Block, device: Device) -> str:
    """Why a block does not run here, or an empty string. Its own reason comes first."""
    if block.norun:
        return block.norun
    if need := unmet(block.requires, device):
        return f"needs {need}"
    if block.skipped:
        return f"skipped if {block.skipif}"
    return ""


def outcome(
    block: Block, results: list[dict[str, Any]], device: Device, normalizer: Normalizer, passed: bool = False
) -> Outcome:
    """The outcome of a block that ran once in each of its groups, with one result of the server a run.

    `passed` says that these results were judged before, and not wanting.
    """
    if reason := skip_reason(block, device):
        return Outcome("skipped", reason, published=[unit.expected for unit in block.units])
    failures: list[Failure] = []
    if not passed:
        failures += (failure for result in results for failure in failures_of(block, result, device, normalizer))
    if not results:
        failures = [Failure(block.line, "the block did not run", ended=True)]
    last = results[-1] if results else {"units": []}
    return Outcome(
        status="failed" if failures else "passed",
        reason=failures[0].what if failures else "",
        failures=failures,
        published=[publish(unit, got, normalizer) for unit, got in zip(block.units, last["units"], strict=False)],
        seconds=sum(result["seconds"] for result in results),
        moves=shown_moves(block, last),
        logs=[result["log"] for result in results if result.get("log")],
        unended=next((text for result in results if (text := unended(result))), ""),
    )


def publish(unit: Unit, got: dict[str, Any], normalizer: Normalizer) -> str:
    """What readers see as a unit's output: what it printed; of a traceback, the exception."""
    text = normalizer.published(got["output"])
    if got["exception"]:
        text += "Traceback (most recent call last):\n    ...\n" + normalizer.published(got["exception"]["text"]) + "\n"
    if got["status"]:
        text += f"[status {got['status']}]\n"
    return text


def shown_moves(block: Block, result: dict[str, Any]) -> dict[str, int] | None:
    """The counts that the block asks for, as counted."""
    counted = result.get("moves")
    return {name: counted[name] for name in block.moves} if block.moves and counted else None


def unended(result: dict[str, Any]) -> str:
    """What had to be ended after the last block, of which this is the result, or an empty string."""
    fault = (result.get("end") or {}).get("fault")
    return fault["text"] if fault and fault["kind"] == "timeout" else ""


def failures_of(block: Block, result: dict[str, Any], device: Device, normalizer: Normalizer) -> Iterator[Failure]:
    """Everything in one result that is not as the page says."""
    fault = result["fault"]
    finished = result["units"][:-1] if fault else result["units"]
    for unit, got in zip(block.units, finished, strict=False):
        yield from unit_failures(unit, got, normalizer)
    yield from end_failures(block, result, normalizer)
    if fault:
        printed = "".join(got["output"] for got in result["units"][-1:])
        yield Failure(fault["line"], fault["text"], block.code, got=normalizer.compared(printed), ended=True)
        return
    yield from warning_failures(block, result["warnings"], normalizer)
    if block.moves and device.kind == "simulated":
        yield from move_failures(block, result["moves"])


def unit_failures(unit: Unit, got: dict[str, Any], normalizer: Normalizer) -> Iterator[Failure]:
    """What is wrong with one unit: its exception, its output or its exit status."""
    python = unit.mode in ("single", "exec")  # elsewhere a traceback is text like any other
    printed, expected_exception, at = prompts.split_traceback(unit.expected) if python else (unit.expected, None, 0)
    exception, output = got["exception"], normalizer.compared(got["output"])
    code = unit.code
    if exception and expected_exception is None:
        seen = output + exception["traceback"].rstrip("\n") + "\n"
        yield Failure(exception["line"], f"raised {exception['text']}", code, unit.expected, seen)
        return
    if expected_exception is not None:
        if not exception and judge(normalizer.compared(unit.expected), output, options(unit)).ok:
            return  # printed text that looks like a traceback
        if not exception:
            yield Failure(unit.line, "raised nothing, although an exception is expected", code, unit.expected, output)
            return
        text = normalizer.compared(exception["text"])
        verdict = judge_exception(normalizer.compared(expected_exception), text, options(unit))
        if not verdict.ok:
            yield mismatch(unit, "raised another exception", expected_exception, text, verdict, at, exception["line"])
    if unit.mode == "shell":  # blank lines set commands apart
        printed, output = printed.rstrip("\n"), output.rstrip("\n")
    verdict = judge(normalizer.compared(printed), output, options(unit))
    if not verdict.ok:
        yield mismatch(unit, "the output differs", printed, output, verdict, 0, unit.line)
    if got["status"] is not None and got["status"] != unit.status:
        yield Failure(unit.line, f"the command ended with status {got['status']}, not {unit.status}", code, "", output)


def mismatch(unit: Unit, what: str, expected: str, got: str, verdict: Verdict, at: int, line: int) -> Failure:
    """An output or exception that is not the expected one, at the line where an author would look for it."""
    if unit.mode == "exec" and unit.expected_line and what == "the output differs":
        line = unit.expected_line + at + verdict.line
    return Failure(line, what, unit.code, expected, got, verdict.diff)


def options(unit: Unit) -> Options:
    """The judge's options for a unit's flags."""
    return Options(
        ellipsis="ELLIPSIS" in unit.flags,
        number="NUMBER" in unit.flags,
        normalize_whitespace="NORMALIZE_WHITESPACE" in unit.flags,
        ignore_exception_detail="IGNORE_EXCEPTION_DETAIL" in unit.flags,
        dont_accept_blankline="DONT_ACCEPT_BLANKLINE" in unit.flags,
    )


def warning_failures(block: Block, given: list[dict[str, Any]], normalizer: Normalizer) -> Iterator[Failure]:
    """Warnings that the page does not show, and shown ones that were not given."""
    seen = [normalizer.compared(f"{each['category']}: {each['text']}") for each in given]
    wanted = "\n".join(block.warnings)
    verdict = judge(wanted, "\n".join(seen), Options(ellipsis=True))
    if verdict.ok and (seen or not block.warnings_line):
        return
    if block.warnings_line:
        what, line = "the warnings differ", block.warnings_line + verdict.line
    else:
        what = f"gave a warning that the page does not show: {seen[0]}"
        line = next((each["line"] for each in given if each["line"]), block.line)
    yield Failure(line, what, block.code, wanted, "\n".join(seen), verdict.diff)


def end_failures(block: Block, result: dict[str, Any], normalizer: Normalizer) -> Iterator[Failure]:
    """What the page did after its last block, of which this is the result: there is no block to show it."""
    end = result.get("end") or {"fault": None, "output": "", "warnings": []}
    fault, printed = end["fault"], normalizer.compared(end["output"])
    if fault and fault["kind"] != "timeout":
        yield Failure(fault["line"], fault["text"], got=printed)
    elif printed.strip():
        yield Failure(block.line, "printed something after the last block of the page", got=printed)
    if seen := [normalizer.compared(f"{each['category']}: {each['text']}") for each in end["warnings"]]:
        line = next((each["line"] for each in end["warnings"] if each["line"]), block.line)
        yield Failure(line, f"gave a warning after the last block of the page: {seen[0]}", got="\n".join(seen))


def move_failures(block: Block, counted: dict[str, int] | None) -> Iterator[Failure]:
    """Counts that are not the ones the block states."""
    assert block.moves is not None
    if counted is None:
        yield Failure(block.line, "the simulator gave no counts", block.code)
        return
    wrong = {name: count for name, count in block.moves.items() if counted[name] != count}
    if wrong:
        said = " ".join(f"{name}={count}" for name, count in block.moves.items())
        seen = " ".join(f"{name}={counted[name]}" for name in block.moves)
        yield Failure(block.line, f"moved other data than stated: {seen}", block.code, said, seen)
