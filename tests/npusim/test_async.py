"""`--async`: an asynchronous copy arrives as late as it may, so that a missing synchronisation shows."""

import json
import subprocess
import sys

import pytest

START = """
import json
import torch

def pinned(value):
    return torch.full((4,), float(value)).pin_memory()

def device():
    return torch.full((4,), 7.0, device="npu")

def show(tensor):
    results[name] = tensor.tolist()

results = {}
side = torch.npu.Stream()
"""

# name: (program, whether the values must be right)
CASES = {
    "to the host, read at once": ("show(device().to('cpu', non_blocking=True))", False),
    "to the host, device synchronised": (
        "x = device().to('cpu', non_blocking=True); torch.npu.synchronize(); show(x)",
        True,
    ),
    "to the host, another stream synchronised": (
        "x = device().to('cpu', non_blocking=True); side.synchronize(); show(x)",
        False,
    ),
    "to the host, event before the copy": (
        "e = torch.npu.Event(); e.record(); x = device().to('cpu', non_blocking=True); e.synchronize(); show(x)",
        False,
    ),
    "to the host, event after the copy": (
        "x = device().to('cpu', non_blocking=True); e = torch.npu.Event(); e.record(); e.synchronize(); show(x)",
        True,
    ),
    "to the host, a value read since": (
        "x = device().to('cpu', non_blocking=True); device().sum().item(); show(x)",
        True,
    ),
    "to the host, a blocking copy since": ("x = device().to('cpu', non_blocking=True); device().cpu(); show(x)", True),
    "to the host, a shape by values since": (
        "x = device().to('cpu', non_blocking=True); device().nonzero(); show(x)",
        True,
    ),
    "to the host, strided and cast on the device": (
        "x = device().double().expand(2, 4).t()[:, 0].to('cpu', torch.float32, non_blocking=True); show(x)",
        False,
    ),
    "to ordinary memory": ("show(torch.empty(4).copy_(device(), non_blocking=True))", True),
    "to pinned memory, strided": (
        "show(torch.empty(8).pin_memory()[::2].copy_(device(), non_blocking=True))",
        True,
    ),
    "dropped before it arrives": (
        "device().to('cpu', non_blocking=True); x = device().to('cpu', non_blocking=True); side.synchronize(); "
        "torch.npu.synchronize(); show(x)",
        True,
    ),
    "to the device, source overwritten": (
        "p = pinned(7); x = p.to('npu', non_blocking=True); p.zero_(); show(x)",
        False,
    ),
    "to the device, source overwritten after a wait": (
        "p = pinned(7); x = p.to('npu', non_blocking=True); torch.npu.synchronize(); p.zero_(); show(x)",
        True,
    ),
    "to the device, source of ordinary memory overwritten": (
        "p = torch.full((4,), 7.0); x = p.to('npu', non_blocking=True); p.zero_(); show(x)",
        True,
    ),
    "to the device, the same stream reads": (
        "p = pinned(3); x, y = (p.to('npu', non_blocking=True) for _ in range(2)); show(x + y + 1)",
        True,
    ),
    "to the device, source dropped": ("x = pinned(7).to('npu', non_blocking=True); pinned(0); show(x)", True),
    "to the device, another stream reads": (
        "with torch.npu.stream(side): x = pinned(7).to('npu', non_blocking=True)\nshow(x)",
        False,
    ),
    "to the device, another stream waits and reads": (
        "with torch.npu.stream(side): x = pinned(7).to('npu', non_blocking=True)\n"
        "torch.npu.current_stream().wait_stream(side)\nshow(x)",
        True,
    ),
    "to the device, several sources overwritten": (
        "p, q = pinned(7), pinned(7); x, y = (t.to('npu', non_blocking=True) for t in (p, q)); p.zero_(); show(x)",
        False,
    ),
    "to the device, the sources of a tree overwritten": (
        "from tensordict import TensorDict\n"
        "tree = TensorDict(a=pinned(7), b=TensorDict(c=pinned(7)))\n"
        "x = tree.to('npu', non_blocking=True); tree.zero_(); show(x['a'])",
        False,
    ),
    "to the device, several sources overwritten after a wait": (
        "p, q = pinned(7), pinned(7); x, y = (t.to('npu', non_blocking=True) for t in (p, q))\n"
        "torch.npu.synchronize(); p.zero_(); show(x)",
        True,
    ),
    "to the device, twice to one target": (
        "x = torch.zeros(4, device='npu'); p, q = pinned(3), pinned(7)\n"
        "x.copy_(p, non_blocking=True); x.copy_(q, non_blocking=True); show(x)",
        True,
    ),
    "there and back": ("show(device().to('cpu', non_blocking=True).to('npu', non_blocking=True))", True),
    "streams that wait for each other": (
        "for _ in range(100):\n"
        "    for one, other in ((side, torch.npu.default_stream()), (torch.npu.default_stream(), side)):\n"
        "        with torch.npu.stream(one):\n"
        "            x = pinned(7).to('npu', non_blocking=True)\n"
        "            h = x.to('cpu', non_blocking=True)\n"
        "            one.wait_stream(other)\n"
        "torch.npu.synchronize()\nshow(h)",
        True,
    ),
}


def run(*options: str) -> dict[str, list[float]]:
    body = "".join(f"name = {name!r}\n{program}\n" for name, (program, _) in CASES.items())
    command = [sys.executable, "-m", "npusim", *options, "-c", f"{START}{body}print(json.dumps(results))"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def late() -> dict[str, list[float]]:
    return run("--async")


@pytest.mark.parametrize("name", CASES)
def test_what_is_not_synchronised_shows(late, name):
    assert (late[name] == [7.0] * 4) is CASES[name][1], late[name]


def test_without_the_option_copies_are_done_when_they_return():
    results = run()
    assert [name for name in CASES if results[name] != [7.0] * 4] == []
