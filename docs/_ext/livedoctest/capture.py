"""What a page's process writes to its descriptors 1 and 2, captured into files.

Files, not pipes: nothing has to read them while the page runs, so they neither need a thread nor fill up, and the
server sees their size from outside. They are open for appending, so that Python, C code and child processes share one
position.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import io
import os
import sys
import tempfile
from dataclasses import dataclass
from os import dup2, fstat, ftruncate, pread  # by name: page code may replace what is in the module
from pathlib import Path

LIMIT = 1 << 20
"""Most bytes that one block may write to each descriptor."""

_FIRST_PRIVATE = (
    200  # descriptors from here on are ours: page code that closes or replaces low numbers does not hit them
)
_LINE_BUFFERED = 1  # _IOLBF of glibc and of the BSDs


def private(descriptor: int) -> int:
    """Move a descriptor to a high number, closed in programs that the process starts, and return that number."""
    moved = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, _FIRST_PRIVATE)
    os.close(descriptor)
    return moved


def flush() -> None:
    """Flush the streams of Python, whatever page code has put in their place, and those of C."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):  # closed, or not a stream at all
            stream.flush()
    ctypes.CDLL(None).fflush(None)


@dataclass
class Capture:
    """The two files of one page, made by the server before it starts the page's process and used on both sides.

    Attributes:
        out: Descriptor of the file behind the page's descriptor 1.
        log: Descriptor of the file behind its descriptor 2.
    """

    out: int
    log: int

    @classmethod
    def new(cls) -> Capture:
        """Two new files."""
        return cls(unnamed_file(), unnamed_file())

    def size(self) -> int:
        """Bytes written to descriptor 1 since the block began."""
        return fstat(self.out).st_size

    def too_much(self) -> bool:
        """Whether the block has written more than `LIMIT` bytes to one of the descriptors."""
        return max(self.size(), fstat(self.log).st_size) > LIMIT

    def output(self, start: int = 0) -> str:
        """Text written to descriptor 1 since the block began, from byte `start` on, at most `LIMIT` bytes."""
        return _text(self.out, start)

    def logged(self) -> str:
        """Text written to descriptor 2 since the block began, at most `LIMIT` bytes."""
        return _text(self.log, 0)

    def install(self) -> None:
        """In the page's process: standard input is empty, C code flushes what it prints line by line."""
        empty = os.open(os.devnull, os.O_RDONLY)
        dup2(empty, 0)
        os.close(empty)
        _set_stream("stdin", io.TextIOWrapper(io.FileIO(0, closefd=False), encoding="utf-8"))
        c_library = ctypes.CDLL(None)
        with contextlib.suppress(ValueError):  # another name on some systems; C output then comes last in its unit
            c_library.setvbuf(ctypes.c_void_p.in_dll(c_library, "stdout"), None, _LINE_BUFFERED, 0)

    def begin_block(self) -> None:
        """In the page's process: empty the files, and point both descriptors and both streams at them again.

        Earlier blocks may have closed or replaced any of them.
        """
        ftruncate(self.out, 0)
        ftruncate(self.log, 0)
        dup2(self.out, 1)
        dup2(self.log, 2)
        _set_stream("stdout", _stream(1))
        _set_stream("stderr", _stream(2))


def unnamed_file() -> int:
    """A new file without a name, open for appending."""
    descriptor, path = tempfile.mkstemp(prefix="livedoctest-")
    Path(path).unlink()
    fcntl.fcntl(descriptor, fcntl.F_SETFL, os.O_APPEND)
    return private(descriptor)


def _set_stream(name: str, stream: io.TextIOWrapper) -> None:
    """Make it the current stream, and the original one, which display hooks and the like fall back on."""
    setattr(sys, name, stream)
    setattr(sys, f"__{name}__", stream)


def _stream(descriptor: int) -> io.TextIOWrapper:
    """A stream without a buffer, so that its text stands in order with that of child processes, as on a terminal."""
    raw = io.FileIO(descriptor, "w", closefd=False)
    return io.TextIOWrapper(raw, encoding="utf-8", errors="backslashreplace", write_through=True)


def _text(descriptor: int, start: int) -> str:
    return pread(descriptor, LIMIT, start).decode("utf-8", errors="backslashreplace")
