"""Starts the server, gives it the pages, and yields what happens."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from typing import IO, Any

_END_SECONDS = 2.0  # within which the server ends everything once its input has ended

_SAME_EVERYWHERE = {
    "COLUMNS": "80",  # width of what programs format for a terminal
    "LC_ALL": "C.UTF-8",  # language of messages, encoding of files
    "OMP_NUM_THREADS": "1",  # pages run in parallel already, and a thread in the server would not survive its forks
    "OPENBLAS_NUM_THREADS": "1",
}
_OF_THE_USER = ("FORCE_COLOR", "LANGUAGE", "PYTHONINSPECT", "PYTHONSTARTUP", "PYTHONWARNINGS")


class RunnerError(Exception):
    """No results, for a reason that lies in no page: the server could not start, import what it must, or go on."""


def run(
    pages: list[dict[str, Any]],
    *,
    env: dict[str, str],
    preload: list[str],
    parallel: int,
    log: Callable[[str], None] = lambda text: None,
) -> Iterator[dict[str, Any]]:
    """Run pages, each in a process of its own. Closing the iterator ends them all.

    Args:
        pages: The pages, as the protocol describes them; they start in this order.
        env: Variables to set in addition to this process's environment.
        preload: Modules to import once, before the first page.
        parallel: How many pages run at once.
        log: Takes what these modules print when they are imported.

    Yields:
        The server's events: each block's result, and the end of each page.

    Raises:
        RunnerError: The server cannot do its work; the text says why.
    """
    if not pages:
        return
    with tempfile.TemporaryFile() as noise:
        server = _start(env, noise)
        folder = None
        try:
            _send(server, noise, {"preload": preload, "parallel": parallel})
            answer = _receive(server, noise)
            if "error" in answer:
                raise RunnerError(answer["error"])
            folder = answer["folder"]
            log(_text(noise))
            _send(server, noise, *pages, "end")
            yield from _events(server, noise, len(pages))
        finally:
            _stop(server)
            if folder:  # the server removes it, unless it was killed
                shutil.rmtree(folder, ignore_errors=True)


def _events(server: subprocess.Popen[bytes], noise: IO[bytes], pages: int) -> Iterator[dict[str, Any]]:
    while pages:
        event = _receive(server, noise)
        yield event
        pages -= event.get("done", False)


def _start(env: dict[str, str], noise: IO[bytes]) -> subprocess.Popen[bytes]:
    if not hasattr(os, "fork"):
        raise RunnerError(f"{sys.platform} cannot fork processes, which running pages needs; use Linux, macOS or WSL")
    variables = {**os.environ, **env, **_SAME_EVERYWHERE}
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "livedoctest.server"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=noise,
        env={name: value for name, value in variables.items() if name not in _OF_THE_USER},
        start_new_session=True,  # Ctrl-C in the terminal is for this process, which then ends the server in order
    )


def _send(server: subprocess.Popen[bytes], noise: IO[bytes], *messages: Any) -> None:
    assert server.stdin is not None
    try:
        server.stdin.writelines(json.dumps(message).encode() + b"\n" for message in messages)
        server.stdin.flush()
    except BrokenPipeError:
        raise _death(server, noise) from None


def _receive(server: subprocess.Popen[bytes], noise: IO[bytes]) -> dict[str, Any]:
    assert server.stdout is not None
    line = server.stdout.readline()
    if not line.endswith(b"\n"):
        raise _death(server, noise)
    event: dict[str, Any] = json.loads(line)
    return event


def _death(server: subprocess.Popen[bytes], noise: IO[bytes]) -> RunnerError:
    try:
        status = server.wait(_END_SECONDS)
    except subprocess.TimeoutExpired:
        return RunnerError("the server that runs pages no longer answers")
    how = f"status {status}" if status >= 0 else signal.strsignal(-status) or f"signal {-status}"
    return RunnerError(f"the server that runs pages has ended ({how})\n{_text(noise)}".rstrip())


def _text(noise: IO[bytes]) -> str:
    noise.seek(0)
    return noise.read().decode("utf-8", errors="backslashreplace")


def _stop(server: subprocess.Popen[bytes]) -> None:
    assert server.stdin is not None
    assert server.stdout is not None
    with contextlib.suppress(BrokenPipeError):
        server.stdin.close()
    server.stdout.close()
    try:
        server.wait(_END_SECONDS)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()
