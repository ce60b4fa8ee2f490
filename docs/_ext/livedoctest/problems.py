"""Everything an author can be warned of: one closed list, one way to say it."""

from __future__ import annotations

from enum import Enum

from sphinx.util import logging

logger = logging.getLogger(__name__)


class Problem(Enum):
    """A kind of fault on a page. The value is one sentence: what it is, and what to do."""

    UNVERIFIED = "A block that looks executable is not checked: make it a doctest, testcode or testconsole block."
    UNKNOWN_OPTION = "A block has an option, flag or value that the engine does not know: correct its spelling."
    ORPHAN = "An output or warning block has no code block above it: put it right below the code that gives it."
    DUPLICATE = "Several output or warning blocks are for one code block: leave one, or give each output a condition."
    SYNTAX = "A block cannot be parsed, so nothing of it can run: correct the code or its prompts."
    INCLUDE = "A file includes itself, at once or through other files: take one of the includes out."
    FAILED = "A block printed, raised or warned something else than the page says."
    NOT_RUN = "A block could not run to its end: its process was killed, ended early or took too long."
    UNENDED = "A page left a thread or a handler at exit that does not end: end it on the page, or make it a daemon."
    EMPTY_PAGE = "A page runs no block and does not say so: add blocks, or `livedoctest: none` to its front matter."
    CONTRADICTION = "A page says `livedoctest: none` but has blocks that run: remove one of the two."
    RECORD = "A record of a run on live hardware cannot be read: restore the file, or write it anew on that device."
    CACHE = "A stored result could not be read or written: the page is run again."

    @property
    def subtype(self) -> str:
        """The name as it appears in brackets behind a warning, and in `suppress_warnings`."""
        return self.name.lower().replace("_", "-")


def warn(problem: Problem, location: str | None, detail: str) -> None:
    """Emit the Sphinx warning for `problem` at `location` ("path:line").

    `detail` says what is wrong here and how to mend it. The caller decides about the exit status.
    """
    logger.warning(detail, location=location, type="livedoctest", subtype=problem.subtype)


class Stop(SystemExit):
    """Ends the build with status 2, after the cause was logged.

    Sphinx would print any other exception as a fault of its own, below a page of versions and with a plea to report it.
    """

    def __init__(self, cause: str) -> None:
        logger.error("livedoctest: %s", cause)
        super().__init__(2)
