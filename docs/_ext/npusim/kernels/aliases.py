"""CPU tensors on the memory of device tensors, and the other way round."""

import ctypes
import functools

import torch
from torch import Tensor

HOST = torch.device("cpu")


class HostMemory:
    """The memory of a device storage as CPU tensors see it. It does not own the memory and cannot grow."""

    __slots__ = ("bases", "storage")

    def __init__(self, address: int, size: int) -> None:
        self.storage = torch._C._construct_storage_from_data_pointer(address, HOST, size)
        self.bases: dict[torch.dtype, Tensor] = {}  # a tensor is made from another in half the time

    def alias(self, tensor: Tensor) -> Tensor:
        """A CPU tensor like `tensor` on this memory."""
        base = self.bases.get(tensor.dtype)
        if base is None:
            base = self.bases[tensor.dtype] = self._base(tensor.dtype)
        alias = base.as_strided(tensor.shape, tensor.stride(), tensor.storage_offset())
        if tensor.is_conj() or tensor.is_neg():
            copy_bits(tensor, alias)
        return alias

    def _base(self, dtype: torch.dtype) -> Tensor:
        with torch.inference_mode(False):  # it may outlast the caller's inference mode
            return torch.empty(0, dtype=dtype, device=HOST).set_(self.storage, 0, (0,), (1,))


_known_memory = functools.lru_cache(maxsize=1024)(HostMemory)


def host_memory(memory: torch.UntypedStorage) -> HostMemory:
    """The host's side of a device storage; by address, since the allocator gives the same memory out again."""
    size = memory.nbytes()
    # Storages without memory have no address that tells them apart.
    return _known_memory(memory.data_ptr(), size) if size else HostMemory(0, 0)


def device_view(tensor: Tensor, view: Tensor) -> Tensor:
    """A device tensor like the CPU tensor `view`, which lies on a host storage of `tensor`."""
    size, stride, offset = view.shape, view.stride(), view.storage_offset()
    if view.dtype == tensor.dtype:
        result = tensor.as_strided(size, stride, offset)
    else:
        result = torch.empty(0, dtype=view.dtype, device=tensor.device)
        result.set_(tensor.untyped_storage(), offset, size, stride)
    copy_bits(view, result)
    return result


def device_copy(tensor: Tensor, device: torch.device) -> Tensor:
    """A device tensor with the contents and strides of a CPU tensor."""
    result = torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype, device=device)
    copy_bytes(result, tensor)
    if tensor.is_conj() or tensor.is_neg():
        copy_bits(tensor, result)
    return result


def copy_bits(source: Tensor, target: Tensor) -> None:
    """Conjugate and negative views are marked by a bit on the tensor, which `set_` and `empty` leave out."""
    if source.is_conj() != target.is_conj():
        torch._C._set_conj(target, source.is_conj())
    if source.is_neg() != target.is_neg():
        torch._C._set_neg(target, source.is_neg())


def copy_bytes(target: Tensor, source: Tensor) -> None:
    """Copy the memory that `source` spans to `target`, which has the same shape and strides.

    By span, not by element: expanded results keep their strides, and one memmove is faster.
    """
    span = source.nbytes
    if not span:
        return
    if not source.is_contiguous():
        last = sum((n - 1) * stride for n, stride in zip(source.shape, source.stride(), strict=True))
        span = (1 + last) * source.element_size()
    ctypes.memmove(target.data_ptr(), source.data_ptr(), span)


def same_layout(tensor: Tensor, other: Tensor) -> bool:
    """Whether shape, strides and offset are equal."""
    return bool(
        tensor.shape == other.shape
        and tensor.stride() == other.stride()
        and tensor.storage_offset() == other.storage_offset()
    )
