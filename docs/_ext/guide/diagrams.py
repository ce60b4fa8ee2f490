"""Diagrams that stay readable on a phone: they keep their size, and scroll sideways in a box of their own."""

from __future__ import annotations

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.writers.html5 import HTML5Translator


class Scroller(nodes.General, nodes.Element):
    """The box around a diagram; the keyboard reaches it, so that it scrolls without a mouse."""


def visit(writer: HTML5Translator, node: Scroller) -> None:
    """Write the start of the box."""
    label = writer.config.html_context["diagram"]
    attributes = {"role": "group", "tabindex": "0", "aria-label": label}
    writer.body.append(writer.starttag(node, "div", CLASS="diagram", **attributes))


def depart(writer: HTML5Translator, node: Scroller) -> None:
    """Write the end of the box."""
    writer.body.append("</div>\n")


def frame_diagrams(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Put each drawing between paragraphs into a box."""
    if app.builder.format != "html":
        return
    for image in list(doctree.findall(nodes.image)):
        if image["uri"].endswith(".svg") and not isinstance(image.parent, nodes.TextElement):
            image.replace_self(Scroller("", image.deepcopy()))


def setup(app: Sphinx) -> None:
    """Register the box, and connect the function above."""
    app.add_node(Scroller, html=(visit, depart))
    app.connect("doctree-resolved", frame_diagrams)
