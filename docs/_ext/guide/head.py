"""What stands in the head of a page for search engines and for who shares a link."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx


def describe_page(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Describe a page by its first paragraph below a title, which is translated, unlike front matter."""
    section = doctree and next(iter(doctree.findall(nodes.section)), None)
    paragraph = section and next(iter(section.findall(nodes.paragraph)), None)
    if paragraph:
        context["description"] = paragraph.astext().replace("\n", " ")


def setup(app: Sphinx) -> None:
    """Connect the function above."""
    app.connect("html-page-context", describe_page)
