"""Writing one value where a mask is true: op-plugin fills, and reads the value on the host for that.

Source: canDispatchToMaskedFill in Ascend/op-plugin, op_plugin/ops/opapi/IndexPutKernelNpuOpApi.cpp, of 2026-08-17. The
wheel torch_npu 2.13.0 has it: with a libopapi.so that only exists, its own kernel calls masked_fill_ and item().
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from .host import below_autograd

OPERATORS = frozenset(["aten::index_put", "aten::index_put_", "aten::_index_put_impl_"])
FILLED = frozenset([torch.float, torch.half, torch.bfloat16, torch.int32, torch.int64, torch.int8, torch.bool])
MASKS = (torch.bool, torch.uint8)


def filling(op: torch._ops.OpOverload, kernel: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel for an operator index_put, with that way before it."""
    in_place = op._schema.name.endswith("_")

    @below_autograd
    def run(target: Tensor, indices: list[Tensor | None], value: Tensor, accumulate: bool = False, *rest: Any) -> Any:
        mask = None if accumulate or value.numel() != 1 else _only_mask(target, indices)
        if mask is None or not {target.dtype, value.dtype} <= FILLED:
            return kernel(target, indices, value, accumulate, *rest)
        written = target if in_place else target.clone(memory_format=torch.contiguous_format)
        return written.masked_fill_(mask, value.item())

    return run


def _only_mask(target: Tensor, indices: list[Tensor | None]) -> Tensor | None:
    """The mask as it broadcasts to the target, if it is the only index and fits."""
    given = [(i, index) for i, index in enumerate(indices) if index is not None]
    if len(given) != 1:
        return None
    first, mask = given[0]
    if mask.dtype not in MASKS or mask.device != target.device:
        return None
    if target.shape[first : first + mask.dim()] != mask.shape:
        return None  # an error, which the kernel raises
    return mask.bool().reshape(*mask.shape, *[1] * (target.dim() - first - mask.dim()))
