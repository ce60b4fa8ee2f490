"""The client and its server: start, imports, end."""

from __future__ import annotations

import contextlib
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from running import LEAVE, events, gone, output, page

from livedoctest.client import RunnerError, run

CLIENT = """
import sys
from livedoctest.client import run
page = {"docname": "page", "blocks": [
    {"kind": "testcode", "source": "a.md", "timeout": 60.0, "count": False, "units": [
        {"mode": "exec", "code": %r + "import time; time.sleep(60)", "line": 1, "name": ""}]}]}
for event in run([page], env={}, preload=%r, parallel=1):
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
    except FileNotFoundError:
        return []
    return [each for child in map(int, children) for each in (child, *descendants(child))]


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_when_the_client_ends_everything_ends_within_two_seconds(
    sign: signal.Signals, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    with client() as (process, pids):
        assert list(tmp_path.iterdir())
        process.send_signal(sign)
        assert gone(pids)
        assert not list(tmp_path.iterdir())


def test_when_the_client_ends_while_modules_are_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # a call into C that neither returns nor lets another Python thread run
    (tmp_path / "slow.py").write_text("import ctypes\nctypes.PyDLL(None).sleep(60)")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    (tmp_path / "tmp").mkdir()
    with client(code="", preload=("slow",)) as (process, pids):
        time.sleep(0.5)
        process.kill()
        assert gone(pids)
        assert not list((tmp_path / "tmp").iterdir())


def test_closing_the_iterator_ends_everything() -> None:
    iterator = run([page(LEAVE, "import time; time.sleep(60)")], env={}, preload=[], parallel=1)
    first = next(iterator)
    pids = [int(pid) for pid in first["result"]["units"][0]["output"].split()]
    iterator.close()  # type: ignore[attr-defined]
    assert gone(pids)
    assert not Path(first["folder"]).parent.exists()


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
    with pytest.raises(RunnerError, match="Killed"):
        events(page("import os; os.kill(os.getppid(), 9)\nimport time; time.sleep(60)"))


def test_a_server_that_cannot_start_is_an_error() -> None:
    with pytest.raises(RunnerError, match="has ended"):
        events(page("x"), env={"PYTHONHOME": "/nowhere"})


def test_an_empty_page_costs_little() -> None:
    seconds = [
        event["seconds"] for event in events(*(page("", docname=str(i)) for i in range(20))) if event.get("done")
    ]
    assert sorted(seconds)[len(seconds) // 2] < 0.25  # about 0.01 on an idle machine
