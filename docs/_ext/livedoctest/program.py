"""The program of a block, for a script and for the cells of a notebook. It runs without the page."""

from __future__ import annotations

import ast
import builtins
import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass

from livedoctest.block import Block, Unit
from livedoctest.outcome import Outcome
from livedoctest.prompts import split_traceback, without_options

DISPLAY = "display"  # the name that notebooks have for it


@dataclass
class Piece:
    """A part of a program: as a script needs it and as the last lines of a notebook's cell.

    Attributes:
        script: Python code.
        notebook: Python code, or None if it is the same.
        raises: Whether an exception ends it, as the page says; the script catches it.
        shows: Whether its last expression is what a cell shows.
        needs: What must stand above all code: names of `downloads.HEADS`, and `from __future__` lines.
    """

    script: str
    notebook: str | None = None
    raises: bool = False
    shows: bool = False
    needs: tuple[str, ...] = ()

    @property
    def cell(self) -> str:
        """The code for a notebook."""
        return self.script if self.notebook is None else self.notebook


def program(block: Block, outcome: Outcome) -> list[Piece]:
    """The pieces of a block, in order; one that did not run is a comment."""
    if outcome.status == "skipped":
        return [Piece(commented(block.code))]
    if block.kind == "testconsole":
        return list(shell_calls(block.units))
    if block.kind == "testfile":
        return [file_writer(block.units[0])]
    published = outcome.published + [""] * len(block.units)
    return [piece(unit, output) for unit, output in zip(block.units, published, strict=False)]


def commented(code: str) -> str:
    """Code that does not run, as comments."""
    return "".join(f"# {row}".rstrip() + "\n" for row in code.rstrip("\n").split("\n"))


def piece(unit: Unit, output: str) -> Piece:
    """The program of a piece of Python."""
    code = without_options(unit.code)
    exception = split_traceback(unit.expected)[1]
    try:
        tree = ast.parse(code)
    except SyntaxError as error:  # as the page says; a script with it would not even start
        return Piece(commented(f"{type(error).__name__}:\n{code}"), code, raises=True)
    futures, code = without_futures(code, tree)
    if exception is not None:
        return Piece(caught(code, tree, exception), code, raises=True, needs=futures)
    if unit.mode != "single" or not output:
        return Piece(code, quiet(code, tree) if unit.mode == "exec" else None, needs=futures)
    shown = displayed(code, tree)
    alone = len(tree.body) == 1 and isinstance(tree.body[0], ast.Expr)
    return Piece(shown, code if alone else shown, shows=alone, needs=(DISPLAY,) if shown != code else ())


def without_futures(code: str, tree: ast.Module) -> tuple[tuple[str, ...], str]:
    """The `from __future__` lines, which must be the first of a script, and the code with blank lines instead."""
    rows, futures = code.split("\n"), []
    for statement in tree.body:
        if isinstance(statement, ast.ImportFrom) and statement.module == "__future__":
            futures.append(f"{ast.unparse(statement)}\n")
            end = statement.end_lineno or statement.lineno
            rows[statement.lineno - 1 : end] = [""] * (end - statement.lineno + 1)
    return tuple(futures), "\n".join(rows)


def caught(code: str, tree: ast.Module, exception: str) -> str:
    """Code that catches the exception that it is expected to raise, and prints it."""
    name = exception.split("\n")[0].partition(":")[0].strip()
    built_in = getattr(builtins, name, None)
    known = isinstance(built_in, type) and issubclass(built_in, BaseException)
    return (
        f"try:\n{indented(code, tree)}except {name if known else 'Exception'} as expected_error:\n"
        '    print(f"{type(expected_error).__name__}: {expected_error}")\n'
    )


def indented(code: str, tree: ast.Module) -> str:
    """Code, one level deeper; lines inside strings stay as they are."""
    strings = [node for node in ast.walk(tree) if isinstance(node, (ast.Constant, ast.JoinedStr))]
    inside = {row for node in strings for row in range(node.lineno + 1, (node.end_lineno or node.lineno) + 1)}
    rows = code.removesuffix("\n").split("\n")
    return "".join(
        (f"    {row}" if row.strip() and number not in inside else row) + "\n" for number, row in enumerate(rows, 1)
    )


def displayed(code: str, tree: ast.Module) -> str:
    """Code that displays what Python's prompt would: the value of each expression statement outside functions."""
    rows = code.encode().split(b"\n")
    for node in sorted(expressions(tree.body), key=lambda each: (each.lineno, each.col_offset), reverse=True):
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        bare = isinstance(node, ast.Tuple) and not rows[node.lineno - 1][node.col_offset :].startswith(b"(")
        opening, closing = (b"((", b"))") if bare else (b"(", b")")
        end, start = node.end_lineno - 1, node.lineno - 1
        rows[end] = rows[end][: node.end_col_offset] + closing + rows[end][node.end_col_offset :]
        rows[start] = rows[start][: node.col_offset] + DISPLAY.encode() + opening + rows[start][node.col_offset :]
    return b"\n".join(rows).decode()


def quiet(code: str, tree: ast.Module) -> str | None:
    """Code for a cell that shows no value, as a program does not; None if a cell shows none of itself."""
    last = tree.body[-1] if tree.body else None
    if not isinstance(last, ast.Expr) or not any(expressions([last])):
        return None
    assert last.end_lineno is not None
    rows = code.encode().split(b"\n")
    row = rows[last.end_lineno - 1]
    rows[last.end_lineno - 1] = row[: last.end_col_offset] + b";" + row[last.end_col_offset :]
    return b"\n".join(rows).decode()


def expressions(body: list[ast.stmt]) -> Iterator[ast.expr]:
    """The expressions whose values the prompt prints, but those that print by themselves."""
    for statement in body:
        if isinstance(statement, ast.Expr):
            call = statement.value
            if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "print"):
                yield statement.value
        elif not isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            for part in (*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
                yield from expressions(part.body)
            for name in ("body", "orelse", "finalbody"):
                yield from expressions(getattr(statement, name, []))


def shell_calls(units: list[Unit]) -> Iterator[Piece]:
    """The commands of a console block: those that succeed together, so that `cd` and `export` last."""
    for status, group in itertools.groupby(units, lambda unit: unit.status):
        commands = [unit.code for unit in group]
        for text in commands if status else ["\n".join(commands)]:
            comment = f"  # ends with status {status}" if status else ""
            options = "-c" if status or len(commands) == 1 else "-ec"
            call = f'subprocess.run(["bash", "{options}", {quoted(text)}], check={not status})'
            yield silent(call, comment, "shell")


def file_writer(unit: Unit) -> Piece:
    """Code that writes a file into the current folder."""
    text = quoted(unit.code if unit.code.endswith("\n") else unit.code + "\n")
    folder = f"Path({unit.name!r}).parent.mkdir(parents=True, exist_ok=True)\n" if "/" in unit.name else ""
    return silent(f'{folder}Path({unit.name!r}).write_text({text}, encoding="utf-8")', "", "files")


def silent(call: str, comment: str, need: str) -> Piece:
    """A call whose value is of no interest: a notebook does not show it behind a semicolon."""
    return Piece(f"{call}{comment}\n", f"{call};{comment}\n", needs=(need,))


def quoted(text: str) -> str:
    """A string literal that reads like the text."""
    if "\n" not in text:
        return repr(text)
    plain = re.sub(r"[^\n\x20-\x7e\xa0-\U0010ffff]", lambda match: repr(match[0])[1:-1], text.replace("\\", "\\\\"))
    return '"""\\\n' + plain.replace('"""', '\\"\\"\\"') + '"""' if not plain.endswith('"') else repr(text)
