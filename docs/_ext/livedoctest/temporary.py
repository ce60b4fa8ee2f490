"""Temporary folders that the next run removes where a kill has left them."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows, where no page can run
    fcntl = None  # type: ignore[assignment]

PREFIX = "livedoctest-"
MARK = ".in-use"
"""A file in each such folder, locked as long as the process that made the folder, or a fork of it, lives."""
_FIRST_DESCRIPTOR = 200  # low numbers are for page code


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """A new folder; at the end it is removed. Those that processes have left which were killed are removed first."""
    sweep(Path(tempfile.gettempdir()))
    folder = Path(tempfile.mkdtemp(prefix=PREFIX)).resolve()
    held = hold(folder)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(held)


def hold(folder: Path) -> int:
    """Mark the folder as in use until the descriptor that this returns is closed, by whatever end of the process."""
    unlocked = folder / f"{MARK}.new"
    held = os.open(unlocked, os.O_RDWR | os.O_CREAT)
    if fcntl:
        low, held = held, fcntl.fcntl(held, fcntl.F_DUPFD_CLOEXEC, _FIRST_DESCRIPTOR)
        os.close(low)
        fcntl.flock(held, fcntl.LOCK_EX)
    unlocked.rename(folder / MARK)  # only now, so that nobody finds it unlocked
    return held


def sweep(parent: Path) -> None:
    """Remove this user's folders that no living process holds."""
    for mark in parent.glob(f"{PREFIX}*/{MARK}") if fcntl else ():
        with suppress(OSError):  # locked; or another sweep has just removed it
            if mark.parent.lstat().st_uid == os.getuid():
                remove_unlocked(mark)


def remove_unlocked(mark: Path) -> None:
    """Remove the folder of a mark. Raises OSError if a process holds it."""
    descriptor = os.open(mark, os.O_RDWR | os.O_NOFOLLOW)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(mark.parent, ignore_errors=True)
    finally:
        os.close(descriptor)
