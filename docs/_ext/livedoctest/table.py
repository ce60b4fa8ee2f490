"""Tables as docutils has them."""

from __future__ import annotations

from collections.abc import Sequence

from docutils import nodes


def table(head: Sequence[Sequence[nodes.Node]], body: Sequence[Sequence[nodes.Node]]) -> nodes.table:
    """A table.

    Args:
        head: The rows of its head, if any.
        body: The other rows. Cells are paragraphs or inline nodes.
    """
    widths = [max(len(cell.astext()) for cell in column) for column in zip(*head, *body, strict=True)]
    group = nodes.tgroup(cols=len(widths))
    group += [nodes.colspec(colwidth=width) for width in widths]
    for kind, rows in ((nodes.thead, head), (nodes.tbody, body)):
        if rows:
            group += kind("", *(nodes.row("", *map(entry, row)) for row in rows))
    return nodes.table("", group)


def entry(cell: nodes.Node) -> nodes.entry:
    """A cell."""
    return nodes.entry("", cell if isinstance(cell, nodes.paragraph) else nodes.paragraph("", "", cell))
