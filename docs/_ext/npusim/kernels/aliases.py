"""CPU tensors on the memory of device tensors, and the other way round."""

import ctypes

import torch
from torch import Tensor

HOST = torch.device("cpu")


def host_storage(memory: torch.UntypedStorage) -> torch.UntypedStorage:
    """A CPU storage on the memory of a device storage. It does not own the memory and cannot grow."""
    return torch._C._construct_storage_from_data_pointer(memory.data_ptr(), HOST, memory.nbytes())


def host_alias(tensor: Tensor, storage: torch.UntypedStorage) -> Tensor:
    """A CPU tensor like `tensor` on its host storage."""
    alias = torch.empty(0, dtype=tensor.dtype, device=HOST)
    alias.set_(storage, tensor.storage_offset(), tensor.shape, tensor.stride())
    if tensor.is_conj() or tensor.is_neg():
        copy_bits(tensor, alias)
    return alias


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
    span = source.numel()
    if not span:
        return
    if not source.is_contiguous():
        span = 1 + sum((n - 1) * stride for n, stride in zip(source.shape, source.stride(), strict=True))
    ctypes.memmove(target.data_ptr(), source.data_ptr(), span * source.element_size())


def same_layout(tensor: Tensor, other: Tensor) -> bool:
    """Whether shape, strides and offset are equal."""
    return bool(
        tensor.shape == other.shape
        and tensor.stride() == other.stride()
        and tensor.storage_offset() == other.storage_offset()
    )
