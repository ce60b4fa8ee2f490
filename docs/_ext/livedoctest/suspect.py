"""The nodes of a page that look executable and that nothing checks."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from docutils import nodes
from pygments.lexers import find_lexer_class_by_name
from pygments.util import ClassNotFound
from sphinx import addnodes

from livedoctest.directives import DIRECTIVES, MARK
from livedoctest.locate import source_path
from livedoctest.markup import has_program, html_shows_code, latex_shows_code
from livedoctest.scan import (
    CODE_DIRECTIVES,
    EXECUTABLE,
    FENCE,
    NO_LANGUAGE,
    PROGRAMS,
    PROMPT,
    PYTHON,
    base_language,
    is_python,
)

SEVERE = 4  # the level of what docutils cannot go on with: a file that it cannot include, a title that fits nowhere
PROMPT_IN_TEXT = re.compile(r"^[ \t]*>>>(?!>).*\S.*", re.MULTILINE)
DIRECTIVE_IN_TEXT = re.compile(r"^[ \t]*(?:\.\.|…)[ \t]*(?P<name>[\w-]+)::?[ \t]*(?P<argument>\S*).*", re.MULTILINE)
MARKUP = {"html": html_shows_code, "latex": latex_shows_code}
REMEDY = (
    "is not checked. Make it a {doctest}, {testcode}, {testconsole} or {testfile} block; if it cannot run, give that "
    "block `:norun: reason`; if it is no program, give it the language `text` and no prompt."
)


@dataclass(frozen=True)
class Suspect:
    """Such a node, what to say of it, and the text that is looked for where the node does not know its line."""

    node: nodes.Element
    words: str
    text: str = ""


def suspects(doctree: nodes.document, usual: str, indented: Callable[[nodes.literal_block], bool]) -> Iterator[Suspect]:
    """All of them.

    Args:
        doctree: The page.
        usual: The language of what names none, as conf.py sets it.
        indented: Whether a literal block is one of Markdown without a fence, which can name no language.
    """
    for block, shown in shown_languages(doctree, usual):
        if MARK not in block and looks_executable(block, usual if indented(block) else shown, indented(block)):
            text = block.astext()
            first = text.strip().split("\n")[0]
            words = f"A {block.get('language') or 'literal'} block ({first[:60]!r}) {REMEDY}"
            yield Suspect(block, words, "" if "language" in block else text)
    for bare in doctree.findall(nodes.doctest_block):
        if MARK not in bare:
            yield Suspect(bare, f"A bare `>>>`, which doctest_test_doctest_blocks leaves out, {REMEDY}")
    for message in doctree.findall(nodes.system_message):
        if message["level"] >= SEVERE:
            words = "This cannot be read (docutils says above why), so nothing checks what is in it: mend it."
            yield Suspect(message, words)
    for quote in doctree.findall(nodes.block_quote):
        if quoted_prompt(quote):
            yield Suspect(quote, f"A bare `>>>` {REMEDY}")
    yield from filter(None, (in_text(node) for node in doctree.findall(nodes.Element) if is_text(node)))
    for raw in doctree.findall(nodes.raw):
        if any(name in raw.get("format", "") and shows_code(raw.astext()) for name, shows_code in MARKUP.items()):
            hint = " A fence below an HTML tag needs a blank line above it." if "html" in raw["format"] else ""
            yield Suspect(raw, f"Code inside {raw['format'].upper()} {REMEDY}{hint}")


def shown_languages(doctree: nodes.document, usual: str) -> Iterator[tuple[nodes.literal_block, str]]:
    """The literal blocks, each with the language in which Sphinx shows it."""
    for node in doctree.findall():
        if isinstance(node, addnodes.highlightlang):
            usual = node["lang"]
        elif isinstance(node, nodes.literal_block):
            yield node, str(node.get("language", usual))


def looks_executable(node: nodes.literal_block, shown: str = "", indented: bool = False) -> bool:
    """Whether a literal block has a language that runs, shows a prompt, is a program's file, or plainly Python.

    Args:
        node: The block. Without a language Sphinx shows it as Python, unless it is of another file.
        shown: The language in which Sphinx shows it, if it names none.
        indented: Whether it cannot name one.
    """
    own = "" if indented else str(node.get("language", ""))
    classes = [name for name in node["classes"] if "code" in node["classes"]]
    languages = [base_language(name) for name in (own, *classes)]
    suffix = Path(str(node.get("source", ""))).suffix
    if not EXECUTABLE.isdisjoint(languages) or (suffix in PROGRAMS and languages[0] not in ("text", "none")):
        return True
    bare = set(languages) <= set(NO_LANGUAGE) or not is_language(own)
    text = node.astext()
    if isinstance(node.parent, nodes.system_message):  # a directive that docutils does not know, as it was written
        directive = DIRECTIVE_IN_TEXT.match(text)
        if directive and base_language(directive["argument"]) in EXECUTABLE:
            return True
        text = textwrap.dedent(text.partition("\n")[2])
    if PROMPT.search(text) if bare else PROMPT.match(text):
        return True
    usual = base_language(own or shown)
    if suffix or not bare or usual in ("text", "none"):
        return False
    return is_python(text) if usual in PYTHON or not is_language(usual) else usual in EXECUTABLE


def is_language(name: str) -> bool:
    """Whether Pygments knows a language; what it does not know may be a misspelt one."""
    try:
        return find_lexer_class_by_name(name) is not None
    except ClassNotFound:
        return False


def quoted_prompt(node: nodes.block_quote) -> bool:
    """Whether this is the third of three quotes in one another: what Markdown makes of a bare `>>>`."""
    above = [node.parent, getattr(node.parent, "parent", None)]
    return all(isinstance(each, nodes.block_quote) for each in above) and not isinstance(
        above[1].parent if above[1] else None, nodes.block_quote
    )


def is_text(node: nodes.Node) -> bool:
    """Whether a node is text that a parser took for prose."""
    return isinstance(node, (nodes.paragraph, nodes.line))


def in_text(node: nodes.Element) -> Suspect | None:
    """What looks like code in prose: a parser sees no block there. What stands between backticks is meant as text."""
    text = "".join(child.astext() for child in node.children if not isinstance(child, nodes.literal))
    fence = FENCE.match(node.rawsource.split("\n")[0])
    if fence and base_language(fence["info"]) in EXECUTABLE:
        return Suspect(node, f"A fence of Markdown, which is only text in reStructuredText, {REMEDY}")
    for row in DIRECTIVE_IN_TEXT.finditer(text):
        if has_code(row["name"], row["argument"]):
            hint = "In reStructuredText it needs a blank line above it and a space behind its dots."
            return Suspect(node, f"A directive of reStructuredText, which is only text here, {REMEDY} {hint}", row[0])
    if any(isinstance(child, nodes.raw) for child in node.children) and has_program(text):
        return Suspect(node, f"Code inside HTML {REMEDY}")
    if isinstance(node.parent, nodes.entry) and node.astext().lstrip().startswith(">>> "):
        return Suspect(node, f"A `>>>` in a table {REMEDY}")
    if prompt := PROMPT_IN_TEXT.search(text):
        hint = "In reStructuredText it needs a blank line above it and a space behind it."
        return Suspect(node, f"A `>>>` in a paragraph {REMEDY} {hint}", prompt[0].strip())
    return None


def has_code(name: str, argument: str) -> bool:
    """Whether a directive has code, by its name and the language behind it."""
    runs = name.lower() in CODE_DIRECTIVES and base_language(argument) in EXECUTABLE
    return runs or name.lower() in DIRECTIVES


def file_shown(node: nodes.Element, page: Path) -> Path | None:
    """The file that a literal block was filled from by `literalinclude` or `include`."""
    if not node.get("source"):
        return None
    beside = Path(page.parent, node["source"])
    return beside if beside.is_file() else Path(node["source"]).absolute()


def place_of(node: nodes.Element, page: Path) -> tuple[Path, int]:
    """The file and line of a node that stands on a page, or in a file that the page includes."""
    return source_path(node.source or str(page)), line_of(node)


def line_of(node: nodes.Node) -> int:
    """The line of a node, or of the nearest one around it that has one."""
    while node.parent is not None:
        line = node.get("line") if isinstance(node, nodes.system_message) else node.line
        if line is not None:
            return int(line)
        node = node.parent
    return 1
