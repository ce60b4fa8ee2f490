"""The program behind test_hccl.py: every rank runs all checks in order and writes what failed to <folder>/<rank>."""

import json
import re
import sys
import time
from pathlib import Path

import pytest
import torch
import torch.distributed as dist
from checks import check, outcomes
from tensordict import TensorDict

dist.init_process_group("hccl")
rank, size = dist.get_rank(), dist.get_world_size()
others = [other for other in range(size) if other != rank]
following, preceding = (rank + 1) % size, (rank - 1) % size
torch.npu.set_device(rank)
device = f"npu:{rank}"


def full(value, *shape, dtype=torch.float32):
    return torch.full(shape or (3,), value, dtype=dtype, device=device)


def equal(tensor, values):
    assert tensor.tolist() == list(values), (tensor, values)


def refuses(function, text):
    with pytest.raises(RuntimeError, match=re.escape(text)):
        function()


# ---- point to point ----


@check
def send_and_recv():
    message = full(float(rank))
    if rank % 2 == 0:
        dist.send(message, following)
    else:
        received = full(-1.0)
        dist.recv(received, preceding)
        equal(received, [preceding] * 3)


@check
def isend_and_irecv():
    message, received = full(float(rank)), full(-1.0)
    if rank % 2 == 0:
        works = [dist.isend(message, following), dist.irecv(received, following)]
    else:
        works = [dist.irecv(received, preceding), dist.isend(message, preceding)]
    for work in works:
        work.wait()
    equal(received, [following if rank % 2 == 0 else preceding] * 3)


@check
def batch_isend_irecv():
    received = full(-1.0)
    operations = [dist.P2POp(dist.irecv, received, preceding), dist.P2POp(dist.isend, full(float(rank)), following)]
    for work in dist.batch_isend_irecv(operations):
        work.wait()
    equal(received, [preceding] * 3)


@check
def every_dtype_can_be_sent():
    for dtype in (
        torch.bool,
        torch.uint8,
        torch.int8,
        torch.int16,
        torch.int64,
        torch.half,
        torch.bfloat16,
        torch.double,
    ):
        tensor = torch.tensor([rank == 0, True]).to(dtype).to(device)
        dist.broadcast(tensor, 0)
        equal(tensor.bool(), [True, True])


# ---- reductions ----


@check
def all_reduce():
    expected = {
        dist.ReduceOp.SUM: sum(range(1, size + 1)),
        dist.ReduceOp.PRODUCT: [2, 24][size == 4],
        dist.ReduceOp.MIN: 1,
        dist.ReduceOp.MAX: size,
    }
    for dtype in (torch.int8, torch.int16, torch.int32, torch.int64, torch.half, torch.bfloat16, torch.float32):
        for operation, value in expected.items():
            if operation == dist.ReduceOp.PRODUCT and dtype in (torch.int16, torch.bfloat16):
                continue  # HCCL refuses them, see test_hccl.py
            total = full(rank + 1, dtype=dtype)
            dist.all_reduce(total, operation)
            equal(total, [value] * 3)


@check
def average():
    total = full(float(rank))
    dist.all_reduce(total, dist.ReduceOp.AVG)
    equal(total, [(size - 1) / 2] * 3)


@check
def halves_are_rounded_once():
    patterns = torch.arange(1 << 16, dtype=torch.int32).to(torch.int16)  # all that 16 bits can be
    for dtype in (torch.float16, torch.bfloat16):
        parts = [patterns.view(dtype), patterns.flip(0).roll(777).view(dtype)]
        total = parts[rank].to(device) if rank < 2 else torch.zeros(1 << 16, dtype=dtype, device=device)
        dist.all_reduce(total)
        expected = (parts[0].float() + parts[1].float()).to(dtype)
        torch.testing.assert_close(total.cpu(), expected, rtol=0, atol=0, equal_nan=True)


@check
def a_sum_of_masks_is_an_or():
    mask = torch.tensor([rank == 0, False], device=device)
    dist.all_reduce(mask)
    equal(mask, [True, False])


@check
def refused_dtypes():
    # torch_npu's ProcessGroupHCCL.cpp, checkSupportedDataType
    refuses(lambda: dist.all_reduce(full(1.0).cpu().double().to(device)), "HCCL allreduce: Unsupported data type")
    refuses(lambda: dist.reduce(full(1.0).cpu().double().to(device), 0), "HCCL reduce: Unsupported data type")
    refuses(lambda: dist.all_reduce(full(1), dist.ReduceOp.BAND), "Cannot use ReduceOp.BAND with HCCL")


@check
def reduce():
    total = full(float(rank + 1))
    dist.reduce(total, 0)
    if rank == 0:
        equal(total, [sum(range(1, size + 1))] * 3)


@check
def reduce_scatter():
    result = full(-1.0, 2)
    dist.reduce_scatter(result, [full(float(part), 2) for part in range(size)])
    equal(result, [size * rank] * 2)


@check
def reduce_scatter_of_uneven_sizes():
    for operation, value in ((dist.ReduceOp.SUM, sum(range(size))), (dist.ReduceOp.MAX, size - 1)):
        result = full(-1.0, rank + 1)
        dist.reduce_scatter(result, [full(float(rank), part + 1) for part in range(size)], operation)
        equal(result, [value] * (rank + 1))


# ---- from all, to all ----


@check
def all_gather():
    gathered = [full(-1.0) for _ in range(size)]
    dist.all_gather(gathered, full(float(rank)))
    equal(torch.stack(gathered)[:, 0], range(size))


@check
def all_gather_of_integers_without_sign():
    for dtype in (torch.uint8, torch.uint16, torch.uint32, torch.uint64):
        mine = torch.tensor([rank, torch.iinfo(dtype).max], dtype=dtype).to(device)
        gathered = [torch.zeros_like(mine, device="cpu").to(device) for _ in range(size)]
        dist.all_gather(gathered, mine)
        assert [tensor.tolist() for tensor in gathered] == [[other, torch.iinfo(dtype).max] for other in range(size)]


@check
def all_gather_of_uneven_sizes():
    gathered = [full(-1.0, other + 1) for other in range(size)]
    dist.all_gather(gathered, full(float(rank), rank + 1))
    for other, tensor in enumerate(gathered):
        equal(tensor, [other] * (other + 1))


@check
def all_gather_into_tensor():
    gathered = full(-1.0, size)
    dist.all_gather_into_tensor(gathered, full(float(rank), 1))
    equal(gathered, range(size))


@check
def scatter():
    result = full(-1.0, 1)
    dist.scatter(result, [full(float(part), 1) for part in range(size)] if rank == 0 else None, src=0)
    equal(result, [rank])


@check
def all_to_all():
    results = [full(-1.0, 1) for _ in range(size)]
    dist.all_to_all(results, [full(float(10 * rank + part), 1) for part in range(size)])
    equal(torch.cat(results), [10 * other + rank for other in range(size)])


@check
def barrier_and_subgroups():
    dist.barrier()
    groups = [dist.new_group([other for other in range(size) if other % 2 == parity]) for parity in (0, 1)]
    total = full(float(rank))
    dist.all_reduce(total, group=groups[rank % 2])
    equal(total, [sum(range(rank % 2, size, 2))] * 3)


# ---- asynchrony: the program runs with --async ----


@check
def a_result_read_before_wait_is_wrong():
    many = 2_000_000  # so that a result takes a while to be written
    gathered = full(-1.0, size, many)
    work = dist.all_gather_into_tensor(gathered, full(float(rank), many), async_op=True)
    end = time.monotonic() + 1  # by then the messages have arrived
    while time.monotonic() < end:
        assert gathered[:, 0].tolist() != list(range(size))
    work.wait()
    equal(gathered[:, 0], range(size))


@check
def what_is_sent_waits_for_late_copies():
    total = torch.full((3,), float(rank)).pin_memory().to(device, non_blocking=True)
    dist.all_reduce(total)
    equal(total, [sum(range(size))] * 3)


# ---- on top ----


@check
def distributed_data_parallel():
    torch.manual_seed(0)
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(2, 1).to(device), device_ids=[rank])
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model(full(float(rank), 4, 2)).sum().backward()
    equal(model.module.weight.grad[0], [4 * (size - 1) / 2] * 2)  # the mean over the ranks
    optimizer.step()
    weights = [torch.empty_like(model.module.weight) for _ in range(size)]
    dist.all_gather(weights, model.module.weight.detach())
    assert all(torch.equal(weights[0], other) for other in weights)


@check
def batch_normalisation_over_the_ranks():
    torch.manual_seed(0)
    whole, slope = torch.randn(2, size, 2, 3, 4, 5)
    modules = torch.nn.SyncBatchNorm(3).to(device), torch.nn.BatchNorm2d(3)
    inputs = whole[rank].to(device).requires_grad_(), whole.flatten(0, 1).requires_grad_()
    slopes = slope[rank].to(device), slope.flatten(0, 1)
    results = [module(x) for module, x in zip(modules, inputs, strict=True)]
    for result, along in zip(results, slopes, strict=True):
        (result * along).sum().backward()
    assert_close = torch.testing.assert_close
    assert_close(results[0].cpu(), results[1].view_as(whole)[rank])
    assert_close(inputs[0].grad.cpu(), inputs[1].grad.view_as(whole)[rank])
    assert_close(dict(modules[0].cpu().named_buffers()), dict(modules[1].named_buffers()))
    for name, parameter in modules[0].named_parameters():
        total = parameter.grad.to(device)  # each rank has its part
        dist.all_reduce(total)
        assert_close(total.cpu(), modules[1].get_parameter(name).grad)


def tree(value):
    return TensorDict(
        a=full(value, 2), b=TensorDict(c=full(value, 2, 3), batch_size=[2]), batch_size=[2], device=device
    )


@check
def tensordict_send_and_recv():
    if rank == 0:
        tree(5.0).send(1)
    elif rank == 1:
        received = tree(0.0)
        received.recv(0)
        equal(received["b", "c"].flatten(), [5] * 6)


@check
def tensordict_isend_and_irecv():
    if rank == 0:
        tree(6.0).isend(1)
    elif rank == 1:
        received = tree(0.0)
        received.irecv(0)
        equal(received["a"], [6] * 2)


@check
def tensordict_gather_and_stack():
    if rank == 0:
        gathered = tree(0.0).expand(size - 1, 2).clone()
        gathered.gather_and_stack(0)
        equal(gathered["a"][:, 0], range(1, size))
    else:
        mine = tree(float(rank))
        # Leaves keep the device of their sender, and torch does not stack those of several NPUs.
        (mine if size == 2 else mine.cpu()).gather_and_stack(0)


@check
def tensordict_reduce():
    total = tree(1.0)
    total.reduce(0, op=dist.ReduceOp.SUM)
    if rank == 0:
        equal(total["b", "c"].flatten(), [size] * 6)


@check
def tensordict_broadcast():
    received = tree(float(rank)).broadcast(0, device=device)
    equal(received["a"], [0] * 2)


results = outcomes()
Path(sys.argv[1], str(rank)).write_text(json.dumps(results))
dist.barrier()
dist.destroy_process_group()
