"""dtypes that CANN refuses on the 910B although the CPU takes them: 16, 32 and 64 bits without sign, in arithmetic.

Sources: the lists ASCEND910B_DTYPE_SUPPORT_LIST in hicann/ops-math, math/<operator>/op_api/aclnn_<operator>.cpp and
conversion/concat_d/op_api/aclnn_cat.cpp; the names of the functions in Ascend/op-plugin, op_plugin/ops/opapi. The text
is that of hardware without what changes: time, process, source line, the list.
"""

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
REFUSING = {spelling for name in FUNCTIONS for spelling in (name, f"{name}_")}
REFUSED = {torch.uint16: "DT_UINT16", torch.uint32: "DT_UINT32", torch.uint64: "DT_UINT64"}


def refusal(name: str, args: tuple[Any, ...], dtype: torch.dtype) -> RuntimeError:
    """torch_npu's error where CANN refuses the dtype of an operand of aten's operator `name`."""
    name = name.rstrip("_")
    scalar = len(args) > 1 and not (isinstance(args[1], Tensor) and args[1].device.type == "npu")
    tensor = "tensor 0" if name == "cat" else "Tensor self"
    return RuntimeError(
        f"{name}: NPU function error: call {FUNCTIONS[name][scalar]} failed, error code is 161002\n"
        "ERR00100 PTA call acl api failed.\n"
        f"EZ1001: {tensor} not implemented for {REFUSED[dtype]}, should be in dtype support list […]."
    )
