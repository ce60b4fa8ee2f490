"""What a block needs in order to run here: `:requires: npu>=2 and python>=3.12`, and when it must not: `:skipif:`."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace

from packaging.specifiers import InvalidSpecifier, SpecifierSet

from livedoctest.block import Block, Finding, Page
from livedoctest.device import Device
from livedoctest.stock import Stock

COMPARISON = re.compile(r"(npu|cann|python|torch|torch_npu|tensordict)\s*((?:~=|>=|<=|==|!=|>|<)\s*\d[\w.]*(?:\.\*)?)")
KINDS = ("hardware", "simulated")
EVALUATE_SECONDS = 120
EVALUATE = """
import json, os, sys
names = {"os": os, "sys": sys}
setup, expression, cleanup = json.load(sys.stdin)
exec(setup, names)
value = bool(eval(expression, names))
exec(cleanup, names)
print(json.dumps(value))
"""


class ConditionError(ValueError):
    """A `:skipif:` expression that has no value; the text says why."""


def parse(text: str) -> list[str]:
    """The single needs in `text`. Raises ValueError, which says what is known, for one that cannot be understood."""
    needs = [need.strip() for need in re.split(r"\s+and\s+", text)] if text.strip() else []
    for need in needs:
        if need not in (*KINDS, "npu") and not is_comparison(need):
            raise ValueError(
                f"requires {need!r}: expected hardware, simulated, npu, or a comparison such as npu>=2, python>=3.12 "
                "or torch>=2.13 (of npu, cann, python, torch, torch_npu, tensordict), joined by `and`"
            )
    return needs


def is_comparison(need: str) -> bool:
    """Whether a need compares something that is known with a version or a number."""
    match = COMPARISON.fullmatch(need)
    try:
        return match is not None and bool(SpecifierSet(match[2]))
    except InvalidSpecifier:
        return False


def unmet(text: str, device: Device) -> str:
    """The first need in `text` that `device` does not meet, or an empty string."""
    return next((need for need in parse(text) if not met(need, device)), "")


def met(need: str, device: Device) -> bool:
    """Whether `device` meets one need."""
    if need in KINDS:
        return device.kind == need
    if need == "npu":
        return device.count > 0
    match = COMPARISON.fullmatch(need)
    assert match
    name, wanted = match.groups()
    have = str(device.count) if name == "npu" else device.versions.get(name)
    return have is not None and SpecifierSet(wanted).contains(have, prereleases=True)


def devices_needed(text: str, device: Device) -> int:
    """The least number of devices that meets the needs in `text`, all of which `device` meets; at least 1."""
    needs = [need for need in parse(text) if need.startswith("npu")]
    counts = (
        count for count in range(1, device.count) if all(met(need, replace(device, count=count)) for need in needs)
    )
    return next(counts, max(device.count, 1)) if needs else 1


class Skips:
    """Evaluates `:skipif:` expressions, which see `sys`, `os` and what `doctest_global_setup` defines.

    They are the author's words about the building machine. Those that need the global set-up are evaluated in a process
    of their own, on the device, because what it imports has no business in the Sphinx process.
    """

    def __init__(self, device: Device, stock: Stock) -> None:
        self._device = device
        self._stock = stock
        self._known: dict[str, bool] = {}

    def hold(self, expression: str) -> bool:
        """Whether an expression is true. Raises ConditionError."""
        if not expression:
            return False
        if expression not in self._known:
            self._known[expression] = self._evaluate(expression)
        return self._known[expression]

    def _evaluate(self, expression: str) -> bool:
        try:
            return bool(eval(expression, {"os": os, "sys": sys}))  # noqa: S307  as sphinx.ext.doctest does
        except NameError as error:
            if not self._stock.setup:
                hint = "The expression sees builtins, sys, os and what doctest_global_setup defines."
                raise ConditionError(f"skipif {expression!r}: {error}. {hint}") from None
        except (Exception, SystemExit) as error:  # the latter would end the build, as if all were well
            raise ConditionError(f"skipif {expression!r}: {error!r}.") from None
        return self._evaluate_after_setup(expression)

    def _evaluate_after_setup(self, expression: str) -> bool:
        command = [sys.executable, "-c", EVALUATE]
        content = json.dumps([self._stock.setup, expression, self._stock.cleanup])
        env = {**os.environ, **self._device.environment, **self._stock.environment}
        try:
            run = subprocess.run(
                command, input=content, env=env, capture_output=True, text=True, timeout=EVALUATE_SECONDS, check=True
            )
            return bool(json.loads(run.stdout.rstrip().rpartition("\n")[2]))
        except subprocess.CalledProcessError as error:
            cause = str(error.stderr).strip().rpartition("\n")[2] or str(error)
        except (subprocess.TimeoutExpired, ValueError) as error:
            cause = f"it gave no value ({error})"
        raise ConditionError(f"skipif {expression!r}, evaluated after doctest_global_setup: {cause}")


def settle(page: Page, device: Device, skips: Skips) -> Iterator[Finding]:
    """Find out which blocks are skipped and which of several outputs applies; yields what cannot be found out."""
    for block in page.blocks:
        try:
            block.skipped = skips.hold(block.skipif)
            choose(block, device, skips)
        except ConditionError as error:
            yield Finding("UNKNOWN_OPTION", block.source, block.line, str(error))
        applying = [output for output in block.outputs if output.applies]
        if len(applying) > 1:
            words = (
                "More than one testoutput of the testcode above applies here: make their conditions exclude each other."
            )
            yield Finding("DUPLICATE", block.source, applying[1].line, words)


def choose(block: Block, device: Device, skips: Skips) -> None:
    """Expect the output that applies; where none does, expect that nothing is printed."""
    for output in block.outputs:
        output.applies = not unmet(output.requires, device) and not skips.hold(output.skipif)
    if block.outputs:
        unit = block.units[0]
        chosen = next((output for output in block.outputs if output.applies), None)
        unit.expected, unit.expected_line = (chosen.text, chosen.line) if chosen else ("", 0)
        unit.flags = chosen.flags if chosen else unit.flags
