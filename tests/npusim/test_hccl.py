"""Two processes, two NPUs, the real ProcessGroupHCCL on simulated HCCL."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

START = """
import torch
import torch.distributed as dist
dist.init_process_group("hccl")
rank = dist.get_rank()
other = 1 - rank
torch.npu.set_device(rank)
device = f"npu:{rank}"
"""

TALK = """
total = torch.full((3,), float(rank + 1), device=device)
dist.all_reduce(total)
assert total.tolist() == [3, 3, 3], total

patterns = torch.arange(1 << 16, dtype=torch.int32).to(torch.int16)  # all that 16 bits can be
for dtype in (torch.float16, torch.bfloat16):
    parts = [patterns.view(dtype), patterns.flip(0).roll(777).view(dtype)]
    total = parts[rank].to(device)
    dist.all_reduce(total)
    expected = (parts[0].float() + parts[1].float()).to(dtype)
    torch.testing.assert_close(total.cpu(), expected, rtol=0, atol=0, equal_nan=True)

largest = torch.tensor([rank, -rank], device=device)
dist.all_reduce(largest, dist.ReduceOp.MAX)
assert largest.tolist() == [1, 0], largest

message = torch.arange(5, device=device)
if rank == 0:
    dist.send(message * 2, 1)
    dist.recv(message, 1)
    assert message.tolist() == [0, 3, 6, 9, 12], message
else:
    received = torch.zeros_like(message)
    dist.recv(received, 0)
    assert received.tolist() == [0, 2, 4, 6, 8], received
    dist.send(message * 3, 0)

gathered = [torch.zeros(rank_ + 1, device=device) for rank_ in range(2)]  # of uneven sizes
dist.all_gather(gathered, torch.ones(rank + 1, device=device))
assert [g.tolist() for g in gathered] == [[1], [1, 1]], gathered

both = torch.zeros(2, device=device)
work = dist.all_gather_into_tensor(both, torch.tensor([float(rank)], device=device), async_op=True)
work.wait()
assert (both + 0).tolist() == [0, 1], both

incoming = torch.zeros(2, device=device)
outgoing = torch.full((2,), float(rank), device=device)
exchange = [dist.P2POp(dist.irecv, incoming, other), dist.P2POp(dist.isend, outgoing, other)]
for work in dist.batch_isend_irecv(exchange):
    work.wait()
assert incoming.tolist() == [other, other], incoming

dist.barrier()
dist.destroy_process_group()
"""

DEADLOCK = """
incoming, outgoing = torch.zeros(2, device=device), torch.ones(2, device=device)
works = [dist.irecv(incoming, other), dist.isend(outgoing, other)]
for work in works:
    work.wait()
torch.npu.synchronize()
print("passed")
"""


@pytest.fixture
def launch(tmp_path):
    """Run a program on two ranks; messages go through a folder of its own, which must be empty in the end."""

    def run(body: str, timeout: int) -> subprocess.CompletedProcess[str]:
        script, messages = tmp_path / "program.py", tmp_path / "messages"
        messages.mkdir()
        script.write_text(START + body)
        command = [sys.executable, "-m", "npusim", "-m", "torch.distributed.run", "--nproc-per-node=2"]
        variables = {"NPUSIM_SHM": str(messages), "NPUSIM_TIMEOUT": str(timeout), "OMP_NUM_THREADS": "1"}
        command += ["--standalone", str(script)]
        return subprocess.run(
            command, capture_output=True, text=True, timeout=300, env={**os.environ, **variables}, check=False
        )

    return run


def test_two_ranks_talk(launch, tmp_path: Path):
    done = launch(TALK, timeout=120)
    assert done.returncode == 0, done.stderr
    assert list((tmp_path / "messages").iterdir()) == []


def test_receiving_first_on_both_ranks_times_out(launch):
    # HCCL's documentation: sends and receives of a communicator are strictly ordered; on hardware this hangs.
    done = launch(DEADLOCK, timeout=3)
    assert done.returncode != 0
    assert "passed" not in done.stdout
    assert "timed out after 3 s (NPUSIM_TIMEOUT)" in done.stderr
    assert "use batch_isend_irecv" in done.stderr
