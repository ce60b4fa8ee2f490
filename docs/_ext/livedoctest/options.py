"""The values of a block's options, as an author writes them."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath
from typing import Any

from livedoctest import conditions

FLAG_OPTIONS = ("hide", "trim-doctest-flags", "no-trim-doctest-flags")  # without a value


class BadBlockError(ValueError):
    """A block cannot be understood: `problem` is the name of a Problem, `line` counts from 0 in its text."""

    def __init__(self, problem: str, text: str, line: int = 0):
        super().__init__(text)
        self.problem, self.line = problem, line


def check_arrived(rows: Iterable[str], options: dict[str, str]) -> None:
    """Refuse options that stand on the page, in `rows`, but did not arrive: a parser drops all that it cannot read.

    Rows of the form `option: value` are of YAML, which has more ways to write a value.
    """
    for row in rows:
        match = re.fullmatch(r"(:?)([\w-]+):(?:\s+(.*))?", row)
        yaml, name, value = (not match[1], match[2], unquoted(match[3])) if match else (False, "", "")
        if name in FLAG_OPTIONS and value:
            raise BadBlockError("UNKNOWN_OPTION", f"The option {name!r} takes no value: leave it out, or the option.")
        if not match or not (name in FLAG_OPTIONS or yaml or value == unquoted(options.get(name))):
            raise BadBlockError("UNKNOWN_OPTION", f"The option {row!r} cannot be read as it stands: quote its value.")
    for name, value in options.items():
        if name not in FLAG_OPTIONS and not unquoted(value):
            raise BadBlockError("UNKNOWN_OPTION", f"The option {name!r} needs a value.")


def unquoted(text: str | None) -> str:
    """The value of an option, which quotes may enclose."""
    return (text or "").strip().strip("'\"")


def requirements(options: dict[str, str]) -> str:
    """What a block needs, with the stock option for the Python version turned into the same words."""
    needs = [options["requires"]] if "requires" in options else []
    if "pyversion" in options:
        needs += [f"python{part.strip().replace(' ', '')}" for part in options["pyversion"].split(",")]
    text = " and ".join(needs)
    try:
        conditions.parse(text)
    except ValueError as error:
        raise BadBlockError("UNKNOWN_OPTION", str(error)) from None
    return text


def skip_expression(text: str) -> str:
    """An expression for `:skipif:`; its value is asked for before the blocks run."""
    if text:
        try:
            compile(text, "skipif", "eval")
        except (SyntaxError, ValueError) as error:
            raise BadBlockError("UNKNOWN_OPTION", f"skipif {text!r} is no Python expression: {error}.") from None
    return text


def seconds(text: str | None) -> float | None:
    """The time limit of a block."""
    if text is None:
        return None
    try:
        value = float(text)
    except ValueError:
        value = 0
    if not 0 < value < math.inf:
        raise BadBlockError("UNKNOWN_OPTION", f"timeout {text!r}: expected seconds above 0, such as 90.")
    return value


def file_name(text: str) -> str:
    """The name of a file block; only what the code itself does can lead it out of the page's folder then."""
    path = PurePosixPath(text)
    if path.is_absolute() or ".." in path.parts or not path.name or "\0" in text:
        words = f"The file {text!r} would be outside the page's folder: name it relative to that folder, as in part.py."
        raise BadBlockError("UNKNOWN_OPTION", words)
    return text


def groups_of(written: dict[str, Any]) -> tuple[str, ...]:
    """The groups a block belongs to, as sphinx.ext.doctest names them; a file belongs to all."""
    if written["kind"] == "testfile":
        return ("*",)
    return tuple(name.strip() for name in written["argument"].split(",") if name.strip()) or ("default",)


def moves_of(text: str | None) -> dict[str, int] | None:
    """The counts in "h2d=1/96B sync=0", as {"h2d": 1, "h2d_bytes": 96, "sync": 0}."""
    if text is None:
        return None
    moves = [move for word in text.split() for move in move_of(word)]
    if not moves:
        raise BadBlockError("UNKNOWN_OPTION", "moves says nothing: expected words such as h2d=1 or d2h=1/96B.")
    if len(dict(moves)) < len(moves):
        raise BadBlockError("UNKNOWN_OPTION", f"moves {text!r} counts something twice: leave one of the two.")
    return dict(moves)


def move_of(word: str) -> Iterator[tuple[str, int]]:
    """One word of `:moves:`."""
    name, _, value = word.partition("=")
    count, slash, size = value.partition("/")
    copies = name in ("h2d", "d2h", "peer")
    good = (copies or name in ("ops", "fallback", "sync")) and count.isdecimal()
    if not good or (slash and not (copies and size.endswith("B") and size[:-1].isdecimal())):
        raise BadBlockError(
            "UNKNOWN_OPTION",
            f"moves {word!r}: expected h2d, d2h, peer, ops, fallback or sync, as in h2d=1/96B.",
        )
    yield name, int(count)
    if slash:
        yield f"{name}_bytes", int(size[:-1])
