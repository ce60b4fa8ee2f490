"""HTML of a program with prompts. What is no program is `gp` or `go`, so that a copy button can leave it out."""

from __future__ import annotations

import functools
from html import escape

from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexer import Lexer
from pygments.lexers import BashLexer, PythonLexer

PROMPTS = {"doctest": (">>> ", "... ", PythonLexer), "testconsole": ("$ ", "> ", BashLexer)}


@functools.cache
def formatter() -> HtmlFormatter[str]:
    """One for all blocks: making it takes longer than using it."""
    return HtmlFormatter(nowrap=True)


def lines(code: str, lexer: Lexer) -> list[str]:
    """Each line of `code` as HTML; tokens that span lines are closed at each."""
    code = code.removesuffix("\n") + "\n"
    html: str = highlight(code, lexer, formatter())
    return html.removesuffix("\n").split("\n")


def transcript(kind: str, steps: list[tuple[str, str]]) -> str:
    """HTML of a doctest or console block, from its (code, output) steps.

    The text outside `gp` and `go` is the program, line for line.
    """
    first, following, lexer = PROMPTS[kind]
    rows = []
    for code, output in steps:
        for number, line in enumerate(lines(code, lexer(stripnl=False, ensurenl=False))):
            rows.append(f'<span class="gp">{escape(following if number else first)}</span>{line}\n')
        if output:
            rows.append(f'<span class="go">{escape(output.rstrip())}\n</span>')
    return "<pre><span></span>" + "".join(rows) + "</pre>"
