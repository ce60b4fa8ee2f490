"""What stands in the head of a page: words for search engines and shared links, and only the files that it uses."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

ONLY_IN = {"tutorials/": "_static/sg"}  # pages, and how the names of files begin that only these use


def describe_page(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Describe a page by its first paragraph below a title, which is translated, unlike front matter."""
    section = doctree and next(iter(doctree.findall(nodes.section)), None)
    paragraph = section and next(iter(section.findall(nodes.paragraph)), None)
    if paragraph:
        context["description"] = paragraph.astext().replace("\n", " ")


def lighten_page(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Leave out what extensions add to every page and only some pages use, because a browser waits for each file."""
    unused = [prefix for folder, prefix in ONLY_IN.items() if not page.startswith(folder)]
    for files in ("css_files", "script_files"):
        context[files] = [each for each in context[files] if not str(each.filename).startswith(tuple(unused))]


def setup(app: Sphinx) -> None:
    """Connect the functions above."""
    app.connect("html-page-context", describe_page)
    app.connect("html-page-context", lighten_page)
