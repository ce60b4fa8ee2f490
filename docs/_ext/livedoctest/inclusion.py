"""A file that includes itself, which MyST would follow until Python's stack is full; docutils refuses it in its own."""

from __future__ import annotations

import os
from typing import Any

from docutils import nodes
from myst_parser.mdit_to_docutils import base
from myst_parser.mocking import MockIncludeDirective
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

from livedoctest.block import Finding

FINDINGS = "livedoctest_findings"  # key in the environment's data of the page that is being read


class Include(MockIncludeDirective):
    """The directive `include` of MyST, which also looks whether it runs within itself."""

    def run(self) -> list[nodes.Element]:
        """The nodes of the included file; none, and a finding, where the directive includes what it stands in."""
        here = (self.document["source"], (self.lineno,))
        log = self.document.include_log  # docutils keeps it for this end
        if here in log:
            self.note()
            return []
        log.append(here)
        try:
            return super().run()
        finally:
            log.remove(here)

    def note(self) -> None:
        """Keep the fault until the page's blocks are collected."""
        env: Any = self.renderer.sphinx_env
        words = f"{self.arguments[0]} includes this include, at once or through other files: take one of them out."
        finding = Finding("INCLUDE", os.path.relpath(self.document["source"], env.srcdir), self.lineno, words)
        env.current_document.setdefault(FINDINGS, []).append(finding)


def findings(env: BuildEnvironment) -> list[Finding]:
    """The faults of this kind on the page that is being read."""
    return env.current_document.get(FINDINGS) or []


def setup_inclusion(app: Sphinx) -> None:
    """Put the directive in the place of MyST's, which looks it up there, not in a registry."""
    base.MockIncludeDirective = Include  # type: ignore[attr-defined]
