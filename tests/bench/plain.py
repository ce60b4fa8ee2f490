"""A Sphinx extension that shows the engine's blocks and runs none: what a build costs without verification.

With `plain_stock = True` the directives of sphinx.ext.doctest stay as they are, so that its builder runs their blocks;
options and flags that it does not know are taken out of the pages.
"""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

STOCK = ("doctest", "testcode", "testoutput", "testsetup", "testcleanup")
OWN = ("testconsole", "testfile", "testwarning")
UNKNOWN = re.compile(r"^ *:(moves|requires|timeout): .*\n|, \+NUMBER|\+NUMBER", re.MULTILINE)
NOT_RUN = re.compile(r"\{(?:doctest|testcode)\}(?=\n(?: *:.*\n)* *:(?:norun|requires): (?!simulated|npu))")


class AnyOption(dict[str, Any]):
    """Every option is text."""

    def __missing__(self, name: str) -> Any:
        return str


class Literal(SphinxDirective):
    """A block, shown as it is."""

    has_content = True
    optional_arguments = 1
    final_argument_whitespace = True
    option_spec = AnyOption()

    def run(self) -> list[nodes.Node]:
        """One literal block, or a comment for what is hidden."""
        text = "\n".join(self.content)
        hidden = self.name in ("testsetup", "testcleanup") or "hide" in self.options
        language = {"testconsole": "console", "doctest": "pycon", "testoutput": "none"}.get(self.name, "python")
        return [nodes.comment(text, text) if hidden else nodes.literal_block(text, text, language=language)]


def strip(app: Sphinx, docname: str, content: list[str]) -> None:
    """Take out what the stock extension does not understand; what does not run here becomes a file, shown only."""
    if app.config.plain_stock:
        content[0] = UNKNOWN.sub("", NOT_RUN.sub("{testfile} not-run", content[0]))


def choose(app: Sphinx, config: Any) -> None:
    """Take the place of the directives."""
    for name in OWN if config.plain_stock else OWN + STOCK:
        app.add_directive(name, Literal, override=True)


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the extension."""
    app.setup_extension("sphinx.ext.doctest")
    app.add_config_value("plain_stock", False, "env", bool)
    app.connect("config-inited", choose)
    app.connect("source-read", strip)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
