"""dtypes that CANN refuses on the 910B although the CPU takes them.

16, 32 and 64 bits without sign in arithmetic: the lists ASCEND910B_DTYPE_SUPPORT_LIST in hicann/ops-math,
math/<operator>/op_api/aclnn_<operator>.cpp and conversion/concat_d/op_api/aclnn_cat.cpp. Products: dtypeSupportList in
hicann/ops-nn, matmul/<operator>/op_host/op_api, its documents of each function, and math/dot in hicann/ops-math. The
names of the functions are those in Ascend/op-plugin, op_plugin/ops/opapi. The text is that of hardware without what
changes: time, process, source line, the list. Lists of tensors: foreach.py.

Products of whole numbers are computed nevertheless, with a warning, so that the comparison with the CPU covers them.
"""

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from ..errors import HardwareWarning
from . import numbers

# Operator: CANN's function for a tensor as second operand, and for a number.
ARITHMETIC = {
    "add": ("aclnnAdd", "aclnnAdds"),
    "sub": ("aclnnSub", "aclnnSubs"),
    "mul": ("aclnnMul", "aclnnMuls"),
    "div": ("aclnnDiv", "aclnnDivs"),
    "cat": ("aclnnCat", "aclnnCat"),
}
UNSIGNED = frozenset([torch.uint16, torch.uint32, torch.uint64])

PRODUCTS = {
    "mm": "aclnnMm",
    "mv": "aclnnMv",
    "bmm": "aclnnBatchMatMul",
    "dot": "aclnnDot",
    "addmm": "aclnnAddmm",
    "addbmm": "aclnnAddbmm",
    "baddbmm": "aclnnBaddbmm",
    "matmul": "aclnnMatmul",
}
IN_PRODUCTS = frozenset([torch.float32, torch.float16, torch.bfloat16])
IN_DOT = IN_PRODUCTS | {torch.int8, torch.int32, torch.uint8}

DTYPES = frozenset(value for value in vars(torch).values() if isinstance(value, torch.dtype))
# Others have the same name there.
CANN_NAMES = {torch.float32: "DT_FLOAT", torch.float64: "DT_DOUBLE", torch.bfloat16: "DT_BF16"}


def doubtful(name: str) -> frozenset[torch.dtype]:
    """The dtypes of operands with which a call of aten's operator `name` is to be checked."""
    name = name.rstrip("_")
    if name in ARITHMETIC:
        return UNSIGNED
    if name in PRODUCTS:
        return DTYPES - (IN_DOT if name == "dot" else IN_PRODUCTS)
    return frozenset()


def check(name: str, args: Sequence[Any], dtype: torch.dtype) -> None:
    """For a call with an operand of a doubtful dtype: raise torch_npu's error if CANN refuses it, or warn."""
    name = name.rstrip("_")
    if name in ARITHMETIC:
        scalar = len(args) > 1 and not (isinstance(args[1], Tensor) and args[1].device.type == "npu")
        raise refusal(name, ARITHMETIC[name][scalar], "tensor 0" if name == "cat" else "Tensor self", dtype)
    if dtype.is_floating_point or dtype.is_complex:
        raise refusal(name, PRODUCTS[name], "Tensor self", dtype)
    words = f"{PRODUCTS[name]} of CANN takes no {cann_name(dtype)}: an NPU refuses this call. Cast to float32."
    warnings.warn(words, HardwareWarning, stacklevel=3)  # at the line that calls the kernel


def checked(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """For a composite operator, of which torch_npu has a kernel for the whole: the function, with the checks before."""
    dtypes = doubtful(name)

    def run(*args: Any, **kwargs: Any) -> Any:
        numbers.check(name, args)
        found = [value.dtype for value in args if isinstance(value, Tensor) and value.dtype in dtypes]
        if not found:
            return function(*args, **kwargs)
        check(name, args, found[0])
        with warnings.catch_warnings():  # what it calls would warn again
            warnings.simplefilter("ignore", HardwareWarning)
            return function(*args, **kwargs)

    return run


def refusal(name: str, function: str, tensor: str, dtype: torch.dtype) -> RuntimeError:
    """torch_npu's error for a dtype that a function of CANN refuses."""
    return RuntimeError(
        f"{name}: NPU function error: call {function} failed, error code is 161002\n"
        "ERR00100 PTA call acl api failed.\n"
        f"EZ1001: {tensor} not implemented for {cann_name(dtype)}, should be in dtype support list […]."
    )


def cann_name(dtype: torch.dtype) -> str:
    """CANN's name of a dtype."""
    return CANN_NAMES.get(dtype) or f"DT_{str(dtype).removeprefix('torch.').upper()}"
