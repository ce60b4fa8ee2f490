"""The program behind test_processes.py: runs all checks in order and writes what failed to the file of its argument."""

import json
import os
import sys
from pathlib import Path

import torch
import torch.multiprocessing as mp
from checks import check, outcomes
from tensordict import TensorDict
from torch.utils.data import DataLoader, Dataset

SPAWN, FORK = mp.get_context("spawn"), mp.get_context("fork")


class Squares(Dataset):
    """On the CPU, or on the device that it is given."""

    def __init__(self, device="cpu"):
        self.device = device

    def __len__(self):
        return 8

    def __getitem__(self, i):
        return torch.full((2,), i * i, device=self.device)


def load(context, device="cpu"):
    loader = DataLoader(
        Squares(device), 4, num_workers=2 if context is FORK else 1, multiprocessing_context=context, pin_memory=True
    )
    batches = list(loader)
    assert all(batch.is_pinned() for batch in batches)
    moved = torch.cat([batch.to("npu", non_blocking=True) for batch in batches])
    torch.npu.synchronize()
    assert moved[:, 1].tolist() == [i * i for i in range(8)]


def error_of(function, *arguments):
    try:
        function(*arguments)
    except RuntimeError as error:
        return str(error)
    raise AssertionError("no error")


# ---- loaders ----


@check
def workers_forked_before_the_device_is_used():
    assert not torch.npu.is_initialized()
    load(FORK)
    assert torch.npu.is_initialized()


@check
def workers_forked_afterwards_that_leave_the_device_alone():
    load(FORK)


@check
def workers_forked_afterwards_that_use_the_device():
    assert "Cannot re-initialize NPU in forked subprocess" in error_of(load, FORK, "npu")


@check
def spawned_workers():
    load(SPAWN)


# ---- memory shared on the host ----


def add_one(tensor):
    tensor += 1


@check
def a_shared_tensor():
    x = torch.zeros(3).share_memory_()
    child = FORK.Process(target=add_one, args=(x,))
    child.start()
    child.join()
    assert x.is_shared()
    assert x.tolist() == [1, 1, 1]


@check
def a_shared_tree():
    tree = TensorDict(a=torch.zeros(3), b=TensorDict(c=torch.zeros(2)))
    tree.share_memory_()
    pool.apply(add_one, (tree["a"],))
    pool.apply(add_one, (tree["b", "c"],))
    assert tree.is_shared()
    assert (tree["a"].tolist(), tree["b", "c"].tolist()) == ([1] * 3, [1] * 2)


# ---- memory of a device, to and from a spawned process ----


def describe(tensor):
    with torch.no_grad():
        return type(tensor), str(tensor.device), tensor.requires_grad, tensor.tolist(), tensor.mul_(2).sum().item()


@check
def tensors_of_a_device_are_shared():
    x = torch.arange(12.0, device="npu:1").view(3, 4)
    for part in (x, x.t()[1:], x[2]):
        before = part.tolist()
        described = pool.apply(describe, (part,))
        assert described == (torch.Tensor, "npu:1", False, before, 2 * sum(torch.tensor(before).flatten().tolist()))
        assert part.tolist() == [[2 * value for value in row] for row in before] if part.dim() > 1 else True
    weight = torch.nn.Parameter(torch.ones(2, device="npu"))
    assert pool.apply(describe, (weight,)) == (torch.nn.Parameter, "npu:0", True, [1, 1], 4)
    assert weight.tolist() == [2, 2]
    assert pool.apply(describe, (torch.empty(0, device="npu"),))[3:] == ([], 0)


def total(tree):
    return tree["a"].sum().item() + tree["b", "c"].sum().item()


@check
def trees_on_a_device_are_sent():
    tree = TensorDict(a=torch.ones(3), b=TensorDict(c=torch.ones(2))).to("npu")
    assert pool.apply(total, (tree,)) == 5


def allocated():
    return torch.npu.memory_allocated() + torch.npu.memory_allocated(1)


@check
def what_is_shared_counts_for_its_owner():
    of_others = pool.apply(allocated)  # whatever the worker got before, it has let go of by now
    torch.npu.ipc_collect()  # and so does the owner
    before = allocated()
    x = torch.ones(1 << 20, device="npu")
    assert pool.apply(describe, (x,))[4] == 2 << 20
    assert pool.apply(allocated) == of_others
    assert allocated() >= before + x.nbytes
    del x
    torch.npu.ipc_collect()
    assert allocated() == before


def send(queue):
    queue.put(torch.ones(2, device="npu"))
    queue.close()
    queue.join_thread()


@check
def the_owner_has_ended():
    queue = SPAWN.Queue()
    child = SPAWN.Process(target=send, args=(queue,))
    child.start()
    child.join()
    text = error_of(queue.get)
    assert "error code is 107000" in text
    assert f"npusim: cannot open the memory that process {child.pid} shared: has it ended?" in text


if __name__ == "__main__":
    pool = SPAWN.Pool(1)
    with pool:
        results = outcomes()
        pool.close()
        pool.join()
    Path(sys.argv[1]).write_text(json.dumps(results))
    if os.fork() == 0:
        torch.ones(2, device="npu")  # raises
        os._exit(0)
    print("status", os.waitstatus_to_exitcode(os.wait()[1]))
