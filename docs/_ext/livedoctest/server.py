"""The process that page processes are forked from, so that none of them has to import what all of them use.

It imports the modules it is told to, and then only forks, watches and reports; it runs no page code and never
initialises the device, which does not survive a fork. When its input ends, it ends everything that it started.
"""

from __future__ import annotations

import fcntl
import gc
import importlib
import json
import os
import selectors
import signal
import time
import traceback
from collections import deque
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

from livedoctest import capture as captured
from livedoctest.child import become_subreaper, write_line
from livedoctest.probe import survives_fork
from livedoctest.process import Event, PageProcess
from livedoctest.slots import Slots
from livedoctest.temporary import temporary_folder

_PROBE_SECONDS = 60.0
_TICK = 0.025  # seconds between two looks at time limits and at the size of outputs


class Server:
    """Runs pages, some at once.

    Args:
        folder: Holds the folders of the pages.
        slots: Where they run.
        spawn: Modules that each page imports in an interpreter of its own; None: pages are forks of this process.
        jobs: Where the pages came from; its end means that nobody wants results any more.
        events: Descriptor that takes the events.
    """

    def __init__(self, folder: Path, slots: Slots, spawn: list[str] | None, jobs: int, events: int) -> None:
        self._folder = folder
        self._slots = slots
        self._spawn = spawn
        self._jobs = jobs
        self._events = events
        self._started = 0
        self._running: list[PageProcess] = []
        self._helpers = set(_children())  # what the imports may have started
        self._selector = selectors.DefaultSelector()
        self._selector.register(jobs, selectors.EVENT_READ)

    def run(self, pages: list[dict[str, Any]]) -> None:
        """Run the pages in this order, and report each as it goes; returns early if the client has gone."""
        waiting = deque(pages)
        try:
            while waiting or self._running:
                while waiting and (cards := self._slots.take(waiting[0])) is not None:
                    self._start(waiting.popleft(), cards)
                if not self._wait():
                    return
                self._follow()
        except BrokenPipeError:
            return
        finally:
            self._end()

    def _start(self, page: dict[str, Any], cards: list[str]) -> None:
        self._started += 1
        folder = self._folder / f"{self._started:04d}"
        folder.mkdir(parents=True)  # also where page code has removed more than its own
        process = PageProcess(page, folder, cards, self._spawn, self._release)
        self._running.append(process)
        self._selector.register(process.control, selectors.EVENT_READ)

    def _release(self) -> None:
        """In a page's process: close what it has no business with."""
        self._selector.close()
        others = [descriptor for process in self._running for descriptor in process.descriptors()]
        for descriptor in [self._jobs, self._events, *others]:
            os.close(descriptor)

    def _wait(self) -> bool:
        """Wait for a page to say something, or for the next tick; False when the client has gone."""
        return all(key.fd != self._jobs for key, _ in self._selector.select(_TICK))

    def _follow(self) -> None:
        """Pass on what pages have sent, end those that go too far, and finish those that have ended."""
        for process in list(self._running):
            now = time.monotonic()  # before reading: what passing on takes is not held against pages
            self._pass_on(process.read())
            process.watch(now)
            if process.silent:
                self._ignore(process)
            if process.exited():
                self._ignore(process)
                self._running.remove(process)
                events = list(process.finish())
                self._slots.give_back(process.cards)
                self._sweep()
                self._pass_on(events)

    def _ignore(self, process: PageProcess) -> None:
        with suppress(KeyError):  # it may be ignored already
            self._selector.unregister(process.control)

    def _pass_on(self, events: list[Event]) -> None:
        for event in events:
            write_line(self._events, event)

    def _sweep(self) -> None:
        """Kill the orphans that ended pages leave; those of a running page are children of that page."""
        own = self._helpers | {process.pid for process in self._running}
        while strays := set(_children()) - own:
            for stray in strays:
                with suppress(ProcessLookupError):
                    os.kill(stray, signal.SIGKILL)
                with suppress(ChildProcessError):
                    os.waitpid(stray, 0)

    def _end(self) -> None:
        for process in self._running:
            process.kill()
            with suppress(ChildProcessError):
                os.waitpid(process.pid, 0)
        self._running.clear()
        self._sweep()


def main() -> None:
    """Serve one client: its order on standard input, the events on standard output."""
    jobs = os.fdopen(captured.private(os.dup(0)), "rb")
    events = captured.private(os.dup(1))
    empty = os.open(os.devnull, os.O_RDONLY)
    os.dup2(empty, 0)
    os.close(empty)
    os.dup2(2, 1)  # what modules print when they are imported is no event
    order = json.loads(jobs.readline())
    if problem := _preload(order["preload"], jobs):
        write_line(events, {"error": problem})
        return
    cards = order.get("cards", [])
    fork = survives_fork(order["probe"], cards[0], _PROBE_SECONDS) if order.get("probe") else True
    become_subreaper()
    with temporary_folder() as folder:
        write_line(events, {"ready": True, "folder": str(folder), "start": "fork" if fork else "spawn"})
        pages = _read_pages(jobs)
        if pages is not None:
            spawn = None if fork else order["preload"]
            Server(folder, Slots(order["parallel"], cards), spawn, jobs.fileno(), events).run(pages)


def _preload(modules: list[str], jobs: BinaryIO) -> str | None:
    """Import the modules; returns what went wrong."""
    # Importing can take seconds, in C code that no Python thread or handler interrupts. Until it is done, let the
    # kernel end this process when the client closes its side: by SIGIO, whose default action is to terminate.
    fcntl.fcntl(jobs, fcntl.F_SETOWN, os.getpid())
    flags = fcntl.fcntl(jobs, fcntl.F_GETFL)
    fcntl.fcntl(jobs, fcntl.F_SETFL, flags | os.O_ASYNC)
    gc.disable()  # importing torch makes little garbage, and looking for it takes a fifth of the time
    for name in modules:
        try:
            importlib.import_module(name)
        except BaseException as error:
            traceback.print_exc()
            return f"cannot import {name}: {_reasons(error)}"
    fcntl.fcntl(jobs, fcntl.F_SETFL, flags)
    gc.enable()
    gc.freeze()  # collections in page processes then leave these objects alone, and their memory shared
    return None


def _reasons(error: BaseException) -> str:
    """The error and what it was raised from, on one line."""
    reasons = []
    cause: BaseException | None = error
    while cause is not None:
        reasons.append("".join(traceback.format_exception_only(cause)).strip())
        cause = cause.__cause__
    return "; because of ".join(reasons)


def _read_pages(jobs: BinaryIO) -> list[dict[str, Any]] | None:
    """The pages up to the line `"end"`; None if the client goes before it."""
    pages: list[dict[str, Any]] = []
    for line in jobs:
        job = json.loads(line)
        if job == "end":
            return pages
        pages.append(job)
    return None


def _children() -> list[int]:
    """Processes whose parent is this one, where the system tells."""
    try:
        return [int(pid) for pid in Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()]
    except FileNotFoundError:
        return []


if __name__ == "__main__":
    main()
    captured.flush()
    if not _children():  # else what the imports started is ended in order, at exit
        os._exit(0)  # the client waits for the end, for which torch takes a third of a second
