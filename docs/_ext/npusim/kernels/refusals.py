"""dtypes that CANN refuses on the 910B although the CPU takes them: 16, 32 and 64 bits without sign, in arithmetic.

Sources: the lists ASCEND910B_DTYPE_SUPPORT_LIST in hicann/ops-math, math/<operator>/op_api/aclnn_<operator>.cpp and
conversion/concat_d/op_api/aclnn_cat.cpp; the names of the functions in Ascend/op-plugin, op_plugin/ops/opapi. The text
is that of hardware without what changes: time, process, source line, the list. Lists of tensors: foreach.py.
"""

from collections.abc import Sequence
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


def operand_refusal(name: str, args: Sequence[Any], dtype: torch.dtype) -> RuntimeError:
    """torch_npu's error if an operand of aten's operator `name` has a dtype that CANN refuses."""
    name = name.rstrip("_")
    scalar = len(args) > 1 and not (isinstance(args[1], Tensor) and args[1].device.type == "npu")
    return refusal(name, FUNCTIONS[name][scalar], "tensor 0" if name == "cat" else "Tensor self", REFUSED[dtype])


def refusal(name: str, function: str, tensor: str, dtype: str) -> RuntimeError:
    """torch_npu's error for a dtype that a function of CANN refuses."""
    return RuntimeError(
        f"{name}: NPU function error: call {function} failed, error code is 161002\n"
        "ERR00100 PTA call acl api failed.\n"
        f"EZ1001: {tensor} not implemented for {dtype}, should be in dtype support list […]."
    )
