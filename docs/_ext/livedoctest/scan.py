"""Find code on a page that looks executable and that nothing checks."""

from __future__ import annotations

import ast
import difflib
import re
import textwrap
from bisect import bisect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.parsers.rst import directives
from docutils.parsers.rst.languages import get_language

from livedoctest.directives import DIRECTIVES, MARK
from livedoctest.locate import source_path

PYTHON = ("py", "python", "pycon", "python-console", "python-repl", "ipython", "sage", "doctest", "code-cell")
SHELL = ("console", "shell", "sh", "bash", "zsh", "ksh", "csh", "tcsh", "fish", "fishshell", "xonsh")
SESSION = ("shell-session", "shellsession", "bash-session", "sh-session", "tcshcon")
WINDOWS = ("powershell", "pwsh", "pwsh-session", "posh", "ps", "pscon", "bat", "batch", "dosbatch", "doscon")
PROGRAMS = (".py", ".sh")  # files with one of these suffixes
EXECUTABLE = frozenset([*PYTHON, *SHELL, *SESSION, *WINDOWS, *DIRECTIVES])
NAMES = sorted(name for name in EXECUTABLE if len(name) > 3)  # what a misspelt name is compared with
NO_LANGUAGE = ("", "default", "none", "text", "guess")
SEVERE = 4  # the level of what docutils cannot go on with: a file that it cannot include, a title that fits nowhere
PROMPT = re.compile(r"^[ \t]*(>>>|(\(\w+\) ?)?([\w.-]+@[\w.-]+:\S*)?\$|In \[\d+\]:)[ \t]", re.MULTILINE)
FENCE = re.compile(r"^[\s>*+.\d-]*(?P<marks>`{3,}|~{3,}|:{3,})\s*(?P<info>[^`]*)$")
CLOSING = re.compile(r"[\s>]*(?P<marks>`{3,}|~{3,}|:{3,})\s*")
RST = re.compile(r"^\s*\.\. (?P<name>[\w-]+) ?(?P<colons>:{0,2})(?=\s|$)")
RST_IN_MARKDOWN = re.compile(r"(?:\.\.|…) (?P<name>[\w-]+)::[ \t]*(?P<argument>\S*)")  # a parser of Markdown sees text
CODE_DIRECTIVES = ("code", "code-block", "sourcecode")
HTML_CODE = re.compile(r"<pre\b|^\s*(`{3,}|~{3,})|^\s*>>> |^\s*(&gt;){3} ", re.MULTILINE)
DROPPED = "This block is dropped by the directive around it, so nothing checks it: take it out of there."
REMEDY = (
    "is not checked. Make it a {doctest}, {testcode}, {testconsole} or {testfile} block; if it cannot run, give that "
    "block `:norun: reason`; if it is no program, give it the language `text` and no prompt."
)


def base_language(text: str) -> str:
    """The language that a fence or class names, without versions and decorations: python3.11 → python."""
    match = re.match(r"[a-z]+(-[a-z]+)?", text.lower().lstrip("{. "))
    return match[0] if match else ""


def looks_executable(node: nodes.literal_block) -> bool:
    """Whether a literal block has a language that runs, shows a prompt, is a program's file, or plainly Python.

    Without a language Sphinx shows it as Python, unless it is of another file.
    """
    classes = [name for name in node["classes"] if "code" in node["classes"]]
    languages = [base_language(name) for name in (str(node.get("language", "")), *classes)]
    suffix = Path(str(node.get("source", ""))).suffix
    if not EXECUTABLE.isdisjoint(languages) or (suffix in PROGRAMS and languages[0] not in ("text", "none")):
        return True
    bare = set(languages) <= set(NO_LANGUAGE)
    text = node.astext()
    if isinstance(node.parent, nodes.system_message):  # a directive that docutils does not know, as it was written
        text = textwrap.dedent(text.partition("\n")[2])
    shown_as_python = languages in ([""], ["default"]) and not suffix
    return bool(PROMPT.search(text) if bare else PROMPT.match(text)) or (shown_as_python and is_python(text))


def is_python(text: str) -> bool:
    """Whether a text without a language is a program: it parses, and does something."""
    try:
        statements = ast.parse(text).body
    except (SyntaxError, ValueError):
        return False
    plain = (ast.Expr, ast.Pass)
    return any(not isinstance(each, plain) or isinstance(getattr(each, "value", None), ast.Call) for each in statements)


def quoted_prompt(node: nodes.block_quote) -> bool:
    """Whether this is the third of three quotes in one another: what Markdown makes of a bare `>>>`."""
    above = [node.parent, getattr(node.parent, "parent", None)]
    return all(isinstance(each, nodes.block_quote) for each in above) and not isinstance(
        above[1].parent if above[1] else None, nodes.block_quote
    )


def unchecked_nodes(doctree: nodes.document) -> Iterator[tuple[nodes.Element, str]]:
    """The nodes that look executable, each with the words that describe it."""
    for block in doctree.findall(nodes.literal_block):
        if MARK not in block and looks_executable(block):
            first = block.astext().strip().split("\n")[0]
            yield block, f"A {block.get('language') or 'literal'} block ({first[:60]!r}) {REMEDY}"
    for bare in doctree.findall(nodes.doctest_block):
        if MARK not in bare:
            yield bare, f"A bare `>>>`, which doctest_test_doctest_blocks leaves out, {REMEDY}"
    for message in doctree.findall(nodes.system_message):
        if message["level"] >= SEVERE:
            yield message, "This cannot be read (docutils says above why), so nothing checks what is in it: mend it."
    for quote in doctree.findall(nodes.block_quote):
        if quoted_prompt(quote):
            yield quote, f"A bare `>>>` {REMEDY}"
    for paragraph in doctree.findall(nodes.paragraph):
        if isinstance(paragraph.parent, nodes.entry) and paragraph.astext().lstrip().startswith(">>> "):
            yield paragraph, f"A `>>>` in a table {REMEDY}"
        if restructured_text(paragraph.astext()):
            yield paragraph, f"A directive of reStructuredText, which is only text in Markdown, {REMEDY}"
    for raw in doctree.findall(nodes.raw):
        if "html" in raw.get("format", "") and HTML_CODE.search(
            re.sub(r"<!--.*?-->", "", raw.astext(), flags=re.DOTALL)
        ):
            yield raw, f"Code inside HTML {REMEDY} A fence below an HTML tag needs a blank line above it."


def restructured_text(text: str) -> bool:
    """Whether a paragraph is a directive with code, in the language of other pages."""
    match = RST_IN_MARKDOWN.match(text)
    if not match:
        return False
    runs = match["name"] in CODE_DIRECTIVES and base_language(match["argument"]) in EXECUTABLE
    return runs or match["name"].lower() in DIRECTIVES


def file_shown(node: nodes.Element, page: Path) -> Path | None:
    """The file that a literal block was filled from by `literalinclude` or `include`."""
    if not node.get("source"):
        return None
    beside = Path(page.parent, node["source"])
    return beside if beside.is_file() else Path(node["source"]).absolute()


def place_of(node: nodes.Element, page: Path) -> tuple[Path, int]:
    """The file and line of a node that stands on a page, or in a file that the page includes."""
    shown = file_shown(node, page)
    if shown and node.line == 1:  # as parsers leave text that is included literally
        return shown, 1
    return source_path(node.source or str(page)), line_of(node)


def line_of(node: nodes.Node) -> int:
    """The line of a node, or of the nearest one around it that has one."""
    while node.parent is not None:
        line = node.get("line") if isinstance(node, nodes.system_message) else node.line
        if line is not None:
            return int(line)
        node = node.parent
    return 1


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
        elif name and not (exists(name, doctree) or meant_by(name)) and holds_code(within(below, opener)):
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
    match = re.match(r"\{\s*([\w:-]*)\s*\}?", info)
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
