"""Find code on a page that looks executable and that nothing checks."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator

from docutils import nodes

from livedoctest.directives import DIRECTIVES, MARK

PYTHON = ("py", "py3", "python", "python3", "pycon", "pycon3", "ipython", "ipython3", "code-cell")
SHELL = ("console", "shell", "sh", "bash", "zsh", "shell-session", "shellsession", "bash-session", "sh-session")
EXECUTABLE = frozenset([*PYTHON, *SHELL, *DIRECTIVES])
PROMPT = re.compile(r"\s*(>>>|\$) ")
FENCE = re.compile(r"^[\s>*+.\d-]*(?P<marks>`{3,}|~{3,}|:{3,})\s*(?P<info>[^`]*)$")
REMEDY = (
    "is not checked. Make it a {doctest}, {testcode}, {testconsole} or {testfile} block; if it cannot run, give that "
    "block `:norun: reason`; if it is no program, give it another language (`text`)."
)


def looks_executable(node: nodes.literal_block) -> bool:
    """Whether a literal block has a language that runs, or starts with a prompt."""
    language = str(node.get("language", "")).lower()
    return language in EXECUTABLE or bool(PROMPT.match(node.astext()))


def quoted_prompt(node: nodes.block_quote) -> bool:
    """Whether a quote is three deep: what Markdown makes of a bare `>>>`."""
    parent, child = node.parent, node.children[0] if node.children else None
    return (
        not isinstance(parent, nodes.block_quote)
        and isinstance(child, nodes.block_quote)
        and bool(child.children)
        and isinstance(child.children[0], nodes.block_quote)
    )


def unchecked_nodes(doctree: nodes.document) -> Iterator[tuple[nodes.Element, str]]:
    """The nodes that look executable, each with the words that describe it."""
    for node in doctree.findall(nodes.literal_block):
        if MARK not in node and looks_executable(node):
            first = node.astext().strip().split("\n")[0]
            yield node, f"A {node.get('language') or 'literal'} block ({first[:60]!r}) {REMEDY}"
    for quote in doctree.findall(nodes.block_quote):
        if quoted_prompt(quote):
            yield quote, f"A bare `>>>` {REMEDY}"


def open_fences(text: str) -> Iterator[tuple[int, str]]:
    """Every opening fence that a parser would see, with its line and info; not those shown inside literal blocks."""
    stack: list[tuple[str, bool]] = []  # marks, and whether the content is literal
    for number, row in enumerate(text.splitlines(), 1):
        match = FENCE.match(row)
        if not match:
            continue
        marks, info = match["marks"], match["info"].strip()
        if stack and not info and marks.startswith(stack[-1][0]):
            stack.pop()
        elif not (stack and stack[-1][1]):
            name = directive_name(info)
            stack.append((marks, name is None or name in DIRECTIVES))
            yield number, info


def directive_name(info: str) -> str | None:
    """The directive that a fence names, or None for a plain language."""
    match = re.match(r"\{\s*([\w-]*)\s*\}?", info)
    return match[1] if match else None


def misspelt_fences(text: str) -> Iterator[tuple[int, str]]:
    """Fences whose directive is nearly one of ours, as (line, what to do). A parser drops an unknown directive."""
    for number, info in open_fences(text):
        name = directive_name(info)
        close = difflib.get_close_matches(name or "", DIRECTIVES, 1, 0.75)
        if name not in DIRECTIVES and close:
            yield number, f"There is no directive {name!r}; did you mean {close[0]!r}?"
