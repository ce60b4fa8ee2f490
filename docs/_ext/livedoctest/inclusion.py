"""Included files: those of Markdown that are whole, and one that includes itself.

MyST would follow that one until Python's stack is full; docutils refuses it in its own.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

from docutils import nodes
from myst_parser.mdit_to_docutils import base
from myst_parser.mocking import MockIncludeDirective
from sphinx.application import Sphinx
from sphinx.directives.other import Include as SphinxInclude
from sphinx.environment import BuildEnvironment

from livedoctest.block import Finding

# keys in the environment's data of the page that is being read
FINDINGS = "livedoctest_findings"
WHOLE = "livedoctest_whole"
OTHER = (
    "start-line",
    "end-line",
    "start-after",
    "end-before",
    "literal",
    "code",
    "parser",
)  # options: a part, or no page


class Include(MockIncludeDirective):
    """The directive `include` of MyST, which also looks whether it runs within itself."""

    def run(self) -> list[nodes.Element]:
        """The nodes of the included file; none, and a finding, where the directive includes what it stands in."""
        here = (self.document["source"], (self.lineno,))
        log = self.document.include_log  # docutils keeps it for this end
        if here in log:
            self.note()
            return []
        if not any(name in self.options for name in OTHER):
            self.note_whole()
        log.append(here)
        try:
            return super().run()
        finally:
            log.remove(here)

    def note_whole(self) -> None:
        """Keep the name of the file, all of which is read as Markdown."""
        env: Any = self.renderer.sphinx_env
        env.current_document.setdefault(WHOLE, []).append(Path(env.relfn2path(self.arguments[0])[1]))

    def note(self) -> None:
        """Keep the fault until the page's blocks are collected."""
        env: Any = self.renderer.sphinx_env
        words = f"{self.arguments[0]} includes this include, at once or through other files: take one of them out."
        finding = Finding("INCLUDE", os.path.relpath(self.document["source"], env.srcdir), self.lineno, words)
        env.current_document.setdefault(FINDINGS, []).append(finding)


class DraftInclude(SphinxInclude):
    """The directive `include` of reStructuredText, which reads the draft that `accept` tries out in a file's place.

    The event at which Sphinx offers the text comes too late: the options have cut their part out of the old text then.
    """

    def read_file(self, path: str | os.PathLike[str]) -> str:
        """The part of the file that the options choose."""
        draft = getattr(self.env, "livedoctest_drafts", {}).get(Path(path).resolve())
        if draft is None:
            return super().read_file(path)
        self.state.document.settings.record_dependencies.add(str(path))
        with tempfile.NamedTemporaryFile() as file:
            file.write(draft.encode("utf-8", errors="surrogateescape"))
            file.flush()
            return super().read_file(file.name)


def findings(env: BuildEnvironment) -> list[Finding]:
    """The faults of this kind on the page that is being read."""
    return env.current_document.get(FINDINGS) or []


def whole_files(env: BuildEnvironment) -> list[Path]:
    """The files that the page that is being read includes, all of them and as Markdown."""
    return env.current_document.get(WHOLE) or []


def setup_inclusion(app: Sphinx) -> None:
    """Put the directive in the place of MyST's, which looks it up there, not in a registry."""
    base.MockIncludeDirective = Include  # type: ignore[attr-defined]
