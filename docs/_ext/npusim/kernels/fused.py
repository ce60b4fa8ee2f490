"""Fused operators: those that torch chooses on accelerators, and those of torch_npu's own namespace `npu`."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor


def lstm_cell(
    input_gates: Tensor,
    hidden_gates: Tensor,
    cell: Tensor,
    input_bias: Tensor | None = None,
    hidden_bias: Tensor | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """aten::_thnn_fused_lstm_cell, which has no CPU kernel; the third result is its workspace."""
    gates = input_gates + hidden_gates
    if input_bias is not None and hidden_bias is not None:
        gates = gates + input_bias + hidden_bias
    in_gate, forget, new, out = gates.chunk(4, 1)
    cell = forget.sigmoid() * cell + in_gate.sigmoid() * new.tanh()
    return out.sigmoid() * cell.tanh(), cell, gates.detach()


def gru_cell(
    input_gates: Tensor,
    hidden_gates: Tensor,
    hidden: Tensor,
    input_bias: Tensor | None = None,
    hidden_bias: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """aten::_thnn_fused_gru_cell, which has no CPU kernel; the second result is its workspace."""
    if input_bias is not None and hidden_bias is not None:
        input_gates, hidden_gates = input_gates + input_bias, hidden_gates + hidden_bias
    (in_reset, in_update, in_new), (reset, update, new) = input_gates.chunk(3, 1), hidden_gates.chunk(3, 1)
    reset, update = (in_reset + reset).sigmoid(), (in_update + update).sigmoid()
    new = (in_new + reset * new).tanh()
    return (hidden - new) * update + new, input_gates.detach()


def cast(tensor: Tensor, dtype: torch.dtype, *_: object) -> Tensor:
    """npu::_npu_dtype_cast."""
    return torch.empty_like(tensor, dtype=dtype).copy_(tensor)


def cast_to_code(tensor: Tensor, dtype: torch.dtype | int, *_: object) -> Tensor:
    """npu::npu_dtype_cast, which gets the dtype as its number in c10::ScalarType."""
    if isinstance(dtype, int):
        dtype = torch.ops.aten.empty.memory_format([0], dtype=dtype).dtype
    return cast(tensor, dtype)


def format_cast(tensor: Tensor, _format: int) -> Tensor:
    """npu::_npu_format_cast: memory is always in the plain format ND here."""
    return tensor


def rms_norm(x: Tensor, gamma: Tensor, epsilon: float = 1e-6) -> tuple[Tensor, Tensor]:
    """npu::npu_rms_norm: the normalised values, in float32 meanwhile, and the reciprocal root mean square."""
    normalised = tuple(range(-gamma.dim(), 0))
    scale = torch.rsqrt(x.float().pow(2).mean(normalised, keepdim=True) + epsilon)
    return (x.float() * scale * gamma).to(x.dtype), scale


def swiglu(x: Tensor, dim: int = -1) -> Tensor:
    """npu::npu_swiglu."""
    gate, value = x.chunk(2, dim)
    return torch.nn.functional.silu(gate) * value


def fast_gelu(x: Tensor) -> Tensor:
    """npu::npu_fast_gelu, by the formula of Ascend's documentation."""
    return x * torch.sigmoid(1.702 * x)


CELLS: dict[str, Callable[..., Any]] = {"_thnn_fused_lstm_cell": lstm_cell, "_thnn_fused_gru_cell": gru_cell}
NPU_OPERATORS: dict[str, Callable[..., Any]] = {
    "_npu_dtype_cast": cast,
    "npu_dtype_cast": cast_to_code,
    "_npu_format_cast": format_cast,
    "npu_rms_norm": rms_norm,
    "npu_swiglu": swiglu,
    "npu_fast_gelu": fast_gelu,
}
