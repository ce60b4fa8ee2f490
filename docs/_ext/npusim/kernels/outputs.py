"""Tensors to write into, `out=`: torch_npu takes any dtype that torch can cast to, but for some operators.

For these, only the dtype of the result itself: check_tensor in Ascend/op-plugin, op_plugin/ops/opapi. Seen over the
samples of PyTorch's database with the wheel's own kernels and a libopapi.so of nothing but the names of CANN's
functions.
"""

import functools
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from .aliases import HOST
from .host import below_autograd

EXACT = frozenset(
    [
        "addcdiv.out",
        "addcmul.out",
        "angle.out",
        "logit.out",
        "pow.Tensor_Scalar_out",
        "stack.out",
        "std.correction_out",
        "var.correction_out",
    ]
)


def checked(op: torch._ops.OpOverload, kernel: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel for `op`, with a check of its `out` before it if it is one of these operators."""
    name, overload = op._schema.name.split("::")[1], op._schema.overload_name
    if f"{name}.{overload}" not in EXACT:
        return kernel
    packet = getattr(torch.ops.aten, name)
    result_of = getattr(packet, overload.removesuffix("out").rstrip("_") or "default")

    @below_autograd
    @functools.wraps(kernel)
    def run(*args: Any, out: Tensor, **kwargs: Any) -> Any:
        expected = args[0][0].dtype if name == "stack" else result_of(*map(_without_memory, args), **kwargs).dtype
        if out.dtype != expected:
            raise RuntimeError(f"expected dtype {_torch_name(expected)} but got dtype {_torch_name(out.dtype)}")
        return kernel(*args, out=out, **kwargs)

    return run


def _without_memory(value: Any) -> Any:
    return torch.empty(value.shape, dtype=value.dtype, device="meta") if isinstance(value, Tensor) else value


def _torch_name(dtype: torch.dtype) -> str:
    """The name of a dtype in torch's C++: Float for float32."""
    name = str(torch.empty(0, dtype=dtype, device=HOST).type())  # torch.FloatTensor
    return name.removeprefix("torch.").removesuffix("Tensor")
