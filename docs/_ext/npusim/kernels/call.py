"""One operator call: its arguments on their way to the host, its results on their way back."""

import functools
import os
from typing import Any

import torch
import torch_npu
from torch import Tensor

from ..counters import COUNTS
from ..library import runtime
from .aliases import (
    HOST,
    HostMemory,
    copy_bytes,
    device_copy,
    device_view,
    host_memory,
    same_layout,
)

HAZARDS = os.environ.get("NPUSIM_ASYNC") == "1"
_settle = runtime().npusim_settle
_error_message = runtime().aclGetRecentErrMsg
# Reading the handle also drains torch_npu's task queue. torch.npu.current_stream() takes fifty times as long.
_current_stream = torch_npu._C._npu_getCurrentRawStream


def settle(device: torch.device) -> int | None:
    """Wait for what the current stream of a device depends on, and return the stream's handle.

    Communication runs on threads of the runtime: a kernel must not overtake it. Raises RuntimeError if it failed,
    or in a child forked after initialisation.
    """
    try:
        stream = current_stream(device)
    except RuntimeError:
        return None  # a device not used before has no streams, and a wrong one fails when memory is allocated
    check(_settle(stream))
    return stream


def current_stream(device: torch.device) -> int:
    """The handle of a device's current stream."""
    stream: int = _current_stream(torch.npu.current_device() if device.index is None else device.index)
    return stream


def check(error: int) -> None:
    """Raise RuntimeError if a function of the runtime returned an error."""
    if error:
        raise RuntimeError(f"NPU function error, error code is {error}\n{_error_message().decode()}")


def synchronise(device: torch.device | None) -> None:
    """Let the host wait for a device's current stream: late copies arrive."""
    if HAZARDS and device is not None:
        runtime().npusim_synchronise(settle(device))


def count_wait(device: torch.device | None) -> None:
    """The same, counted."""
    COUNTS["sync"] += 1
    synchronise(device)


def is_dense(tensor: Tensor) -> bool:
    """Sparse and nested tensors are handled by their parts, which come as calls of their own."""
    return tensor.layout is torch.strided and not tensor.is_nested


@functools.cache
def is_npu(device: torch.device) -> bool:
    """Remembered, because torch writes the type through a C++ stream each time."""
    return bool(device.type == "npu")


# What most arguments are beside tensors: not worth a function call.
PLAIN = frozenset([int, float, bool, type(None), torch.dtype])


class Call:
    """One operator call: its device tensors, and the CPU tensors that stand for them."""

    __slots__ = ("asked", "device", "numbers", "pairs", "storages", "stray")

    def __init__(self) -> None:
        self.device: torch.device | None = None  # of the first device tensor
        self.asked: torch.device | None = None  # the caller's device argument
        self.stray: torch.device | None = None  # of a tensor that is not where the first one is
        self.numbers = False  # whether there are 0-dim tensors of the CPU
        self.pairs: list[tuple[Tensor, Tensor]] = []  # device tensor, its CPU alias
        # The host's side of each device storage, with a tensor: arguments that overlap still do.
        self.storages: dict[int, tuple[HostMemory, Tensor]] = {}

    def to_host(self, value: Any) -> Any:
        """An argument as the CPU kernel gets it."""
        if isinstance(value, Tensor):
            return self._tensor_to_host(value)
        if isinstance(value, (list, tuple)):
            if any(isinstance(item, Tensor) for item in value):
                return [self.to_host(item) for item in value]
        elif isinstance(value, torch.device):
            self.asked = value
            if is_npu(value):
                settle(value)
                return HOST
        return value

    def _tensor_to_host(self, tensor: Tensor) -> Tensor:
        if tensor.is_cpu:
            if tensor.layout is torch.strided:
                if tensor.dim():
                    self.stray = HOST
                else:
                    self.numbers = True  # some operators take them, see numbers.py
            return tensor
        device = tensor.device
        if not is_npu(device) or not is_dense(tensor):
            return tensor
        if device != self.device:
            settle(device)
            if self.device is None:
                self.device = device
            else:
                self.stray = device
        for known, alias in self.pairs:
            if known is tensor:
                return alias
        storage = tensor.untyped_storage()
        address = storage._cdata
        known_storage = self.storages.get(address)
        if known_storage is None:
            known_storage = self.storages[address] = host_memory(storage), tensor
        alias = known_storage[0].alias(tensor)
        self.pairs.append((tensor, alias))
        return alias

    def make_resizable(self, value: Any) -> Any:
        """A copy instead of an alias, whose memory cannot grow; `write_back` brings its contents home."""
        if isinstance(value, list):
            return [self.make_resizable(item) for item in value]
        for i, (tensor, alias) in enumerate(self.pairs):
            if alias is value:
                if tensor.numel():
                    copy = alias.clone(memory_format=torch.preserve_format)
                else:
                    copy = torch.empty(0, dtype=alias.dtype, device=HOST).resize_(alias.shape)
                self.pairs[i] = tensor, copy
                return copy
        return value

    def write_back(self) -> None:
        """Give device tensors the shapes that the operator gave their aliases, and the contents of copies."""
        for tensor, alias in self.pairs:
            moved = alias.numel() and alias.data_ptr() != tensor.data_ptr() and alias.untyped_storage().resizable()
            if not same_layout(tensor, alias):
                if moved:
                    tensor.resize_(alias.shape)
                offset = (tensor if moved else alias).storage_offset()
                # set_, since as_strided_ is itself one of the operators that run here
                tensor.set_(tensor.untyped_storage(), offset, alias.shape, alias.stride())
            if moved:
                copy_bytes(tensor, alias)

    def to_device(self, value: Any) -> Any:
        """A result as the caller gets it."""
        if isinstance(value, Tensor):
            return self._tensor_to_device(value)
        if isinstance(value, (list, tuple)):
            return type(value)(map(self.to_device, value))
        return value

    def _tensor_to_device(self, value: Tensor) -> Tensor:
        """An argument, a view of one, or a copy of new memory on the device of the arguments."""
        for tensor, alias in self.pairs:
            if alias is value:
                return tensor
        device = self.asked or self.device or torch.device("npu")
        if not is_npu(device) or not value.is_cpu:
            return value
        if not is_dense(value):
            return value.to(device)
        address = value.untyped_storage()._cdata
        for memory, tensor in self.storages.values():
            if memory.storage._cdata == address:
                return device_view(tensor, value)
        return device_copy(value, device)
