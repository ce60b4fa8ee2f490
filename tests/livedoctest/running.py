"""Runs pages for the tests: real server, real processes."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from livedoctest.client import Order, run

SOURCE = "docs/page.md"


def unit(code: str, line: int = 1, mode: str = "exec", name: str = "") -> dict[str, Any]:
    return {"mode": mode, "code": code, "line": line, "name": name}


def block(*units: dict[str, Any] | str, line: int = 1, timeout: float = 20, **more: Any) -> dict[str, Any]:
    made = [unit(each, line) if isinstance(each, str) else each for each in units]
    return {"kind": "testcode", "source": SOURCE, "timeout": timeout, "count": False, "units": made, **more}


def page(*blocks: dict[str, Any] | str, docname: str = "page") -> dict[str, Any]:
    return {"docname": docname, "blocks": [block(each) if isinstance(each, str) else each for each in blocks]}


def events(
    *pages: dict[str, Any], log: Callable[[str], None] = lambda text: None, **options: Any
) -> list[dict[str, Any]]:
    order = Order(**{"env": {}, "preload": [], "parallel": 2, **options})
    if path := order.env.get("PYTHONPATH"):
        order.env["PYTHONPATH"] = os.pathsep.join(filter(None, [path, os.environ.get("PYTHONPATH")]))
    return list(run(list(pages), order, log))


def results(*blocks: dict[str, Any] | str, **options: Any) -> list[dict[str, Any]]:
    """Run one page, and check that each block has one result."""
    found = events(page(*blocks), **options)
    assert [event.get("block") for event in found] == [*range(len(blocks)), None]
    assert found[-1]["done"]
    return [event["result"] for event in found[:-1]]


def output(*blocks: dict[str, Any] | str, **options: Any) -> str:
    """What the last unit of a page prints, when all goes well."""
    last = results(*blocks, **options)[-1]
    assert last["fault"] is None
    assert last["units"][-1]["exception"] is None, last["units"][-1]["exception"]["traceback"]
    return last["units"][-1]["output"]


def alive(pid: int) -> bool:
    """Whether a process runs; a zombie does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):  # ended before the file was opened, or before it was read
        return False


def gone(pids: list[int], seconds: float = 20.0) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if not any(map(alive, pids)):
            return True
        time.sleep(0.02)
    return False


def patience() -> float:
    """Two seconds; on a busy machine the time that as many starts of Python take as fit into those on a quiet one."""
    started = time.monotonic()
    for _ in range(3):
        subprocess.run([sys.executable, "-I", "-S", "-c", ""], check=True)
    return max(2.0, 50 * (time.monotonic() - started))  # a start takes some 12 ms


# starts processes in every way that loses their parent, and prints all their numbers
LEAVE = """
import os, subprocess, sys
pids = [subprocess.Popen(["sleep", "60"], start_new_session=new).pid for new in (False, True)]
daemon = "import os, time\\nif os.fork() == 0: os.setsid(); print(os.getpid(), flush=True); time.sleep(60)"
pids += [int(subprocess.Popen([sys.executable, "-c", daemon], stdout=subprocess.PIPE).stdout.readline())]
pids += [os.getpid()]
print(*pids, flush=True)
"""
