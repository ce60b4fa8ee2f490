"""dtypes that CANN refuses on the 910B although the CPU takes them.

16, 32 and 64 bits without sign in arithmetic: the lists ASCEND910B_DTYPE_SUPPORT_LIST in hicann/ops-math,
math/<operator>/op_api/aclnn_<operator>.cpp and conversion/concat_d/op_api/aclnn_cat.cpp. Products: dtypeSupportList in
hicann/ops-nn, matmul/<operator>/op_host/op_api, its documents of each function, and math/dot in hicann/ops-math. The
names of the functions are those in Ascend/op-plugin, op_plugin/ops/opapi. The text is that of hardware without what
changes: time, process, source line, the list. Lists of tensors: foreach.py.

Products of whole numbers are computed nevertheless, with a warning, so that the comparison with the CPU covers them.
"""

import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import torch
from torch import Tensor

from ..errors import HardwareWarning
from . import numbers

Check = Callable[[Sequence[Any], Iterable[Tensor]], None]

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

# Others have the same name there.
CANN_NAMES = {torch.float32: "DT_FLOAT", torch.float64: "DT_DOUBLE", torch.bfloat16: "DT_BF16"}


def check_of(name: str) -> Check | None:
    """What checks the arguments and device tensors of a call of aten's operator `name`; None: nothing is known."""
    name = name.rstrip("_")
    if name in ARITHMETIC:
        return lambda args, tensors: check_arithmetic(name, args, tensors)
    if name in PRODUCTS:
        return lambda args, tensors: check_product(name, tensors)
    return None


def check_arithmetic(name: str, args: Sequence[Any], tensors: Iterable[Tensor]) -> None:
    """Raise torch_npu's error if CANN refuses a dtype."""
    for tensor in tensors:
        if tensor.dtype in UNSIGNED:
            scalar = len(args) > 1 and not (isinstance(args[1], Tensor) and args[1].device.type == "npu")
            raise refusal(name, ARITHMETIC[name][scalar], "tensor 0" if name == "cat" else "Tensor self", tensor.dtype)


def check_product(name: str, tensors: Iterable[Tensor]) -> None:
    """Raise torch_npu's error if CANN refuses a dtype, or warn."""
    taken, function = IN_DOT if name == "dot" else IN_PRODUCTS, PRODUCTS[name]
    for tensor in tensors:
        if tensor.dtype in taken:
            continue
        if tensor.is_floating_point() or tensor.is_complex():
            raise refusal(name, function, "Tensor self", tensor.dtype)
        words = f"{function} of CANN takes no {cann_name(tensor.dtype)}: an NPU refuses this call. Cast to float32."
        warnings.warn(words, HardwareWarning, stacklevel=4)  # the caller of the kernel of which this is a check
        return


def checked(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """For a composite operator, of which torch_npu has a kernel for the whole: the function, with the checks before."""
    check = check_of(name)

    def run(*args: Any, **kwargs: Any) -> Any:
        tensors = [value for value in args if isinstance(value, Tensor)]
        numbers.check(name, args)
        if check is not None:
            check(args, tensors)
        if check is None or all(tensor.is_floating_point() for tensor in tensors):
            return function(*args, **kwargs)
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
