"""The warnings that page code gives, and the exceptions that Python only prints."""

from __future__ import annotations

import sys
import threading
import traceback
import warnings
from typing import Any

from livedoctest import failure

_MOST = 100  # of a block; no page shows more


class Recorder:
    """Records the warnings of page code instead of printing them.

    And like them what Python only prints: exceptions that end a thread, or that nothing can catch, as in `__del__`.
    """

    def __init__(self, sources: set[str]) -> None:
        self.recorded: list[dict[str, Any]] = []
        self._sources = sources

    def install(self) -> None:
        warnings.showwarning = self._record
        threading.excepthook = self._record_thread
        sys.unraisablehook = self._record_unraisable

    def begin_block(self) -> None:
        """Forget which warnings have been given, so that each block gives its own; filters stay as set."""
        self.recorded = []
        self.install()  # the block before may have put something else in its place
        with warnings.catch_warnings():
            pass  # entering and leaving it makes every module's registry of given warnings out of date
        # what `once` filters remember; private in name only, and the sole way to forget it
        getattr(warnings, "onceregistry", {}).clear()

    def _record(
        self,
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: Any = None,
        line: str | None = None,
    ) -> None:
        found = lineno if filename in self._sources else failure.page_line(self._sources)
        self._add(category.__name__, str(message), found)

    def _record_thread(self, ended: threading.ExceptHookArgs) -> None:
        threading.__excepthook__(ended)
        self._record_exception("ExceptionInThread", ended)

    def _record_unraisable(self, ignored: sys.UnraisableHookArgs) -> None:
        sys.__unraisablehook__(ignored)
        self._record_exception("ExceptionIgnored", ignored)

    def _record_exception(self, category: str, told: threading.ExceptHookArgs | sys.UnraisableHookArgs) -> None:
        text = "".join(traceback.format_exception_only(told.exc_type, told.exc_value)).strip()
        line = failure.page_line(self._sources) or failure.raising_line(told.exc_traceback, self._sources)
        self._add(category, text, line)

    def _add(self, category: str, text: str, line: int | None) -> None:
        if len(self.recorded) < _MOST:
            self.recorded.append({"category": category, "text": failure.clean(text), "line": line})
