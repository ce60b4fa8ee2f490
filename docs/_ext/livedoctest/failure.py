"""What page code raised, as text with the page's own lines."""

from __future__ import annotations

import ast
import re
import traceback
import types
from collections.abc import Collection
from pathlib import Path
from typing import Any

_MOST = 20_000  # characters of an exception or warning
_PACKAGE = str(Path(__file__).parent)


def describe(error: BaseException, source: str, tree: ast.AST | None, line: int) -> dict[str, Any]:
    """Describe an exception as the protocol wants it.

    Args:
        error: What page code raised.
        source: File name of the block's code.
        tree: The unit's syntax tree; None if it could not be parsed or is not Python.
        line: First line of the unit, the answer where there is no better one.
    """
    own = _page_traceback(error.__traceback__, source)
    if own is not None and tree is not None:
        line = statement_line(tree, own.tb_lineno)
    elif isinstance(error, SyntaxError) and error.filename == source and error.lineno:
        line = error.lineno
    name = _qualified_name(type(error))
    return {
        "name": name,
        "text": clean(_exception_text(error, name)),
        "traceback": clean("".join(traceback.format_exception(type(error), error, own))),
        "line": line,
    }


def statement_line(tree: ast.AST, line: int) -> int:
    """First line of the innermost statement that spans `line`."""
    first = line
    for node in ast.walk(tree):  # outer nodes come before inner ones
        if isinstance(node, (ast.stmt, ast.excepthandler)) and node.lineno <= line <= (node.end_lineno or line):
            first = node.lineno
        decorators = getattr(node, "decorator_list", [])
        if decorators and decorators[0].lineno <= line < node.lineno:  # type: ignore[attr-defined]
            first = decorators[0].lineno
    return first


def page_line(sources: Collection[str]) -> int | None:
    """The line of page code that the current call comes from, or None."""
    for frame, line in traceback.walk_stack(None):
        if frame.f_code.co_filename in sources:
            return line
    return None


def raising_line(trace: types.TracebackType | None, sources: Collection[str]) -> int | None:
    """The last line of page code that an exception came through, or None."""
    lines = (line for frame, line in traceback.walk_tb(trace) if frame.f_code.co_filename in sources)
    return max(enumerate(lines), default=(0, None))[1]


def page_stack(dump: str, source: str) -> tuple[str, int | None]:
    """Reduce faulthandler's dump to the page's frames and those they call.

    Returns:
        The dump without this package's frames, and the line that the page's top level was at, if the dump names it.
    """
    kept = []
    skipping = False
    for line in dump.splitlines():
        if not line.startswith("  "):
            skipping = False
        elif f'"{_PACKAGE}' in line:  # most recent call first: what follows called the page
            skipping = True
        if not skipping:
            kept.append(line)
    text = "\n".join(kept).strip()
    found = re.search(rf'^  File "{re.escape(source)}", line (\d+) in <module>$', text, re.MULTILINE)
    return text, int(found[1]) if found else None


def _page_traceback(trace: types.TracebackType | None, source: str) -> types.TracebackType | None:
    while trace is not None and trace.tb_frame.f_code.co_filename != source:
        trace = trace.tb_next
    return trace


def _qualified_name(kind: type[BaseException]) -> str:
    """The name as Python prints it above a message."""
    prefix = "" if kind.__module__ in ("__main__", "builtins") else f"{kind.__module__}."
    return prefix + kind.__qualname__


def _exception_text(error: BaseException, name: str) -> str:
    parts = traceback.format_exception_only(error)
    if isinstance(error, SyntaxError):  # its place in the file comes first; a page cannot show it
        parts = parts[next((i for i, part in enumerate(parts) if part.startswith(name)), 0) :]
    return "".join(parts).removesuffix("\n")


def clean(text: str) -> str:
    """Replace what UTF-8 cannot hold, and cut what nobody would read."""
    shown = text if len(text) <= _MOST else f"{text[:_MOST]}... ({len(text) - _MOST:,} more characters)"
    return shown.encode("utf-8", errors="backslashreplace").decode("utf-8")
