"""What looks executable, and the blocks that a parser of pages drops, by the text of a page."""

from __future__ import annotations

import ast
import difflib
import re
import textwrap
from bisect import bisect
from collections.abc import Iterator
from typing import Any

from docutils import nodes
from docutils.parsers.rst import directives
from docutils.parsers.rst.languages import get_language

from livedoctest.directives import DIRECTIVES, MARK
from livedoctest.locate import parsed

PYTHON = ("py", "python", "pycon", "python-console", "python-repl", "ipython", "numpy", "sage", "doctest", "code-cell")
SHELL = ("console", "shell", "sh", "bash", "zsh", "ksh", "csh", "tcsh", "fish", "fishshell", "xonsh")
SESSION = ("shell-session", "shellsession", "bash-session", "sh-session", "tcshcon")
WINDOWS = ("powershell", "pwsh", "pwsh-session", "posh", "ps", "pscon", "bat", "batch", "dosbatch", "doscon")
PROGRAMS = (".py", ".pyw", ".sh", ".bash")  # files with one of these suffixes
EXECUTABLE = frozenset([*PYTHON, *SHELL, *SESSION, *WINDOWS, *DIRECTIVES])
NAMES = sorted(name for name in EXECUTABLE if len(name) > 3)  # what a misspelt name is compared with
NO_LANGUAGE = ("", "default", "none", "text", "guess")
PROMPT = re.compile(r"^[ \t]*(>>>|(\(\w+\) ?)?([\w.-]+@[\w.-]+:\S*)?\$|In \[\d+\]:)[ \t]", re.MULTILINE)
FENCE = re.compile(r"^[\s>*+.\d-]*(?P<marks>`{3,}|~{3,}|:{3,})\s*(?P<info>[^`]*)$")
CLOSING = re.compile(r"[\s>]*(?P<marks>`{3,}|~{3,}|:{3,})\s*")
RST = re.compile(r"^\s*\.\. (?P<name>[\w-]+) ?(?P<colons>:{0,2})(?=\s|$)")
CODE_DIRECTIVES = ("code", "code-block", "sourcecode")
DROPPED = "This block is dropped by the directive around it, so nothing checks it: take it out of there."


def base_language(text: str) -> str:
    """The language that a fence or class names, without versions and decorations: python3.11 → python."""
    bare = re.sub(r"^\{\s*[\w-]+\s*\}(?=.)", "", text.lower())  # a directive without the space behind it
    match = re.match(r"[a-z]+(-[a-z]+)?", bare.lstrip("{. "))
    return match[0] if match else ""


def is_python(text: str) -> bool:
    """Whether a text without a language is a program: it parses, and does something."""
    program, plain = parsed(text), (ast.Expr, ast.Pass)
    return program is not None and any(
        not isinstance(each, plain) or isinstance(getattr(each, "value", None), ast.Call) for each in program.body
    )


def open_fences(text: str) -> Iterator[tuple[int, str]]:
    """Every opening fence that a parser would see, with its line and info; not those shown inside literal blocks."""
    stack: list[tuple[str, bool]] = []  # marks, and whether the content is literal
    for number, row in enumerate(rows(text), 1):
        closing, opening = CLOSING.fullmatch(row), FENCE.match(row)
        if stack and closing and closing["marks"].startswith(stack[-1][0]):
            stack.pop()
        elif opening and not (stack and stack[-1][1]):
            info = opening["info"].strip()
            name = directive_name(info)
            stack.append((opening["marks"], name is None or name.lower() in DIRECTIVES))
            yield number, info


def dropped(text: str, taken: set[int], doctree: nodes.document) -> Iterator[tuple[int, str]]:
    """Blocks of a Markdown page that its parser has dropped with what is around them: (line, what to do).

    `taken` are the lines in blocks that have arrived. What stands in a literal block or a comment is no block.
    """
    opened = list(open_fences(text))
    fences = [number for number, info in opened if (directive_name(info) or "").lower() in DIRECTIVES]
    arrived = {fences[at - 1] for line in taken if (at := bisect(fences, line))}
    shown = (part.astext() for part in doctree.findall(nodes.Text) if MARK not in part.parent)
    literal = {row.strip() for part in shown for row in part.split("\n")}
    lines = rows(text)
    for number, info in opened:
        if number in arrived or first_row(lines[number:]) in literal:
            continue
        name, opener, below = directive_name(info) or "", lines[number - 1], lines[number:]
        if number in fences:
            yield number, DROPPED
        elif not name or exists(name, doctree) or meant_by(name):
            continue
        elif base_language(info.partition("}")[2]) in EXECUTABLE or holds_code(within(below, opener)):
            yield number, f"There is no directive {name!r}, so this is dropped, and nothing checks the code in it."


def within(below: list[str], opener: str) -> str:
    """The content of a fence, of the rows below its opening."""
    marks = opener.lstrip(" \t>*+.-0123456789").partition("{")[0].rstrip()
    closed = (at for at, row in enumerate(below) if (end := CLOSING.fullmatch(row)) and end["marks"].startswith(marks))
    return "\n".join(below[: next(closed, len(below))])


def exists(name: str, doctree: nodes.document) -> bool:
    """Whether an extension has registered the directive, or it is one of the parser's own."""
    english: Any = get_language("en")
    return name == "eval-rst" or directives.directive(name, english, doctree)[0] is not None


def holds_code(content: str) -> bool:
    """Whether the content of a directive looks executable; if it has blocks of ours, each of them is told of."""
    infos = [info for _, info in open_fences(content)]
    if any((directive_name(info) or "").lower() in DIRECTIVES for info in infos):
        return False
    runs = any(base_language(info) in EXECUTABLE for info in infos)
    return runs or bool(PROMPT.search(content)) or is_python(textwrap.dedent(content))


def first_row(below: list[str]) -> str:
    """The first row of a block's text, of the rows below its fence, without options and what marks a quote."""
    bare = (row.strip() for text in below for row in re.findall(r"^[\s>]*?(>>> .*|[^\s>].*)$", text))
    return next((row for row in bare if not row.startswith(":")), "")


def rows(text: str) -> list[str]:
    """The lines of a file, as editors number them."""
    return re.split(r"\r\n|\n|\r", text)


def directive_name(info: str) -> str | None:
    """The directive that a fence names, or None for a plain language."""
    match = re.match(r"\{\s*([^\s}]*)\s*\}?", info)
    return match[1] if match else None


def misspelt(text: str) -> Iterator[tuple[int, str]]:
    """Directives in `text` that are none of ours but look as if they should be: (line, what to do).

    A parser drops what is in a directive that it does not know.
    """
    named = [(number, directive_name(info)) for number, info in open_fences(text)]
    for number, row in enumerate(rows(text), 1):
        if (match := RST.match(row)) and (match["colons"] == "::" or match["name"].lower() in DIRECTIVES):
            named.append((number, match["name"] + ("" if match["colons"] == "::" else " with less than two colons")))
    for number, name in named:
        if name and name.lower() not in DIRECTIVES and (meant := meant_by(name)):
            yield number, f"There is no directive {name!r} that runs code; did you mean {meant!r}?"


def meant_by(name: str) -> str:
    """The directive of ours that a misspelt name means, or an empty string."""
    base = name.lower().split()[0].strip(".:")
    if base in DIRECTIVES or ":" in base:  # py:function and the like are of a domain
        return base if base in DIRECTIVES else ""
    close = difflib.get_close_matches(base, DIRECTIVES, 1, 0.75)
    if close:
        return close[0]
    if base_language(base) in EXECUTABLE or base.startswith("test") or difflib.get_close_matches(base, NAMES, 1, 0.85):
        return "testconsole" if base_language(base) in SHELL + SESSION else "testcode"
    return ""
