"""Starts the server, gives it the pages, and yields what happens."""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

_END_SECONDS = 1.0  # within which the server ends everything once its input has ended; usually it takes some 0.05
_WAKE_SECONDS = 1.0  # of silence after which the server is told to go on: page code may have stopped it

_SAME_EVERYWHERE = {
    "COLUMNS": "80",  # width of what programs format for a terminal
    "LC_ALL": "C.UTF-8",  # language of messages, encoding of files
    "MKL_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",  # pages run in parallel already, and a thread in the server would not survive its forks
    "OPENBLAS_NUM_THREADS": "1",
}
# Habits of the user that make Python or a shell run or print something else; not where they look for modules.
_OF_THE_USER = (
    "BASHOPTS",
    "BASH_ENV",
    "CDPATH",
    "CLICOLOR_FORCE",
    "ENV",
    "FORCE_COLOR",
    "LANGUAGE",
    "PYTHONBREAKPOINT",
    "PYTHONDEVMODE",
    "PYTHONINSPECT",
    "PYTHONINTMAXSTRDIGITS",
    "PYTHONOPTIMIZE",
    "PYTHONPROFILEIMPORTTIME",
    "PYTHONSAFEPATH",
    "PYTHONSTARTUP",
    "PYTHONTRACEMALLOC",
    "PYTHONVERBOSE",
    "PYTHONWARNINGS",
    "SHELLOPTS",
)


class RunnerError(Exception):
    """No results, for a reason that lies in no page: the server could not start, import what it must, or go on."""


class ServerDeathError(RunnerError):
    """The server has ended by itself."""


@dataclass(frozen=True)
class Order:
    """What a server is to be.

    Attributes:
        env: Variables to set in addition to this process's environment.
        preload: Modules to import once, before the first page.
        parallel: How many pages run at once, unless there are cards to deal.
        cards: Numbers of the cards to deal to the pages, as ASCEND_RT_VISIBLE_DEVICES takes them.
        probe: Code that fails in a fork of the server if pages cannot be forks of it; empty: they can.
    """

    env: dict[str, str]
    preload: list[str]
    parallel: int
    cards: list[str] = field(default_factory=list)
    probe: str = ""

    @property
    def at_once(self) -> int:
        """The most pages that run at the same time."""
        return len(self.cards) or self.parallel


def run(
    pages: list[dict[str, Any]], order: Order, log: Callable[[str], None] = lambda text: None
) -> Iterator[dict[str, Any]]:
    """Run pages with a server of their own; the arguments and events are those of `Runner`."""
    if pages:
        with contextlib.closing(Runner(order, log)) as runner:
            yield from runner.run(pages)


class Runner:
    """A server that starts at once, and imports modules while the caller goes on. Close it, which ends everything.

    Args:
        order: What it is to be.
        log: Takes what its modules print when they are imported.

    Raises:
        RunnerError: The system cannot run one.
    """

    def __init__(self, order: Order, log: Callable[[str], None] = lambda text: None) -> None:
        self._order = order
        self._log = log
        self._start()

    def run(self, pages: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        """Run pages, each in a process of its own.

        Args:
            pages: The pages, as the protocol describes them; they start in this order.

        Yields:
            The server's events: each block's result, and the end of each page.

        Raises:
            RunnerError: The server cannot do its work; the text says why.
        """
        waiting = {page["docname"]: page for page in pages}
        while waiting:
            done = dict.fromkeys(waiting, 0)  # blocks that have a result
            self._begin(list(waiting.values()))
            try:
                while waiting:
                    event = self._receive()
                    yield event
                    done[event["docname"]] += 1
                    if event.get("done"):
                        del waiting[event["docname"]]
            except ServerDeathError as death:
                at_fault = list(waiting.values())[: self._order.at_once]  # those that were running
                for page in at_fault:
                    del waiting[page["docname"]]
                    yield from _killed(page, done[page["docname"]], at_fault, death)
                self.close()
                if waiting:
                    self._start()

    def close(self) -> None:
        """End the server, and with it all pages."""
        assert self._server.stdin is not None
        assert self._server.stdout is not None
        with contextlib.suppress(BrokenPipeError):
            self._server.stdin.close()
        self._events.close()
        self._server.stdout.close()
        self._server.send_signal(signal.SIGCONT)
        try:
            self._server.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            self._server.kill()
            self._server.wait()
        self._noise.close()
        if self._folder:  # the server removes it, unless it was killed
            shutil.rmtree(self._folder, ignore_errors=True)

    def _start(self) -> None:
        if not hasattr(os, "fork"):
            raise RunnerError(
                f"{sys.platform} cannot fork processes, which running pages needs; use Linux, macOS or WSL"
            )
        order = self._order
        variables = {**os.environ, **order.env, **_SAME_EVERYWHERE}
        self._folder: str | None = None
        self._noise = tempfile.TemporaryFile()  # noqa: SIM115  closed by `close`
        self._server = subprocess.Popen(
            [sys.executable, "-P", "-m", "livedoctest.server"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._noise,
            env={name: value for name, value in variables.items() if name not in _OF_THE_USER},
            start_new_session=True,  # Ctrl-C in the terminal is for this process, which then ends the server in order
        )
        self._events = selectors.DefaultSelector()
        self._events.register(self._server.stdout, selectors.EVENT_READ)  # type: ignore[arg-type]
        self._received = b""
        words = {"preload": order.preload, "parallel": order.parallel, "cards": order.cards, "probe": order.probe}
        with contextlib.suppress(ServerDeathError):  # `_begin` will find out
            self._send(words)

    def _begin(self, pages: list[dict[str, Any]]) -> None:
        """Wait until the server is ready, and give it the pages."""
        answer = self._receive()
        if "error" in answer:
            raise RunnerError(answer["error"])
        self._folder = answer["folder"]
        self._log(self._printed())
        if answer["start"] == "spawn":
            self._log(
                "The device cannot be initialised after a fork (see above): each page imports its modules anew.\n"
            )
        self._send(*pages, "end")

    def _send(self, *messages: Any) -> None:
        assert self._server.stdin is not None
        try:
            self._server.stdin.writelines(json.dumps(message).encode() + b"\n" for message in messages)
            self._server.stdin.flush()
        except BrokenPipeError:
            raise self._death() from None

    def _receive(self) -> dict[str, Any]:
        assert self._server.stdout is not None
        while b"\n" not in self._received:
            if not self._events.select(_WAKE_SECONDS):
                self._server.send_signal(signal.SIGCONT)
                continue
            data = os.read(self._server.stdout.fileno(), 1 << 20)
            if not data:
                raise self._death()
            self._received += data
        line, _, self._received = self._received.partition(b"\n")
        event: dict[str, Any] = json.loads(line)
        return event

    def _death(self) -> RunnerError:
        try:
            status = self._server.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            return RunnerError("the server that runs pages no longer answers")
        how = f"status {status}" if status >= 0 else signal.strsignal(-status) or f"signal {-status}"
        return ServerDeathError(f"the server that runs pages has ended ({how})\n{self._printed()}".rstrip())

    def _printed(self) -> str:
        self._noise.seek(0)
        return self._noise.read().decode("utf-8", errors="backslashreplace")


def _killed(
    page: dict[str, Any], reported: int, at_fault: list[dict[str, Any]], death: ServerDeathError
) -> Iterator[dict[str, Any]]:
    """Events for a page that ran when the server died: a fault for each block that has no result."""
    others = [each.get("source", each["docname"]) for each in at_fault if each is not page]
    beside = f", and beside it {', '.join(others)}" if others else ""
    text = f"{death}\nThis page ran then{beside}: does its code end its parent process, or did memory run out?"
    for number, block in list(enumerate(page["blocks"]))[reported:]:
        fault = {"kind": "died", "text": text, "line": block["units"][0]["line"]}
        result = {"units": [], "warnings": [], "log": "", "seconds": 0.0, "moves": None, "fault": fault}
        yield {"docname": page["docname"], "block": number, "result": result}
        text = "did not run, because the server that runs pages has ended"
    yield {"docname": page["docname"], "done": True, "seconds": 0.0, "modules": [], "end": None}
