"""The rows that show what a unit printed or raised, in the form its kind of block needs."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from livedoctest.block import Unit
from livedoctest.edit import RefusedError
from livedoctest.judge import judge, judge_exception
from livedoctest.keep import merged
from livedoctest.outcome import Normalizer, options, unit_failures
from livedoctest.prompts import STATUS, prompted, split_traceback

BLANK = "<BLANKLINE>"
# What parsers of pages replace or take for a line end, although it is none: \v, \f, FS, GS, RS, NEL, LS, PS.
UNHOLDABLE = re.compile("[\0\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
TRAILING = " \t\r\f\v"  # what the judge ignores at the end of a line
_PAGE_FOLDER = re.compile(r"[^\s'\"]*/livedoctest-[\w-]+/\d+")


def rewritten(kind: str, unit: Unit, got: dict[str, Any], normalizer: Normalizer) -> list[str]:
    """The new rows in the place of the unit's expected ones.

    Text that differs from machine to machine is written as readers see it, or as `...`, if that passes. Lines of the
    page that still match are kept.

    Raises:
        RefusedError: No such rows pass, or the output is not what can be accepted.
    """
    if got["exception"] and (unit.mode not in ("single", "exec") or split_traceback(unit.expected)[1] is None):
        raise RefusedError("an exception is never accepted: mend the code, or write the traceback as expected output")
    problem = ""
    for form in forms(unit, normalizer):
        for keeping in (True, False):
            rows = encoded(kind, shown(unit, got, form, normalizer, keeping), unit)
            problem = unholdable(kind, rows, unit) or judged(unit, rows, got, normalizer)
            if not problem:
                return rows
    raise RefusedError(problem)


def forms(unit: Unit, normalizer: Normalizer) -> Iterator[Callable[[str], str]]:
    """The ways to write printed text, best first."""
    yield normalizer.published
    if "ELLIPSIS" in unit.flags:
        yield lambda text: opened(text, normalizer)
    yield normalizer.compared


def opened(text: str, normalizer: Normalizer) -> str:
    """`text` with `...` for the folders and addresses of this machine and run."""
    text = _PAGE_FOLDER.sub("...", normalizer.compared(text))
    for pattern, _ in normalizer.machine:
        text = pattern.sub(lambda match: "0x..." if match[0].startswith("0x") else "...", text)
    return text


def shown(
    unit: Unit, got: dict[str, Any], form: Callable[[str], str], normalizer: Normalizer, keeping: bool
) -> list[str]:
    """The rows of output and, below the author's header and stack, of the exception."""
    python = unit.mode in ("single", "exec")
    printed, exception, at = split_traceback(unit.expected) if python else (unit.expected, None, 0)
    expected = unit.expected.split("\n")[:-1]
    before = expected[: printed.count("\n")]

    def part(old: list[str], text: str, same: bool) -> list[str]:
        if same:
            return old
        compared, fresh = lines(normalizer.compared(text)), lines(form(text))
        return merged(old, compared, fresh, options(unit), normalizer) if keeping else fresh

    same = judge(normalizer.compared(printed), normalizer.compared(got["output"]), options(unit)).ok
    rows = part(before, got["output"], same)
    if not got["exception"]:
        return rows
    text = got["exception"]["text"].rstrip("\n")
    wanted, raised = normalizer.compared(exception or ""), normalizer.compared(text)
    stack = expected[len(before) : at]
    return rows + stack + part(expected[at:], text, judge_exception(wanted, raised, options(unit)).ok)


def lines(text: str) -> list[str]:
    """The lines of a text, without white space at their ends."""
    rows = [row.rstrip(TRAILING) for row in text.split("\n")]
    return rows if text and not text.endswith("\n") else rows[:-1]


def encoded(kind: str, rows: Sequence[str], unit: Unit) -> list[str]:
    """Rows with `<BLANKLINE>` where the block would end, or lose, an empty one; a console ignores those at the end."""
    if kind == "testconsole":
        return "\n".join(rows).rstrip("\n").split("\n") if any(rows) else []
    if "DONT_ACCEPT_BLANKLINE" in unit.flags:
        return list(rows)
    filled = [number for number, row in enumerate(rows) if row.strip(TRAILING)]
    inner = range(filled[0], filled[-1]) if filled and kind not in ("doctest", "testwarning") else range(0)
    return [row if row.strip(TRAILING) or number in inner else BLANK for number, row in enumerate(rows)]


def unholdable(kind: str, rows: Sequence[str], unit: Unit) -> str:
    """Why a block of this kind cannot show these rows, or an empty string."""
    for number, row in enumerate(rows):
        if match := UNHOLDABLE.search(row):
            return f"the output holds {match[0]!r}, which a page cannot: print it with repr()"
        if kind == "doctest" and (prompted(row, ">>>") or (number == 0 and prompted(row, "..."))):
            return f"a doctest cannot show output that starts with {row[:3]!r}: use a testcode with a testoutput"
        if kind == "testconsole" and (row.startswith("$ ") or (number == 0 and row.startswith("> "))):
            return f"a console block cannot show output that starts with {row[:2]!r}: change it with sed, say"
        if kind == "testconsole" and STATUS.fullmatch(row):
            return f"a console block takes {row!r} for an exit status: change the output"
        if "DONT_ACCEPT_BLANKLINE" in unit.flags and not row.strip():
            return "the output has an empty line, which +DONT_ACCEPT_BLANKLINE leaves no way to write"
    return ""


def judged(unit: Unit, rows: Sequence[str], got: dict[str, Any], normalizer: Normalizer) -> str:
    """What the engine would say of these rows, or an empty string."""
    expected = "".join(f"{row}\n" for row in rows)
    new = replace(unit, expected=expected, status=got["status"] or 0)
    if not any(unit_failures(new, got, normalizer)):
        return ""
    if BLANK in got["output"]:
        return f"the output holds a literal {BLANK}, which stands for an empty line: print it with repr()"
    return "the block cannot show this output so that it is read back as printed: print it in another form"
