"""The server behind conftest.py: reads requests on stdin, runs each in a forked process, answers on stdout."""

import base64
import importlib.util
import json
import os
import pickle
import signal
import sys
import tempfile
import traceback

import pytest  # noqa: F401  (test modules import it: once here, not in each fork)
import torch

TIME_LIMIT = 120  # seconds a test


def run_test(request: dict[str, str]) -> None:
    """Import the test's module and call its function, with torch for the argument of that name."""
    spec = importlib.util.spec_from_file_location("simulated_test", request["path"])
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    arguments = pickle.loads(base64.b64decode(request["arguments"]))  # noqa: S301  (from our own conftest)
    if "torch" in arguments:
        arguments["torch"] = torch
    getattr(module, request["function"])(**arguments)


def child(request: dict[str, str], output: int) -> None:
    """Run the test in this process and leave."""
    signal.alarm(TIME_LIMIT)
    os.dup2(output, 1)
    os.dup2(output, 2)
    status = 0
    try:
        run_test(request)
    except BaseException:
        traceback.print_exc()
        status = 1
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


def answer(request: dict[str, str]) -> str | None:
    """The report of a failed test."""
    with tempfile.TemporaryFile() as output:
        pid = os.fork()
        if not pid:
            child(request, output.fileno())
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        output.seek(0)
        text = output.read().decode(errors="replace")
    return f"exit status {status}\n{text}" if status else None


for line in sys.stdin:
    print(json.dumps({"report": answer(json.loads(line))}), flush=True)
