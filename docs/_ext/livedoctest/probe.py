"""Finds out whether a device can be initialised in a fork of a process that has imported its modules."""

from __future__ import annotations

import os
import signal
import time
import traceback

from livedoctest.child import die_with_parent

_TICK = 0.05


def survives_fork(code: str, card: str, seconds: float) -> bool:
    """Run `code` in a fork of this process that is dealt one card; True if it ends well within the time.

    What it prints and raises goes to this process's descriptors.
    """
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            die_with_parent()
            if card:
                os.environ["ASCEND_RT_VISIBLE_DEVICES"] = card
            exec(code, {})  # noqa: S102  this package's own, or a test's
            status = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(status)
    end = time.monotonic() + seconds
    while os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
        if time.monotonic() > end:
            os.kill(pid, signal.SIGKILL)
        time.sleep(_TICK)
    return os.waitpid(pid, 0)[1] == 0
