"""Split the text of a block into units: examples behind `>>>`, commands behind `$`."""

from __future__ import annotations

import io
import re
import textwrap
import tokenize

from livedoctest.block import Unit

FLAGS = (
    "DONT_ACCEPT_BLANKLINE",
    "DONT_ACCEPT_TRUE_FOR_1",  # always so here
    "ELLIPSIS",
    "IGNORE_EXCEPTION_DETAIL",
    "NORMALIZE_WHITESPACE",
    "NUMBER",
)
REPORTING_FLAGS = (
    "FAIL_FAST",
    "REPORT_CDIFF",
    "REPORT_NDIFF",
    "REPORT_ONLY_FIRST_FAILURE",
    "REPORT_UDIFF",
)  # no effect
DEFAULT_FLAGS = frozenset({"ELLIPSIS"})  # as in sphinx.ext.doctest
OPTION_COMMENT = re.compile(r"#\s*doctest:\s*(.*)")
STATUS = re.compile(r"\[status (\d+)\]\s*")


class PromptError(ValueError):
    """The text cannot be split; `line` is the offending line, counted from 0 in the text."""

    def __init__(self, text: str, line: int):
        super().__init__(text)
        self.line = line


def flags_of(options: str) -> dict[str, bool]:
    """The flags in "+ELLIPSIS, -NUMBER". Raises PromptError for an unknown one."""
    flags = {}
    for word in options.replace(",", " ").split():
        if word == "+SKIP":
            raise PromptError(
                "+SKIP would leave code unchecked: put it into a block of its own with `:norun: reason`", 0
            )
        if word[0] not in "+-" or word[1:] not in FLAGS + REPORTING_FLAGS:
            raise PromptError(f"unknown flag {word!r}; write + or - before one of {', '.join(FLAGS)}", 0)
        flags[word[1:]] = word[0] == "+"
    return flags


def with_flags(base: frozenset[str], changes: dict[str, bool]) -> frozenset[str]:
    """`base` after switching flags on and off."""
    return base.union(name for name, on in changes.items() if on).difference(
        name for name, on in changes.items() if not on
    )


def examples(text: str, line: int, flags: frozenset[str]) -> list[Unit]:
    """The units of a doctest block that starts at `line`; one for each `>>>`.

    The standard parser is not used: it drops examples that are a comment or blank, which readers should see and copy,
    and ignores what follows a blank line.
    """
    units: list[Unit] = []
    rows = textwrap.dedent(text).split("\n")
    for number, row in enumerate(rows):
        previous = rows[number - 1] if number else ""
        if prompted(row, ">>>"):
            units.append(Unit("single", row[4:] + "\n", line + number, expected_line=line + number + 1))
        elif prompted(row, "...") and prompted(previous, ">>>", "...") and not units[-1].expected:
            units[-1].code += row[4:] + "\n"
            units[-1].expected_line += 1
        elif row.strip() and not units:
            raise PromptError("a doctest block starts with code behind '>>> '", number)
        elif row.strip() and not previous.strip():
            raise PromptError("output after a blank line: write <BLANKLINE> for a blank line of output", number)
        elif row.strip():
            units[-1].expected += row + "\n"
    if not units:
        raise PromptError("no line starts with '>>> '", 0)
    for unit in units:
        finish_example(unit, flags, line)
    return units


def prompted(row: str, *prompts: str) -> bool:
    """Whether a row starts with one of the prompts, alone or before a space."""
    return row.rstrip() in prompts or row[:4] in [prompt + " " for prompt in prompts]


def finish_example(unit: Unit, flags: frozenset[str], first: int) -> None:
    """Set the flags of an example, and let one without a statement run as an empty program."""
    unit.flags = flags
    for row, _, words in option_comments(unit.code):
        try:
            unit.flags = with_flags(unit.flags, flags_of(words))
        except PromptError as error:
            raise PromptError(str(error), unit.line + row - first) from None
    if all(not row.strip() or row.lstrip().startswith("#") for row in unit.code.split("\n")):
        unit.mode = "exec"


def option_comments(code: str) -> list[tuple[int, int, str]]:
    """The `# doctest:` comments in `code`, as (row from 0, column, flags)."""
    found = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(code).readline):
            if token.type == tokenize.COMMENT and (match := OPTION_COMMENT.match(token.string)):
                found.append((token.start[0] - 1, token.start[1], match[1]))
    except (tokenize.TokenError, SyntaxError):
        pass  # running it will say what is wrong
    return found


def without_options(code: str) -> str:
    """`code` as readers see it: without `# doctest:` comments, as stock pages show it."""
    rows = code.split("\n")
    for row, column, _ in option_comments(code):
        rows[row] = rows[row][:column].rstrip()
    return "\n".join(rows)


def commands(text: str, line: int, flags: frozenset[str]) -> list[Unit]:
    """The units of a console block: each `$ ` command with the output below it, and a closing `[status N]`."""
    units: list[Unit] = []
    for number, row in enumerate(text.split("\n")):
        if row.startswith("$ "):
            units.append(Unit("shell", row[2:], line + number, expected_line=line + number + 1, flags=flags))
        elif not units:
            if row.strip():
                raise PromptError("a console block starts with a command behind '$ '", number)
        elif row.startswith("> ") and not units[-1].expected:
            units[-1].code += "\n" + row[2:]
            units[-1].expected_line += 1
        elif match := STATUS.fullmatch(row):
            units[-1].status = int(match[1])
        else:
            units[-1].expected += row + "\n"
    if not units:
        raise PromptError("no line starts with '$ '", 0)
    for unit in units:  # a blank line may set commands apart
        if re.search(r"(?<!\\)(\\\\)*\\$", unit.code):
            words = "this command goes on behind its backslash: put '> ' before the next line"
            raise PromptError(words, unit.expected_line - 1 - line)
        unit.expected = unit.expected.rstrip("\n") + "\n" if unit.expected.strip("\n") else ""
    return units


def split_traceback(expected: str) -> tuple[str, str | None, int]:
    """Expected text as (output before a traceback, exception text or None, line of that text counted from 0).

    The stack between the header and the exception is what follows it indented.
    """
    rows = expected.split("\n")
    for start, row in enumerate(rows):
        if re.fullmatch(r"Traceback \((most recent call|innermost) last\):", row.rstrip()):
            at = start + 1
            while at < len(rows) and (rows[at][:1].isspace() or not rows[at]):
                at += 1
            return "".join(r + "\n" for r in rows[:start]), "\n".join(rows[at:]).rstrip(), at
    return expected, None, 0
