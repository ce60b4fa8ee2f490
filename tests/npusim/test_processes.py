"""Memory between processes: loaders' workers, shared memory, tensors of a device, and what a fork must not do."""

import json
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).with_name("processes.py")
CHECKS = re.findall(r"^@check\ndef (\w+)", PROGRAM.read_text(), re.MULTILINE)


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> tuple[subprocess.CompletedProcess[str], dict[str, str | None]]:
    """The program's end, and what failed in it, by check."""
    results = tmp_path_factory.mktemp("processes") / "results"
    command = [sys.executable, "-m", "npusim", str(PROGRAM), str(results)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert results.exists(), done.stderr
    return done, json.loads(results.read_text())


@pytest.mark.parametrize("check", CHECKS)
def test_processes(run, check):
    assert run[1][check] is None, run[1][check]


def test_a_bare_fork_that_uses_the_device_ends_with_an_error(run):
    done, _ = run
    assert done.returncode == 0, done.stderr
    assert re.search(r"\nRuntimeError: (?s:.)*Cannot re-initialize NPU in forked subprocess", done.stderr)
    # torch_npu's own doing: at exit NPUQueue.cpp joins the thread of its task queue, which a fork does not copy.
    assert done.stdout.splitlines()[-1] == f"status {-signal.SIGABRT}"
