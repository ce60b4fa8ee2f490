"""dtypes that CANN refuses on the 910B although the CPU takes them: 16, 32 and 64 bits without sign, in arithmetic.

Sources: the lists ASCEND910B_DTYPE_SUPPORT_LIST in hicann/ops-math, math/<operator>/op_api/aclnn_<operator>.cpp and
conversion/concat_d/op_api/aclnn_cat.cpp; the names of the functions in Ascend/op-plugin, op_plugin/ops/opapi. The text
is that of hardware without what changes: time, process, source line, the list.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

# Operator: CANN's function for a tensor as second operand, and for a number.
FUNCTIONS = {
    "add": ("aclnnAdd", "aclnnAdds"),
    "sub": ("aclnnSub", "aclnnSubs"),
    "mul": ("aclnnMul", "aclnnMuls"),
    "div": ("aclnnDiv", "aclnnDivs"),
    "cat": ("aclnnCat", "aclnnCat"),
}
REFUSED = {torch.uint16: "DT_UINT16", torch.uint32: "DT_UINT32", torch.uint64: "DT_UINT64"}


def refusing(op: torch._ops.OpOverload, kernel: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel for `op`, with a check before it where the table has the operator."""
    name = op._schema.name.split("::")[1].rstrip("_")
    if name not in FUNCTIONS:
        return kernel

    def run(*args: Any, **kwargs: Any) -> Any:
        for value in args[0] if name == "cat" else args[:2]:
            if isinstance(value, Tensor) and value.dtype in REFUSED:
                raise refusal(name, args, value.dtype)
        return kernel(*args, **kwargs)

    return run


def refusal(name: str, args: tuple[Any, ...], dtype: torch.dtype) -> RuntimeError:
    """torch_npu's error for a dtype that CANN refuses."""
    scalar = len(args) > 1 and not (isinstance(args[1], Tensor) and args[1].device.type == "npu")
    tensor = "tensor 0" if name == "cat" else "Tensor self"
    return RuntimeError(
        f"{name}: NPU function error: call {FUNCTIONS[name][scalar]} failed, error code is 161002\n"
        "ERR00100 PTA call acl api failed.\n"
        f"EZ1001: {tensor} not implemented for {REFUSED[dtype]}, should be in dtype support list […]."
    )
