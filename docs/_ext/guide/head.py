"""What stands in the head of a page: words for search engines and shared links, and only the scripts that it uses."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

# How the names of scripts begin that extensions add to every page, and what a page that uses them has in it.
USED_WITH = {"_static/sg": "sphx-glr", "_static/design-tabs": "sd-tab-set"}


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
    """Show a page before its scripts run, and leave out those that it does not use."""
    unused = tuple(prefix for prefix, mark in USED_WITH.items() if mark not in context.get("body", ""))
    scripts = context["script_files"]
    context["script_files"] = [script for script in scripts if not str(script.filename).startswith(unused)]
    now = context["js_tag"]

    def later(script: Any) -> str:
        tag: str = now(script)
        if tag.startswith("<script>"):  # in the page itself: modules run in one line with deferred files
            return tag.replace("<script>", '<script type="module">', 1)
        return tag if "defer" in tag else tag.replace("<script ", "<script defer ", 1)

    if page != "search":  # its scripts need each other while the page is read
        context["js_tag"] = later


def setup(app: Sphinx) -> None:
    """Connect the functions above."""
    app.connect("html-page-context", describe_page)
    app.connect("html-page-context", lighten_page, priority=900)  # behind the theme, which adds scripts of its own
