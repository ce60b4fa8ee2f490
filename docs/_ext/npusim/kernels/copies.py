"""Copies in every direction. They are behind casts, strided and broadcast writes, printing and moves."""

import torch
from torch import Tensor

from ..counters import COUNTS, count_copy
from ..library import runtime
from .call import HAZARDS, Call, check, count_wait, current_stream, is_dense, settle, synchronise
from .host import below_autograd

_on_their_way: list[Tensor] = []  # keeps the host memory of late copies alive


@below_autograd
def copy_(target: Tensor, source: Tensor, non_blocking: bool = False) -> Tensor:
    """aten::copy_; torch_npu's own, between NPU tensors, runs CANN kernels."""
    if HAZARDS and non_blocking and _may_be_late(target, source):
        count_copy("h2d", _bytes(target))
        _copy_late(target, source, current_stream(target.device), to_host=False)
        return target
    call = Call()
    host_target, host_source = call.to_host(target), call.to_host(source)
    if source._is_zerotensor():
        host_target.zero_()
    elif target.device == source.device or not target.numel():
        host_target.copy_(host_source)
    elif target.device.type == "cpu":
        _copy_to_host(target, source, host_source, non_blocking)
    elif source.device.type == "cpu":
        _copy_to_device(target, source, host_target, non_blocking)
    else:
        count_copy("peer", _bytes(target))
        host_target.copy_(host_source)
    return target


# Which copies are asynchronous follows from torch_npu's CopyKernelOpApi.cpp and CachingHostAllocator.cpp: those between
# the device and pinned memory that need no change of layout on the host. For others it synchronises the stream.


def _copy_to_host(target: Tensor, source: Tensor, host_source: Tensor, non_blocking: bool) -> None:
    count_copy("d2h", _bytes(target))
    if not (non_blocking and target.is_contiguous() and target.is_pinned()):
        count_wait(source.device)
    elif HAZARDS:
        staged = torch.empty_like(target).copy_(host_source)
        _copy_late(target, staged, settle(source.device), to_host=True)
        return
    target.copy_(host_source)


def _copy_to_device(target: Tensor, source: Tensor, host_target: Tensor, non_blocking: bool) -> None:
    count_copy("h2d", _bytes(target))
    if HAZARDS and not (non_blocking and _is_read_directly(source, target)):
        synchronise(target.device)
    host_target.copy_(source)


def _is_read_directly(source: Tensor, target: Tensor) -> bool:
    return bool(source.is_contiguous() and source.shape == target.shape and source.is_pinned())


def _may_be_late(target: Tensor, source: Tensor) -> bool:
    """Whether it is a copy of bytes from pinned memory to a device."""
    if not (source.is_cpu and target.device.type == "npu" and target.dtype == source.dtype and target.numel()):
        return False
    bits = (target.is_conj(), target.is_neg()), (source.is_conj(), source.is_neg())
    dense = is_dense(target) and is_dense(source) and not source._is_zerotensor()
    return dense and bits[0] == bits[1] and target.is_contiguous() and _is_read_directly(source, target)


def _copy_late(target: Tensor, source: Tensor, stream: int | None, to_host: bool) -> None:
    """Leave it to the runtime when the copy arrives."""
    if not runtime().npusim_late():
        _on_their_way.clear()
    _on_their_way.append(target if to_host else source)
    check(runtime().npusim_copy_late(target.data_ptr(), source.data_ptr(), _bytes(target), to_host, stream))


def _bytes(tensor: Tensor) -> int:
    return int(tensor.nbytes)


def to_cpu(tensors: list[Tensor]) -> list[Tensor]:
    """aten::_to_cpu, which only torch's CPU fallback calls, once for the tensors among an operator's arguments.

    That makes it the place to count fallbacks: torch_npu's fallback itself is C++ and must keep its own warning.
    """
    COUNTS["fallback"] += 1
    return [tensor.cpu() for tensor in tensors]
