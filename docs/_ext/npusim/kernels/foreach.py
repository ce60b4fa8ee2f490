"""Arithmetic on lists of tensors: what torch_npu and CANN refuse, on the 910B, of the dtypes that the CPU takes.

Source: Ascend/op-plugin, op_plugin/ops/opapi/Foreach*.cpp. Tensors that are all alike go to one function of CANN at
once, others to the operator for one tensor, each by itself; and so do tensors whose dtype the operation changes.
CANN's lists of dtypes: hicann/ops-nn, foreach/<operator>/op_host/op_api, and its documentation of each function. They
grow with its versions; refused here is what none has.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from . import refusals

# Operator and overload: CANN's function, and what its source calls the first tensor.
FUNCTIONS = {
    "_foreach_add.Scalar": ("aclnnForeachAddScalarV2", "(*self)[0]"),
    "_foreach_add.List": ("aclnnForeachAddListV2", "(*self)[0]"),
    "_foreach_sub.List": ("aclnnForeachSubListV2", "(*self)[0]"),
    "_foreach_mul.Scalar": ("aclnnForeachMulScalarV2", "(*self)[0]"),
    "_foreach_mul.List": ("aclnnForeachMulList", "(*x1)[0]"),
}
TAKEN = frozenset([torch.float, torch.half, torch.bfloat16, torch.int32, torch.int16, torch.int8, torch.uint8])

# Operator and overload: what torch_npu itself takes, and its error.
OWN_CHECKS = {
    "_foreach_sub.Scalar": (TAKEN - {torch.int16, torch.int8, torch.uint8}, "half, float, int32 or bfloat16"),
    "_foreach_div.Scalar": (frozenset([torch.half, torch.float, torch.bfloat16]), "half, float or bfloat16"),
}
OPERATORS = ("_foreach_add", "_foreach_sub", "_foreach_mul", "_foreach_div")
DTYPES = {torch.float64: "DT_DOUBLE"}  # whose names in CANN are not their own


def refusing(op: torch._ops.OpOverload, kernel: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel for `op`, with a check before it if it does arithmetic on lists."""
    name = op._schema.name.split("::")[1].rstrip("_")
    if name not in OPERATORS:
        return kernel
    overload = f"{name}.{op._schema.overload_name}"
    taken = OWN_CHECKS[overload][0] if overload in OWN_CHECKS else TAKEN

    def run(tensors: list[Tensor], other: Any, *args: Any, **kwargs: Any) -> Any:
        others = list(other) if isinstance(other, (list, tuple)) else [other] * len(tensors)
        dtypes = {value.dtype for value in (*tensors, *others) if isinstance(value, Tensor)}
        if not dtypes <= taken:
            if _at_once(overload, tensors, others, kwargs.get("alpha", 1)):
                check(overload, tensors[0].dtype)
            else:
                for pair in zip(tensors, others, strict=False):
                    check_pair(name.removeprefix("_foreach_"), pair)
        return kernel(tensors, other, *args, **kwargs)

    return run


def check(overload: str, dtype: torch.dtype) -> None:
    """Raise torch_npu's error for tensors of a dtype that it, or CANN, does not take."""
    if overload in OWN_CHECKS:
        raise RuntimeError(f"input must be {OWN_CHECKS[overload][1]}")
    if overload in FUNCTIONS:
        function, tensor = FUNCTIONS[overload]
        kind = DTYPES.get(dtype) or f"DT_{str(dtype).removeprefix('torch.').upper()}"
        raise refusals.refusal(overload.partition(".")[0], function, f"Tensor {tensor}", kind)


def check_pair(name: str, pair: tuple[Tensor, Any]) -> None:
    """Raise what the operator for one tensor raises."""
    for value in pair:
        if isinstance(value, Tensor) and value.dtype in refusals.UNSIGNED:
            raise refusals.operand_refusal(name, pair, value.dtype)


def _at_once(overload: str, tensors: list[Tensor], others: list[Any], alpha: float) -> bool:
    """After can_use_fast_route in PyTorch's ATen/native/ForeachUtils.h."""
    first = tensors[0]
    if "div" in overload and not (first.is_floating_point() or first.is_complex()):
        return False
    numbers = [alpha] if overload in ("_foreach_add.List", "_foreach_sub.List") else []
    for tensor, other in zip(tensors, others, strict=False):
        if (tensor.dtype, tensor.device) != (first.dtype, first.device) or not _is_dense(tensor):
            return False
        if isinstance(other, Tensor):
            if (other.dtype, other.shape, other.stride()) != (tensor.dtype, tensor.shape, tensor.stride()):
                return False
        else:
            numbers = [other]
        if any(torch.result_type(tensor, number) != tensor.dtype for number in numbers):
            return False
    return True


def _is_dense(tensor: Tensor) -> bool:
    span = 1 + sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride(), strict=True))
    return bool(tensor.is_contiguous() or span == tensor.numel())
