"""Copies in every direction. They are behind casts, strided and broadcast writes, printing and moves."""

import os

import torch
from torch import Tensor

from ..counters import COUNTS, count_copy
from ..library import runtime
from .call import Call, settle
from .host import below_autograd

HAZARDS = os.environ.get("NPUSIM_ASYNC") == "1"
_undelivered: list[tuple[Tensor, Tensor]] = []  # keeps the memory of late copies alive


@below_autograd
def copy_(target: Tensor, source: Tensor, non_blocking: bool = False) -> Tensor:
    """aten::copy_; torch_npu's own, between NPU tensors, runs CANN kernels."""
    call = Call()
    host_target, host_source = call.to_host(target), call.to_host(source)
    _count(target, source, non_blocking)
    if source._is_zerotensor():
        host_target.zero_()
    elif HAZARDS and non_blocking and target.device.type == "cpu" and target.is_contiguous():
        _copy_late(target, source, host_source)
    else:
        host_target.copy_(host_source)
    return target


def _count(target: Tensor, source: Tensor, non_blocking: bool) -> None:
    if target.device == source.device or not target.numel():
        return
    n_bytes = target.numel() * target.element_size()
    if target.device.type == "cpu":
        count_copy("d2h", n_bytes)
        COUNTS["sync"] += not non_blocking
    else:
        count_copy("h2d" if source.device.type == "cpu" else "peer", n_bytes)


def _copy_late(target: Tensor, source: Tensor, host_source: Tensor) -> None:
    """Leave it to the runtime to deliver the copy when the program synchronises."""
    if not runtime().npusim_late():
        _undelivered.clear()
    staged = torch.empty_like(target).copy_(host_source)
    _undelivered.append((target, staged))
    n_bytes = target.numel() * target.element_size()
    runtime().npusim_copy_to_host(target.data_ptr(), staged.data_ptr(), n_bytes, settle(source.device))


def to_cpu(tensors: list[Tensor]) -> list[Tensor]:
    """aten::_to_cpu, which only torch's CPU fallback calls, once for the tensors among an operator's arguments.

    That makes it the place to count fallbacks: torch_npu's fallback itself is C++ and must keep its own warning.
    """
    COUNTS["fallback"] += 1
    return [tensor.cpu() for tensor in tensors]
