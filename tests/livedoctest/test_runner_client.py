"""The client and its server: start, imports, end."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from running import LEAVE, alive, block, events, gone, output, page, patience

from livedoctest.client import Order, Runner, RunnerError, run

CLIENT = """
import sys
from livedoctest.client import Order, run
page = {"docname": "page", "blocks": [
    {"kind": "testcode", "source": "a.md", "timeout": 60.0, "count": False, "units": [
        {"mode": "exec", "code": %r + "import time; time.sleep(60)", "line": 1, "name": ""}]}]}
for event in run([page], Order(env={}, preload=%r, parallel=1)):
    print(event)
"""


@contextlib.contextmanager
def client(code: str = LEAVE, preload: tuple[str, ...] = ()) -> Iterator[tuple[subprocess.Popen[bytes], list[int]]]:
    """A process that runs a page which never ends, and the processes below it, once there are `count`."""
    command = [sys.executable, "-c", CLIENT % (code, list(preload))]
    with subprocess.Popen(command, stderr=subprocess.PIPE) as process:
        try:
            expected = 6 if code else 1  # the server, the page and what it leaves
            end = time.monotonic() + 20
            while len(pids := descendants(process.pid)) < expected and time.monotonic() < end:
                time.sleep(0.05)
            assert len(pids) >= expected
            yield process, pids
        finally:
            process.kill()


def descendants(pid: int) -> list[int]:
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except (FileNotFoundError, ProcessLookupError):  # ended before the file was opened, or before it was read
        return []
    return [each for child in map(int, children) for each in (child, *descendants(child))]


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_when_the_client_ends_everything_ends(
    sign: signal.Signals, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    with client() as (process, pids):
        assert list(tmp_path.iterdir())
        process.send_signal(sign)
        assert gone(pids)
        assert not list(tmp_path.iterdir())


def test_a_server_that_was_stopped_is_ended_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It cannot end anything then; and nobody but the client is there to make it go on."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    with client() as (process, pids):
        before, sent = patience(), time.monotonic()
        os.kill(pids[0], signal.SIGSTOP)
        process.send_signal(signal.SIGINT)
        process.wait()
        took = time.monotonic() - sent
        assert not any(map(alive, pids))
        assert not list(tmp_path.iterdir())
        assert took < max(before, patience())


def test_when_the_client_ends_while_modules_are_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # a call into C that neither returns nor lets another Python thread run
    (tmp_path / "slow.py").write_text(
        f"import ctypes, pathlib\npathlib.Path({str(tmp_path / 'begun')!r}).touch()\nctypes.PyDLL(None).sleep(60)"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    (tmp_path / "tmp").mkdir()
    with client(code="", preload=("slow",)) as (process, pids):
        while not (tmp_path / "begun").exists():
            time.sleep(0.05)
        process.kill()
        assert gone(pids)
        assert not list((tmp_path / "tmp").iterdir())


def test_closing_the_iterator_ends_everything() -> None:
    iterator = run([page(LEAVE, "import time; time.sleep(60)")], Order(env={}, preload=[], parallel=1))
    first = next(iterator)
    pids = [int(pid) for pid in first["result"]["units"][0]["output"].split()]
    iterator.close()  # type: ignore[attr-defined]
    assert gone(pids)
    assert not Path(first["folder"]).parent.exists()


def test_closing_ends_a_probe_of_the_device() -> None:
    order = Order(env={}, preload=[], parallel=1, cards=["0"], probe="import time; time.sleep(60)")
    others = set(descendants(os.getpid()))  # of other tests
    with contextlib.closing(Runner(order)):
        while len(pids := set(descendants(os.getpid())) - others) < 2:
            time.sleep(0.02)
    assert gone(list(pids))


def test_no_pages_need_no_server() -> None:
    assert events() == []


def test_imports_may_be_noisy(tmp_path: Path) -> None:
    (tmp_path / "noisy.py").write_text("import os\nprint('python')\nos.system('echo shell')\nos.write(1, b'raw')")
    texts: list[str] = []
    env = {"PYTHONPATH": str(tmp_path)}
    assert output("import noisy; print(1)", preload=["noisy"], env=env, log=texts.append) == "1\n"
    assert sorted("".join(texts).split()) == ["python", "raw", "shell"] or "raw" in texts[0]


def test_a_module_that_cannot_be_imported_is_named_with_the_reasons(tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text(
        "try:\n    raise ImportError('libx.so: not there')\nexcept ImportError as error:\n"
        "    raise RuntimeError('no backend') from error"
    )
    with pytest.raises(
        RunnerError, match=r"^cannot import broken: RuntimeError: no backend; because of ImportError: libx\.so"
    ):
        events(page("x"), preload=["json", "broken"], env={"PYTHONPATH": str(tmp_path)})
    with pytest.raises(RunnerError, match=r"^cannot import nothing_like_it: ModuleNotFoundError"):
        events(page("x"), preload=["nothing_like_it"])


def test_a_server_that_dies_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "fatal.py").write_text("import os, sys\nprint('last words', file=sys.stderr, flush=True)\nos._exit(9)")
    with pytest.raises(RunnerError, match=r"status 9[\s\S]*last words"):
        events(page("x"), preload=["fatal"], env={"PYTHONPATH": str(tmp_path)})


def test_pages_that_kill_the_server_fail_and_the_others_run() -> None:
    kill = page(
        "print(1)", block("import os, time\nos.kill(os.getppid(), 9)\ntime.sleep(60)", line=7), "2", docname="kill"
    )
    pages = [page(f"print({number})", docname=str(number)) for number in range(3)]
    found = events(pages[0], kill, pages[1], pages[2], parallel=1)
    results = {(event["docname"], event["block"]): event["result"] for event in found if "block" in event}
    assert [results[f"{number}", 0]["units"][0]["output"] for number in range(3)] == ["0\n", "1\n", "2\n"]
    faults = [fault for number in range(3) if (fault := results["kill", number]["fault"])]
    assert len(faults) >= 2  # the result of the first block may die with the server
    assert faults[0]["kind"] == "died"
    assert "Killed" in faults[0]["text"]
    assert "end its parent process" in faults[0]["text"]
    assert "did not run" in faults[1]["text"]
    assert sorted(event["docname"] for event in found if event.get("done")) == ["0", "1", "2", "kill"]


def test_pages_beside_one_that_kills_the_server_are_named() -> None:
    waits = "import time; time.sleep(60)"
    kill = page("import os, time\ntime.sleep(0.5)\nos.kill(os.getppid(), 9)", docname="kill")
    other = page(waits, docname="other")
    faults = {event["docname"]: event["result"]["fault"] for event in events(other, kill) if "block" in event}
    assert "beside it kill:" in faults["other"]["text"]
    assert "beside it other:" in faults["kill"]["text"]


def test_a_server_that_cannot_start_is_an_error() -> None:
    with pytest.raises(RunnerError, match="has ended"):
        events(page("x"), env={"PYTHONHOME": "/nowhere"})


def test_an_empty_page_costs_little() -> None:
    seconds = [
        event["seconds"] for event in events(*(page("", docname=str(i)) for i in range(20))) if event.get("done")
    ]
    assert sorted(seconds)[len(seconds) // 2] < 0.25  # about 0.01 on an idle machine
