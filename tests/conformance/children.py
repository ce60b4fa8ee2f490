"""Operators in processes of their own: a crash costs one row."""

from __future__ import annotations

import json
import os
import resource
import selectors
import signal
from collections.abc import Iterator
from typing import NamedTuple, NoReturn

from rows import OPERATORS, kinds, outcome

CPU_SECONDS, SECONDS = 120, 900  # for one operator; the second ends what waits for ever


class Row(NamedTuple):
    """What became of one row."""

    name: str  # operator:kind
    outcome: str  # agrees, differs, no sample or crashed
    text: str


class Job(NamedTuple):
    """The rows of one operator that are still to be done."""

    operator: str
    kinds: list[str]


def run(operators: list[str]) -> Iterator[Row]:
    """The rows of the operators as they are done; as many processes as there are cores."""
    waiting = [Job(name, kinds(OPERATORS[name])) for name in reversed(operators)]
    running = selectors.DefaultSelector()
    while waiting or running.get_map():
        while waiting and len(running.get_map()) < (os.cpu_count() or 1):
            start(waiting.pop(), running)
        for key, _ in running.select():
            done, rest = collect(key, running)
            yield from done
            if rest.kinds:
                waiting.append(rest)


def start(job: Job, running: selectors.BaseSelector) -> None:
    read, write = os.pipe()
    pid = os.fork()
    if not pid:
        os.close(read)
        child(job, write)
    os.close(write)
    running.register(read, selectors.EVENT_READ, (job, pid, bytearray()))


def child(job: Job, output: int) -> NoReturn:
    """Write a line for each row."""
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.alarm(SECONDS)
    silent = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silent, 1)
    os.dup2(silent, 2)
    for kind in job.kinds:
        result = outcome(OPERATORS[job.operator], kind)
        os.write(output, json.dumps(result).encode() + b"\n")
    os._exit(0)


def collect(key: selectors.SelectorKey, running: selectors.BaseSelector) -> tuple[list[Row], Job]:
    """The rows of a child that has ended, and what it left: all after the one that it died of."""
    job, pid, lines = key.data
    if data := os.read(key.fd, 1 << 16):
        lines += data
        return [], Job(job.operator, [])
    running.unregister(key.fd)
    os.close(key.fd)
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    results = [json.loads(line) for line in lines.splitlines()]
    if len(results) < len(job.kinds):
        results.append(("crashed", f"exit status {status}"))
    rows = [Row(f"{job.operator}:{kind}", *result) for kind, result in zip(job.kinds, results, strict=False)]
    return rows, Job(job.operator, job.kinds[len(results) :])
