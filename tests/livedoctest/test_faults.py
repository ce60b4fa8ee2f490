"""Every fault of the table in the contributor documentation, injected into a page of its own."""

from __future__ import annotations

import csv
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from running import LEAVE, alive, gone, patience

TABLE = Path(__file__).parents[2] / "docs" / "contributing" / "faults.csv"
MODULES = "atexit, builtins, ctypes, io, json, os, signal, subprocess, sys, threading, time, warnings"
PAGE = """# Fault

```{{testcode}}
import {modules}
with open({log!r}, "a") as file:
    print(os.getpid(), file=file)
```

```{{testcode}}
{limit}
{code}
```

```{{testcode}}
print("still here")
```

```{{testoutput}}
still here
```
"""
INNOCENT = """# Innocent

```{doctest}
>>> import os
>>> os.path.basename(os.getcwd()), 'PATH' in os.environ
('work', True)
```
"""


def rows() -> list[dict[str, str]]:
    with TABLE.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def page(row: dict[str, str], log: Path) -> str:
    limit = re.search(r"did not finish within (\d+) s", row["The block"])
    option = f":timeout: {limit[1]}\n" if limit else ""
    return PAGE.format(modules=MODULES, log=str(log), code=row["Code"].strip("`"), limit=option)


STATUS = {"not run": "failed", "passed, with a warning": "passed"}


def told(row: dict[str, str], column: str) -> tuple[str, str]:
    """What the table says of a block: its status, and words from its report."""
    words, _, report = row[column].partition(": ")
    return STATUS.get(words, words), report.strip("`")


def differences(row: dict[str, str], blocks: list[dict[str, Any]], log: str, docname: str) -> Iterator[str]:
    """What is not as the table says."""
    before, faulty, after = blocks
    if before["status"] != "passed":
        yield f"the block before: {before['reason']}"
    (status, words), (following, late) = told(row, "The block"), told(row, "The next block")
    if (faulty["status"], after["status"]) != (status, following) or words not in faulty["reason"]:
        yield f"{faulty['status']}: {faulty['reason']}, then {after['status']}"
    if status == following == "failed" and "did not run" not in after["reason"]:
        yield f"the next block: {after['reason']}"
    if status == "failed" and not re.search(rf"{docname}\.md:1[1-4]: WARNING: testcode", log):
        yield "no warning names the line"
    if late and not re.search(rf"{docname}\.md:1\d: WARNING: .*{re.escape(late)}", log):
        yield "no warning names what came after the last block"


def test_the_rows_are_counted():
    assert f"each of these {len(rows())} faults" in TABLE.with_suffix(".md").read_text(encoding="utf-8")


def test_each_fault_comes_out_as_the_table_says(site, tmp_path):
    table = {f"fault{number}": row for number, row in enumerate(rows()) if not ends_server(row)}
    pages = {f"{name}.md": page(row, tmp_path / "pids") for name, row in table.items()}
    built = site({"index.md": INNOCENT, **pages, "last.md": INNOCENT}).build()
    assert built.status == 1
    wrong = {
        row["Code"]: found
        for name, row in table.items()
        if (found := [*differences(row, built.blocks(name), built.log, name)])
    }
    assert not wrong
    assert [block["status"] for name in ("index", "last") for block in built.blocks(name)] == ["passed", "passed"]
    pids = [int(pid) for pid in (tmp_path / "pids").read_text().split()]
    assert len(pids) == len(table)
    assert not any(map(alive, pids))


def test_a_page_that_ends_the_server_comes_out_as_the_table_says(site, tmp_path):
    [row] = filter(ends_server, rows())
    pages = {f"page{number}.md": INNOCENT for number in range(2 * (os.cpu_count() or 1))}
    built = site({"index.md": page(row, tmp_path / "pids"), **pages}).build()
    status, words = told(row, "The block")
    failed = [block for block in built.blocks() if block["status"] == status]
    assert words in failed[0]["reason"]
    assert len(failed) >= 2  # that of the block before may have died with the server
    assert all("did not run" in block["reason"] for block in failed[1:])
    beside = [block["status"] for name in pages for block in built.blocks(name.removesuffix(".md"))]
    assert beside.count("failed") < (os.cpu_count() or 1)  # those that ran at that moment
    assert not any(alive(int(pid)) for pid in (tmp_path / "pids").read_text().split())


def ends_server(row: dict[str, str]) -> bool:
    return "os.getppid(), 9" in row["Code"]


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_build_that_is_ended_leaves_nothing(site, tmp_path, sign, jobs):
    begun, temporary = tmp_path / "begun", tmp_path / "tmp"
    temporary.mkdir()
    code = f"{LEAVE}open({str(begun)!r}, 'w').write(' '.join(map(str, pids)) + ' end')\nimport time\ntime.sleep(60)"
    made = site(index=f"# T\n\n```{{testcode}}\n{code.strip()}\n```\n")
    command = [sys.executable, "-m", "sphinx", "-q", "-j", jobs, str(made.source), str(made.out)]
    streams = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(command, env={**os.environ, "TMPDIR": str(temporary)}, **streams) as process:
        while not begun.exists() or not begun.read_text().endswith("end"):
            assert process.poll() is None
            time.sleep(0.05)
        before, sent = patience(), time.monotonic()
        process.send_signal(sign)
        assert process.wait() != 0
        assert gone([int(pid) for pid in begun.read_text().split()[:-1]])
        while list(temporary.glob("livedoctest-*")):  # the server, which removes its folder, may outlive Sphinx
            time.sleep(0.01)
        took = time.monotonic() - sent
    assert took < max(before, patience())
    assert not list(made.out.glob("*.html"))
