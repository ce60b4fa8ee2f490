"""The text of a page as Markdown, for the text cells of its notebook."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Sequence

from docutils import nodes
from sphinx import addnodes

SPECIAL = re.compile(r"([\\`*<\[])")
NOT_TEXT = (nodes.comment, nodes.image, nodes.raw, nodes.target, addnodes.toctree, addnodes.index)


def markdown(node: nodes.Node) -> str:
    """A node of a page, with all that is in it, as blocks of Markdown with an empty line between two."""
    return "\n\n".join(text for text in blocks(node) if text.strip())


def blocks(node: nodes.Node) -> Iterator[str]:
    """The blocks of Markdown that a node is."""
    if isinstance(node, NOT_TEXT):
        return
    if isinstance(node, nodes.TextElement) and not isinstance(node, (nodes.literal_block, nodes.doctest_block)):
        yield inline(node).strip()
    elif isinstance(node, (nodes.bullet_list, nodes.enumerated_list)):
        yield "\n".join(items(node))
    elif isinstance(node, nodes.definition_list_item):
        yield f"**{inline(node[0])}**"
        yield from below(node[1:])
    elif isinstance(node, nodes.Admonition):
        yield textwrap.indent("\n\n".join(below(node.children)), "> ", lambda line: True)
    elif isinstance(node, (nodes.literal_block, nodes.doctest_block)):
        yield f"```text\n{node.astext()}\n```"
    elif isinstance(node, nodes.table):
        yield table(node)
    else:
        yield from below(node.children)


def below(children: Sequence[nodes.Node]) -> Iterator[str]:
    """The blocks of several nodes."""
    for child in children:
        yield from blocks(child)


def items(node: nodes.Element) -> Iterator[str]:
    """The items of a list."""
    for number, item in enumerate(node.children, 1):
        mark = "- " if isinstance(node, nodes.bullet_list) else f"{number}. "
        yield mark + textwrap.indent(markdown(item), " " * len(mark)).lstrip()


def table(node: nodes.table) -> str:
    """A table; one without a head gets an empty one, which Markdown needs."""
    rows = [[inline(entry).strip().replace("|", "\\|") for entry in row.children] for row in node.findall(nodes.row)]
    if not next(iter(node.findall(nodes.thead)), None):
        rows.insert(0, [""] * len(rows[0]))
    rows.insert(1, ["---"] * len(rows[0]))
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def inline(node: nodes.Node) -> str:
    """Text with its marks. Links within the site, which lead nowhere from a notebook, are their words only."""
    if isinstance(node, nodes.Text):
        return SPECIAL.sub(r"\\\1", node.astext().replace("\n", " "))
    if isinstance(node, nodes.literal):
        text = node.astext().replace("\n", " ")
        marks = "``" if "`" in text else "`"
        return f"{marks} {text} {marks}" if "`" in text else f"{marks}{text}{marks}"
    if isinstance(node, nodes.image):
        return str(node.get("alt", ""))
    text = "".join(inline(child) for child in node.children if not isinstance(child, nodes.raw))
    if isinstance(node, nodes.emphasis):
        return f"*{text}*"
    if isinstance(node, nodes.strong):
        return f"**{text}**"
    if isinstance(node, nodes.reference) and str(node.get("refuri", "")).startswith(("http:", "https:")):
        return f"[{text}]({node['refuri']})"
    return text
