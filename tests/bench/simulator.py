"""Measure what the simulated device costs: `python tests/bench/simulator.py`; exits 1 above a limit.

Both sides of a comparison take turns within one run, and the fastest of each counts: a busy machine only adds time.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import NamedTuple

import npusim

RUNS = 5
IMPORT = """
import json, resource
from time import thread_time as now
import torch, torch_npu
start = now()
if simulated:
    from npusim.kernels import install
    install()
seconds = now() - start
if simulated:
    torch.ones(3, device="npu") + 1
print(json.dumps([seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024]))
"""
OPERATORS = """
import json
from time import thread_time as now
import torch

def ratio(on_cpu, on_npu, calls, windows):
    times = [(seconds(on_cpu, 10 * calls), seconds(on_npu, calls)) for _ in range(windows)]
    return min(npu for _, npu in times) / min(cpu for cpu, _ in times)

def seconds(function, calls):
    start = now()
    for _ in range(calls):
        function()
    return (now() - start) / calls

torch.set_num_threads(1)
host = torch.ones(3)
device = host.to("npu")
print(json.dumps([
    ratio(lambda: host + 1, lambda: device + 1, 5, 2000),
    ratio(lambda: torch.randn(10**6), lambda: torch.randn(10**6, device="npu"), 1, 20),
]))
"""


class Measure(NamedTuple):
    """A figure, and the most that it may be."""

    what: str
    value: float
    limit: float
    unit: str


def main() -> int:
    """Print a table; the exit status."""
    measures = [*imports(), *operators()]
    for measure in measures:
        print(f"{measure.what:<52}{measure.value:8.2f} {measure.unit:<7} at most {measure.limit:g}")
    return int(any(measure.value > measure.limit for measure in measures))


def imports() -> list[Measure]:
    """What the kernels add to importing torch and torch_npu, which import them by themselves if NPUSIM is set."""
    environment = {name: value for name, value in {**os.environ, **npusim.environment()}.items() if name != "NPUSIM"}
    pairs = [[run(f"simulated = {side}{IMPORT}", environment) for side in (False, True)] for _ in range(RUNS)]
    seconds = min(simulated[0] for _, simulated in pairs)
    smallest = [min(each[side][1] for each in pairs) for side in (0, 1)]
    return [
        Measure("import, beyond torch and torch_npu", seconds, 0.15, "s"),
        Measure("memory, beyond torch and torch_npu", smallest[1] - smallest[0], 50, "MB"),
    ]


def operators() -> list[Measure]:
    """What operators cost, compared with the CPU's."""
    add, normal = run(OPERATORS, {**os.environ, **npusim.environment()})
    return [
        Measure("x + 1 on three elements", add, 15, "x CPU"),
        Measure("a million normal numbers", normal, 4, "x CPU"),
    ]


def run(code: str, environment: dict[str, str]) -> list[float]:
    """What a program prints at its end, in a new process."""
    done = subprocess.run([sys.executable, "-c", code], env=environment, check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout.splitlines()[-1])


if __name__ == "__main__":
    sys.exit(main())
