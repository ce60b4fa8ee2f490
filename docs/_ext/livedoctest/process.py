"""The process of one page, as the server sees it: forks it, follows it, and turns its end into results."""

from __future__ import annotations

import contextlib
import json
import mmap
import os
import shutil
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from livedoctest import capture as captured
from livedoctest import failure
from livedoctest.capture import Capture
from livedoctest.child import FAILED, PROGRESS, STACK_SIGNAL, Child

_STACK_SECONDS = 0.3  # for the process to write its stack before it is killed
_EXIT_SECONDS = 5.0  # for threads to end, and for what page code registered with atexit
_IMPORT_SECONDS = 120.0  # for a new interpreter to import what the server could not import for it
_SHOWN = 10_000  # characters of endless output that are worth showing

Event = dict[str, Any]


class PageProcess:
    """A running page.

    Args:
        page: The page, as the protocol describes it.
        folder: An empty folder for it.
        cards: The devices dealt to it; empty: all there are.
        spawn: Modules to import in a new interpreter; None: the process is a fork of this one.
        release: Closes, in the new process, what belongs to the server.

    Attributes:
        control: Descriptor that becomes readable when the page has something to say.
        silent: Whether the page has closed its end of it.
    """

    def __init__(
        self, page: dict[str, Any], folder: Path, cards: list[str], spawn: list[str] | None, release: Callable[[], None]
    ) -> None:
        self._docname: str = page["docname"]
        self._blocks: list[dict[str, Any]] = page["blocks"]
        self._folder = folder
        self.cards = cards
        self._capture = Capture.new()
        self._stack, self._place = captured.unnamed_file(), captured.unnamed_file()
        os.ftruncate(self._place, PROGRESS.size)
        self._progress = mmap.mmap(self._place, PROGRESS.size)
        self._units: list[dict[str, Any]] = []
        self._modules: list[str] = []
        self._seen = 0  # bytes of output that belong to finished units
        self._ended = 0  # blocks
        self._fault: dict[str, Any] | None = None
        self._cut_short = ""  # what the unit had printed that ran then
        self._end: dict[str, Any] | None = None  # what showed after the last block
        self._received = b""
        self._started = self._block_started = time.monotonic()
        self._deadline = self._started + (self._blocks[0]["timeout"] if self._blocks else _EXIT_SECONDS)
        self._deadline += 0 if spawn is None else _IMPORT_SECONDS
        self.silent = False
        self._start(spawn, release)

    def _start(self, spawn: list[str] | None, release: Callable[[], None]) -> None:
        ours, theirs = map(captured.private, os.pipe())
        captured.flush()
        self.pid = os.fork()
        if self.pid == 0:
            os.close(ours)
            child = Child(
                blocks=self._blocks,
                folder=str(self._folder),
                out=self._capture.out,
                log=self._capture.log,
                stack=self._stack,
                progress=self._place,
                control=theirs,
                cards=",".join(self.cards),
                preload=spawn or [],
            )
            (child.run if spawn is None else child.replace_program)(release)
        os.close(theirs)
        os.set_blocking(ours, False)
        self.control = ours

    def descriptors(self) -> list[int]:
        """The descriptors that this page needs in the server."""
        return [self.control, self._capture.out, self._capture.log, self._stack, self._place]

    def read(self) -> list[Event]:
        """Take what the page has sent, as events for the client."""
        with contextlib.suppress(BlockingIOError):
            while data := os.read(self.control, 1 << 16):
                self._received += data
            self.silent = True
        *lines, self._received = self._received.split(b"\n")
        return [event for line in lines for event in self._take(json.loads(line))]

    def _take(self, message: dict[str, Any]) -> Iterator[Event]:
        now = time.monotonic()
        if self._fault is not None:
            return
        if "start" in message:
            self._block_started = now
            self._deadline = now + self._blocks[message["start"]]["timeout"]
        elif "unit" in message:
            self._units.append(message["unit"])
            self._seen = message["size"]
        elif "end" in message:
            self._end, self._modules = {**message["end"], "fault": None}, message["modules"]
        else:
            yield self._result({"units": self._units, **message, "fault": None})
            if self._ended == len(self._blocks):
                self._deadline = now + _EXIT_SECONDS

    def watch(self, now: float) -> None:
        """End the page if it has run or written for too long."""
        done = self._fault is not None or self._end is not None
        if now > self._deadline:
            if not done:
                self._set_fault("timeout", self._too_long())
                os.kill(self.pid, STACK_SIGNAL)
                self._deadline = now + _STACK_SECONDS
            else:
                self.kill()
        elif not done and self._capture.too_much():
            self._set_fault("output", f"wrote more than {captured.LIMIT:,} bytes{self._when()}")
            self.kill()

    def _too_long(self) -> str:
        if self._ended == len(self._blocks):
            return f"did not end within {_EXIT_SECONDS:g} s{self._when()}"
        return f"did not finish within {self._blocks[self._ended]['timeout']:g} s"

    def _when(self) -> str:
        return " after its last block" if self._ended == len(self._blocks) else ""

    def exited(self) -> bool:
        """Whether the process has ended; it stays a zombie, so that nothing else gets its number."""
        return os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None

    def kill(self) -> None:
        """Kill the process and all that is left in its group."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(self.pid, signal.SIGKILL)  # it may not have made its group yet
            os.killpg(self.pid, signal.SIGKILL)

    def finish(self) -> Iterator[Event]:
        """After its end: kill what the page left running, and report what is still to report."""
        yield from self.read()
        self.kill()
        status = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        if self._end is None:
            yield from self._report_fault(status)
        for descriptor in self.descriptors():
            os.close(descriptor)
        shutil.rmtree(self._folder, ignore_errors=True)
        seconds = time.monotonic() - self._started
        done = {"docname": self._docname, "done": True, "seconds": seconds}
        yield {**done, "modules": self._modules, "end": self._end}

    def _report_fault(self, status: int) -> Iterator[Event]:
        if self._fault is None:
            runner = self._capture.logged().strip().rpartition("\n")[2] if status == FAILED else ""
            words = f"ended its process{self._when()} ({_status_text(status)})"
            self._set_fault("died", words + f": {runner}" * bool(runner))
        fault = self._fault
        assert fault is not None
        dump = os.pread(self._stack, captured.LIMIT, 0).decode("utf-8", errors="replace")
        stack, line = failure.page_stack(dump, self._current()["source"])
        fault["line"] = line or fault["line"]
        fault["text"] += f"\n{stack}" if stack else ""
        if self._ended == len(self._blocks):
            self._end = {"output": self._cut_short, "warnings": [], "fault": fault}
            return
        units = [*self._units, {"output": self._cut_short, "exception": None, "status": None}]
        yield self._result({"units": units, "log": self._capture.logged(), "fault": fault})
        for block in self._blocks[self._ended :]:
            text = f"did not run, because the page's process ended in the block at line {fault['line']}"
            lost = {"kind": "lost", "text": text, "line": _first_line(block)}
            yield self._result({"units": [], "log": "", "fault": lost})

    def _set_fault(self, kind: str, text: str) -> None:
        index, line = PROGRESS.unpack_from(self._progress, 0)
        if index != self._ended or not line:
            line = _first_line(self._current())
        self._fault = {"kind": kind, "text": text, "line": line}
        self._cut_short = self._capture.output(self._seen)[:_SHOWN]  # now: the process may yet go on for a moment

    def _current(self) -> dict[str, Any]:
        """The block that runs, or the last one."""
        return self._blocks[min(self._ended, len(self._blocks) - 1)]

    def _result(self, parts: dict[str, Any]) -> Event:
        now = time.monotonic()
        result = {"warnings": [], "moves": None, "seconds": now - self._block_started, **parts}
        event = {
            "docname": self._docname,
            "block": self._ended,
            "result": result,
            "folder": str(self._folder),
        }
        self._ended += 1
        self._units, self._seen, self._block_started = [], 0, now
        return event


def _status_text(status: int) -> str:
    if status >= 0:
        return f"exit status {status}"
    try:
        return signal.Signals(-status).name
    except ValueError:  # a real-time signal
        return f"signal {-status}"


def _first_line(block: dict[str, Any]) -> int:
    return block["units"][0]["line"] if block["units"] else 1
