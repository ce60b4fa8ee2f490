"""dtypes that CANN refuses on the 910B although the CPU takes them.

16, 32 and 64 bits without sign in arithmetic: the lists ASCEND910B_DTYPE_SUPPORT_LIST in hicann/ops-math,
math/<operator>/op_api/aclnn_<operator>.cpp and conversion/concat_d/op_api/aclnn_cat.cpp. float64 in matrix products:
CheckDtypeValid in hicann/ops-nn, matmul/, and CANN's documentation of each function. It refuses integers there too,
which are computed here. The names of the functions are those in Ascend/op-plugin, op_plugin/ops/opapi. The text is that
of hardware without what changes: time, process, source line, the list. Lists of tensors: foreach.py.
"""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

PRODUCTS = {"mm": "aclnnMm", "bmm": "aclnnBatchMatMul", "addmm": "aclnnAddmm", "matmul": "aclnnMatmul"}
# Operator: CANN's function for a tensor as second operand, and for a number.
FUNCTIONS = {
    "add": ("aclnnAdd", "aclnnAdds"),
    "sub": ("aclnnSub", "aclnnSubs"),
    "mul": ("aclnnMul", "aclnnMuls"),
    "div": ("aclnnDiv", "aclnnDivs"),
    "cat": ("aclnnCat", "aclnnCat"),
    **{name: (function, function) for name, function in PRODUCTS.items()},
}
UNSIGNED = {torch.uint16: "DT_UINT16", torch.uint32: "DT_UINT32", torch.uint64: "DT_UINT64"}
NOT_IN_PRODUCTS = {torch.float64: "DT_DOUBLE"}


def refused_dtypes(name: str) -> dict[torch.dtype, str]:
    """What CANN refuses as an operand of aten's operator `name`, with CANN's names; empty: nothing known."""
    name = name.rstrip("_")
    if name in PRODUCTS:
        return NOT_IN_PRODUCTS
    return UNSIGNED if name in FUNCTIONS else {}


def refusing(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """For a composite operator: the function, with a check before it where CANN has one function for the whole."""
    refused = refused_dtypes(name)
    if not refused:
        return function

    def run(*args: Any, **kwargs: Any) -> Any:
        for value in args:
            if isinstance(value, Tensor) and value.dtype in refused:
                raise operand_refusal(name, args, value.dtype)
        return function(*args, **kwargs)

    return run


def operand_refusal(name: str, args: Sequence[Any], dtype: torch.dtype) -> RuntimeError:
    """torch_npu's error if an operand of aten's operator `name` has a dtype that CANN refuses."""
    refused, name = refused_dtypes(name), name.rstrip("_")
    scalar = len(args) > 1 and not (isinstance(args[1], Tensor) and args[1].device.type == "npu")
    return refusal(name, FUNCTIONS[name][scalar], "tensor 0" if name == "cat" else "Tensor self", refused[dtype])


def refusal(name: str, function: str, tensor: str, dtype: str) -> RuntimeError:
    """torch_npu's error for a dtype that a function of CANN refuses."""
    return RuntimeError(
        f"{name}: NPU function error: call {function} failed, error code is 161002\n"
        "ERR00100 PTA call acl api failed.\n"
        f"EZ1001: {tensor} not implemented for {dtype}, should be in dtype support list […]."
    )
