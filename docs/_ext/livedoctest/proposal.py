"""What of a block's results can be accepted, as edits of its source, and what cannot, and why."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from livedoctest import place
from livedoctest.block import Block, Page, Unit
from livedoctest.device import Device
from livedoctest.edit import Edit, RefusedError, rows_of
from livedoctest.outcome import (
    Failure,
    Normalizer,
    end_failures,
    move_failures,
    skip_reason,
    unit_failures,
    warning_failures,
)
from livedoctest.rewrite import rewritten

NOT_SHOWN = "no block can show that: let one wait for it, or take it away"
Part = int | str  # of a block: the index of a unit, "warnings" or "moves"


@dataclass(frozen=True, order=True)
class Refusal:
    """Something that fails and cannot be accepted; `line` is in the block's source."""

    line: int
    reason: str


@dataclass
class Proposal:
    """For one block: edits of its source, the parts they change, and what stands against them."""

    edits: list[Edit] = field(default_factory=list)
    parts: list[Part] = field(default_factory=list)
    refusals: list[Refusal] = field(default_factory=list)


def propose(
    page: Page, block: Block, results: Sequence[dict[str, Any]], device: Device, normalizer: Normalizer, source: str
) -> Proposal:
    """What to change so that a block passes.

    Args:
        page: The page that shows it.
        block: The block, as it was read.
        results: What the server said of it, once for each group that it belongs to.
        device: Where it ran.
        normalizer: The one it was judged with.
        source: The text of its source file.
    """
    proposal = Proposal()
    if skip_reason(block, device):
        return proposal
    faults = [result["fault"] for result in results if result["fault"]]
    failing = [(fault["line"], fault["text"], "") for fault in faults]
    ends = [end for result in results for end in end_failures(block, result, normalizer)]
    failing += [(end.line, end.what, f"; {NOT_SHOWN}") for end in ends]
    proposal.refusals += [Refusal(line, text.partition("\n")[0] + why) for line, text, why in failing]
    if not results:
        proposal.refusals.append(Refusal(block.line, "the block did not run"))
    rows = rows_of(source)
    for part, failures, edits in changes(block, results, device, normalizer, rows):
        try:
            if failures:
                refuse_docstring(page, block)
                proposal.edits += edits
                proposal.parts.append(part)
        except RefusedError as error:
            what = failures[0].what.partition("\n")[0]
            proposal.refusals.append(Refusal(failures[0].line, f"{what}; {error}"))
    return proposal


def refuse_docstring(page: Page, block: Block) -> None:
    """Raise RefusedError for a block in the docstring of a module, which no parser reads as a page."""
    if block.source.endswith(".py") and block.source != page.source:
        raise RefusedError("it stands in a docstring, which is never written: edit it by hand")


def changes(
    block: Block, results: Sequence[dict[str, Any]], device: Device, normalizer: Normalizer, rows: Sequence[str]
) -> Iterator[tuple[Part, list[Failure], Iterator[Edit]]]:
    """Each part of a block with its failures, and the edits that would mend them, which are made when asked for."""
    for index, unit in enumerate(block.units):
        gots = [result["units"][index] for result in results if index < len(result["units"])]
        failures = [failure for got in gots for failure in unit_failures(unit, got, normalizer)]
        yield index, failures, unit_edits(block, index, gots, normalizer, rows)
    ended = [result for result in results if not result["fault"]]
    failures = [failure for result in ended for failure in warning_failures(block, result["warnings"], normalizer)]
    yield "warnings", failures, warning_edits(block, ended, normalizer, rows)
    if block.moves and device.kind == "simulated":
        failures = [failure for result in ended for failure in move_failures(block, result["moves"])]
        yield "moves", failures, move_edits(block, ended, rows)


def unit_edits(
    block: Block, index: int, gots: list[dict[str, Any]], normalizer: Normalizer, rows: Sequence[str]
) -> Iterator[Edit]:
    """The edits that show what a unit printed or raised."""
    unit = block.units[index]
    new = agreed([rewritten(block.kind, unit, got, normalizer) for got in gots])
    if block.kind in place.PROMPTS:
        span = place.prompted_output(rows, block, index)
        status = agreed([got["status"] for got in gots])
        yield from span.edits(rows, [*new, f"[status {status}]"] if status else new)
    elif block.kind != "testcode":
        raise RefusedError(f"a {block.kind} block shows no output: let it print nothing")
    elif not unit.expected_line:
        yield place.new_output(rows, block, new)
    elif not new:
        yield place.removal(rows, "testoutput", unit.expected_line)
    else:
        yield from output_edits(unit, new, rows)


def output_edits(unit: Unit, new: list[str], rows: Sequence[str]) -> Iterator[Edit]:
    """The edits of the text of a testoutput."""
    if unit.expected.strip():
        span = place.text_span(rows, unit.expected_line, unit.expected.split("\n")[:-1])
        yield from span.edits(rows, place.with_blank(rows, span, new))
    else:
        yield place.filling(rows, "testoutput", unit.expected_line, new)


def warning_edits(
    block: Block, results: list[dict[str, Any]], normalizer: Normalizer, rows: Sequence[str]
) -> Iterator[Edit]:
    """The edits of the text of a testwarning."""
    if not block.warnings_line:
        raise RefusedError(
            "a new warning is never accepted: mend the code, or put a testwarning below the block, "
            "which may be empty for accept to fill"
        )
    unit = Unit(
        "shell", "", 0, "".join(f"{row}\n" for row in block.warnings), block.warnings_line, frozenset({"ELLIPSIS"})
    )
    given = [[f"{each['category']}: {each['text']}\n" for each in result["warnings"]] for result in results]
    gots = [{"output": "".join(texts), "exception": None, "status": None} for texts in given]
    new = agreed([rewritten("testwarning", unit, got, normalizer) for got in gots])
    if not new:
        yield place.removal(rows, "testwarning", block.warnings_line)
    elif block.warnings:
        yield from place.text_span(rows, block.warnings_line, block.warnings).edits(rows, new)
    else:
        yield place.filling(rows, "testwarning", block.warnings_line, new)


def move_edits(block: Block, results: list[dict[str, Any]], rows: Sequence[str]) -> Iterator[Edit]:
    """The edit of the option that states the counts."""
    counted = agreed([result["moves"] for result in results])
    if counted is None:
        raise RefusedError("there is nothing to state")
    option = re.compile(r"[\s>]*:?moves:")
    above = range(block.line - 2, -1, -1)
    at = next((number for number in above if option.match(rows[number]) or block.kind in rows[number].lower()), -1)
    if at < 0 or not option.match(rows[at]):
        raise place.misplaced(block.line - 1)
    start = rows[at].index("moves:") + len("moves:")
    new = re.sub(
        r"(\w+)=\d+(/\d+B)?",
        lambda word: f"{word[1]}={counted[word[1]]}" + (f"/{counted[word[1] + '_bytes']}B" if word[2] else ""),
        rows[at][start:],
    )
    yield Edit(at, at + 1, (rows[at][:start] + new,))


def agreed(values: list[Any]) -> Any:
    """What all runs of a block give; it runs once in each of its groups."""
    if any(value != values[0] for value in values):
        raise RefusedError("it differs between the groups that the block belongs to: make a block for each group")
    return values[0]


def with_new(block: Block, accepted: Block, parts: Collection[Part]) -> Block:
    """`block` with the parts that were accepted, so that nothing else may differ between the two."""
    units = list(block.units)
    for part in parts:
        if isinstance(part, int) and part < len(accepted.units):
            new = accepted.units[part]
            units[part] = replace(units[part], expected=new.expected, status=new.status, flags=new.flags)
    changed = replace(block, units=units)
    if "warnings" in parts:
        changed.warnings = accepted.warnings
    if "moves" in parts:
        changed.moves = accepted.moves
    return changed
