"""The page's side of its process: what makes a fork of the server, or a new program, the process of one page."""

from __future__ import annotations

import atexit
import ctypes
import faulthandler
import importlib
import json
import mmap
import os
import signal
import struct
import sys
import tempfile
import traceback
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from json import JSONEncoder
from os import _exit, write  # by name: page code may replace what is in the module
from pathlib import Path
from typing import Any, NoReturn

from livedoctest.capture import Capture
from livedoctest.page import Page

WORK, TEMPORARY = "work", "tmp"
"""Folders within a page's folder: its working folder, and where it finds room for temporary files."""

STACK_SIGNAL = getattr(signal, "SIGRTMAX", signal.SIGUSR2)  # page code hardly ever uses it
PROGRESS = struct.Struct("ii")
"""The block and the line that run now, in memory shared with the server, which outlives the process."""

FAILED = 70  # EX_SOFTWARE
_encode = JSONEncoder().encode
_SET_DEATH_SIGNAL, _SET_SUBREAPER = 1, 36  # PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER of <sys/prctl.h>


@dataclass
class Child:
    """What the process needs to know.

    Attributes:
        blocks: The page's blocks, as the protocol describes them.
        folder: The page's folder.
        out: Descriptor of the file that takes the page's output.
        log: Descriptor of the file that takes what it writes to descriptor 2.
        stack: Descriptor of the file that takes the Python stack of a hang or crash.
        progress: Descriptor of the file behind `PROGRESS`.
        control: Descriptor that takes messages for the server.
        cards: The devices dealt to the page, as ASCEND_RT_VISIBLE_DEVICES names them; empty: all there are.
        preload: Modules to import first, where the server could not do it.
    """

    blocks: list[dict[str, Any]]
    folder: str
    out: int
    log: int
    stack: int
    progress: int
    control: int
    cards: str
    preload: list[str]

    def run(self, release: Callable[[], None] = lambda: None) -> NoReturn:
        """Become the page's process, and run the page; `release` closes what belongs to the server."""
        status = FAILED  # should the runner itself fail; the traceback goes to the page's log
        try:
            release()
            self._isolate()
            capture = Capture(self.out, self.log)
            capture.install()
            capture.begin_block()
            for name in self.preload:
                importlib.import_module(name)
            shared = mmap.mmap(self.progress, PROGRESS.size)
            send, note = partial(write_line, self.control), partial(PROGRESS.pack_into, shared, 0)
            page = Page(self.blocks, Path.cwd(), capture, send, note)
            page.run()
            page.end()
            status = 0
        except BaseException:
            traceback.print_exc()
        finally:
            _exit(status)

    def replace_program(self, release: Callable[[], None]) -> NoReturn:
        """In a fork of the server: run the page in a new interpreter, for a device that does not survive a fork."""
        try:
            release()
            order = Path(self.folder, "order.json")
            order.write_text(json.dumps(asdict(self)), encoding="utf-8")
            for descriptor in (self.out, self.log, self.stack, self.progress, self.control):
                os.set_inheritable(descriptor, True)
            os.dup2(self.log, 1)  # what the imports print
            os.dup2(self.log, 2)
            os.execv(sys.executable, [sys.executable, "-P", "-m", "livedoctest.child", str(order)])
        finally:
            _exit(FAILED)  # never back into the server's own code

    def _isolate(self) -> None:
        os.setsid()
        die_with_parent()
        become_subreaper()  # daemons of the page stay its descendants
        signal.signal(signal.SIGINT, signal.default_int_handler)
        # What imported modules registered is the server's, and would cost as much as the fork. As multiprocessing does
        # in its forked children, with the same private functions: there are no public ones.
        atexit._clear()
        faulthandler.enable(file=self.stack)
        faulthandler.register(STACK_SIGNAL, file=self.stack)
        for name in (WORK, TEMPORARY):
            Path(self.folder, name).mkdir()
        os.environ["TMPDIR"] = str(Path(self.folder, TEMPORARY))
        tempfile.tempdir = None  # the server may have asked for it
        if self.cards:
            os.environ["ASCEND_RT_VISIBLE_DEVICES"] = self.cards
        os.chdir(Path(self.folder, WORK))


def write_line(descriptor: int, message: dict[str, Any]) -> None:
    """Write a message whole, as one line of JSON."""
    data = memoryview(_encode(message).encode() + b"\n")
    while data:
        data = data[write(descriptor, data) :]


def prctl(option: int, value: int) -> None:
    """Set an attribute of this process; does nothing on systems other than Linux, which have no such call."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def die_with_parent() -> None:
    """Let this process be killed when the one that forked it ends."""
    prctl(_SET_DEATH_SIGNAL, signal.SIGKILL)


def become_subreaper() -> None:
    """Let orphans among the descendants of this process become its children."""
    prctl(_SET_SUBREAPER, 1)


if __name__ == "__main__":
    Child(**json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))).run()
