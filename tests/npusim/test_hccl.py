"""Several processes, one NPU each, the real ProcessGroupHCCL on simulated HCCL."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

RANKS = Path(__file__).with_name("ranks.py")

START = """
import torch
import torch.distributed as dist
dist.init_process_group("hccl")
rank = dist.get_rank()
other = 1 - rank
torch.npu.set_device(rank)
device = f"npu:{rank}"
"""

DEADLOCK = """
incoming, outgoing = torch.zeros(2, device=device), torch.ones(2, device=device)
works = [dist.irecv(incoming, other), dist.isend(outgoing, other)]
for work in works:
    work.wait()
torch.npu.synchronize()
print("passed")
"""


DEATH = """
import os, signal
dist.barrier()
if rank < {dying}:
    os.kill(os.getpid(), signal.SIGKILL)
total = torch.ones(2, device=device)
dist.all_reduce(total)
torch.npu.synchronize()
print("passed")
"""

UNEVEN = "reduce_scatter(torch.ones(rank + 1, device=device{0}), [torch.ones(n, device=device{0}) for n in (1, 2)]{1})"

# HCCL's documents of the operations for the Atlas A2, and HcomCheckUserRank in hicann/hccl, src/common/param_check.cc.
REFUSED = {
    "all_reduce(torch.ones(2, dtype=torch.bfloat16, device=device), dist.ReduceOp.PRODUCT)": "takes no all_reduce",
    "reduce(torch.ones(2, dtype=torch.int16, device=device), 0, dist.ReduceOp.PRODUCT)": "takes no reduce",
    "broadcast(torch.ones(2).to(torch.float8_e4m3fn).to(device), 0)": "takes no broadcast of this dtype",
    "send(torch.ones(2).to(torch.float8_e5m2).to(device), other)": "takes no send of this dtype",
    UNEVEN.format("", ", dist.ReduceOp.PRODUCT"): "takes no reduce_scatter of uneven parts",
    UNEVEN.format(", dtype=torch.int64", ""): "takes no reduce_scatter of uneven parts",
    "broadcast(torch.ones(2, device=device), 2)": "no rank 2 in communicator",
    "reduce(torch.ones(2, device=device), 2)": "no rank 2 in communicator",
    "batch_isend_irecv([dist.P2POp(dist.isend, torch.ones(2, device=device), 2)])": "no rank 2 in communicator",
}

CHECKS = re.findall(r"^@check\ndef (\w+)", RANKS.read_text(), re.MULTILINE)


def torchrun(ranks: int, timeout: int, messages: Path, *program: str) -> subprocess.CompletedProcess[str]:
    """Run a program on several ranks; their messages go through a folder."""
    messages.mkdir()
    command = [sys.executable, "-m", "npusim", "--devices", str(ranks), "--async", "-m", "torch.distributed.run"]
    command += ["--standalone", f"--nproc-per-node={ranks}", *program]
    variables = {"NPUSIM_SHM": str(messages), "NPUSIM_TIMEOUT": str(timeout), "OMP_NUM_THREADS": "1"}
    environment = {**os.environ, **variables}
    return subprocess.run(command, capture_output=True, text=True, timeout=600, env=environment, check=False)


@pytest.fixture(scope="module", params=[2, 4])
def results(request, tmp_path_factory) -> list[dict[str, str | None]]:
    """What failed in ranks.py, by rank and check."""
    folder = tmp_path_factory.mktemp("results")
    messages = folder / "messages"
    done = torchrun(request.param, 240, messages, str(RANKS), str(folder))
    assert done.returncode == 0, done.stderr
    assert list(messages.iterdir()) == []
    return [json.loads((folder / str(rank)).read_text()) for rank in range(request.param)]


@pytest.mark.parametrize("check", CHECKS)
def test_hccl(results, check):
    assert [failed[check] for failed in results] == [None] * len(results)


@pytest.fixture
def launch(tmp_path):
    def run(body: str, timeout: int) -> subprocess.CompletedProcess[str]:
        script = tmp_path / "program.py"
        script.write_text(START + body)
        return torchrun(2, timeout, tmp_path / "messages", str(script))

    return run


def test_receiving_first_on_both_ranks_times_out(launch):
    # HCCL's documentation: sends and receives of a communicator are strictly ordered; on hardware this hangs.
    done = launch(DEADLOCK, timeout=3)
    assert done.returncode != 0
    assert "passed" not in done.stdout
    assert "timed out after 3 s (NPUSIM_TIMEOUT)" in done.stderr
    assert "use batch_isend_irecv" in done.stderr


@pytest.mark.parametrize("call", REFUSED)
def test_what_hccl_refuses(launch, call):
    done = launch(f"dist.{call}\ntorch.npu.synchronize()\nprint('passed')", timeout=60)
    assert done.returncode != 0
    assert "passed" not in done.stdout
    assert REFUSED[call] in done.stderr


@pytest.mark.parametrize("dying", [1, 2])
def test_a_rank_that_dies_ends_the_others(launch, tmp_path, dying):
    done = launch(DEATH.format(dying=dying), timeout=120)
    assert done.returncode != 0
    assert "passed" not in done.stdout
    assert list((tmp_path / "messages").iterdir()) == []
