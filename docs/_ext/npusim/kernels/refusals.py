"""Refuse dtypes as CANN does on the 910B, with torch_npu's error.

The table is in dtypes.py; here are 16, 32 and 64 bits without sign in arithmetic: the lists
ASCEND910B_DTYPE_SUPPORT_LIST in hicann/ops-math, math/<operator>/op_api/aclnn_<operator>.cpp and
conversion/concat_d/op_api/aclnn_cat.cpp. The text is that of hardware without what changes: time, process, source line,
the list. Lists of tensors: foreach.py.

What the comparison with the CPU over PyTorch's database runs is computed nevertheless, with a warning: int64 and bool
everywhere, and three operators in float64 and complex128.
"""

import threading
import warnings
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import torch
from torch import Tensor

from ..errors import HardwareWarning
from . import numbers
from .dtypes import REFUSED, Function

# Operator: CANN's function for a tensor as second operand, and for a number.
ARITHMETIC = {
    "add": ("aclnnAdd", "aclnnAdds"),
    "sub": ("aclnnSub", "aclnnSubs"),
    "mul": ("aclnnMul", "aclnnMuls"),
    "div": ("aclnnDiv", "aclnnDivs"),
    "cat": ("aclnnCat", "aclnnCat"),
}
UNSIGNED = frozenset([torch.uint16, torch.uint32, torch.uint64])
COMPUTED_DTYPES = frozenset([torch.int64, torch.bool])
COMPUTED_OPERATORS = frozenset(["_log_softmax_backward_data", "_softmax_backward_data", "abs"])

EIGHT_BITS = frozenset([torch.float8_e4m3fn, torch.float8_e5m2])

# torch_npu's own, before it calls CANN: the files of these names in Ascend/op-plugin, op_plugin/ops/opapi.
OWN = {
    "_linalg_svd": (frozenset([torch.float64, torch.complex64, torch.complex128]), "svd_npu only supported Float"),
    "_scaled_mm": (EIGHT_BITS, "_scaled_mm is supported only on the Ascend950 platform and after."),
    "_scaled_mm_v2": (EIGHT_BITS, "_scaled_mm is supported only on the Ascend950 platform and after."),
    "upsample_bilinear2d": (frozenset([torch.float64]), "upsample_binlinear_2d not support torch.fp64 dtypes"),
}
# Others have the same name there.
CANN_NAMES = {torch.float32: "DT_FLOAT", torch.float64: "DT_DOUBLE", torch.bfloat16: "DT_BF16"}

REFUSABLE = UNSIGNED.union(*(dtypes for dtypes, _ in OWN.values()), *REFUSED.values())

_composite = threading.local()  # .runs: torch_npu has a kernel for the whole, so that its parts are not asked


def doubtful(operator: str) -> frozenset[torch.dtype]:
    """The dtypes of operands with which a call is to be checked.

    operator: aten's name, with the overload if it has one: `max.dim`.
    """
    _, base = _names(operator)
    own = OWN[base][0] if base in OWN else frozenset()
    return own.union(_functions(operator), UNSIGNED if base in ARITHMETIC else ())


def check(operator: str, args: Sequence[Any], dtype: torch.dtype) -> None:
    """For a call with an operand of a doubtful dtype: raise torch_npu's error, or warn and let it be computed."""
    if getattr(_composite, "runs", False):
        return
    name, base = _names(operator)
    if base in OWN:
        raise RuntimeError(OWN[base][1])
    if base in ARITHMETIC:
        scalar = len(args) > 1 and not (isinstance(args[1], Tensor) and args[1].device.type == "npu")
        raise refusal(name, ARITHMETIC[base][scalar], "tensor 0" if base == "cat" else "Tensor self", dtype)
    function = _functions(operator)[dtype]
    if dtype not in COMPUTED_DTYPES and base not in COMPUTED_OPERATORS:
        raise refusal(name, function.name, f"Tensor {function.tensor}", function.dtype or dtype)
    words = f"{function.name} of CANN takes no {cann_name(dtype)}: an NPU refuses this call. Cast to float32."
    warnings.warn(words, HardwareWarning, stacklevel=3)  # at the line that calls the kernel


def checked(operator: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """For a composite operator, of which torch_npu has a kernel for the whole: the function, with the checks before."""
    name, _ = _names(operator)
    dtypes = doubtful(operator)

    def run(*args: Any, **kwargs: Any) -> Any:
        numbers.check(name, args)
        found = [value.dtype for value in args if isinstance(value, Tensor) and value.dtype in REFUSABLE]
        if not found:
            return function(*args, **kwargs)
        for dtype in found:
            if dtype in dtypes:
                check(operator, args, dtype)
                break
        outermost = not getattr(_composite, "runs", False)
        _composite.runs = True
        try:
            return function(*args, **kwargs)
        finally:
            _composite.runs = not outermost

    return run


def _functions(operator: str) -> dict[torch.dtype, Function]:
    """CANN's function that refuses, by dtype."""
    return REFUSED.get(operator) or REFUSED.get(_names(operator)[1], {})


def _names(operator: str) -> tuple[str, str]:
    """An operator's name without its overload, and that of the one that does not write in place."""
    name = operator.partition(".")[0]
    return name, name.rstrip("_")


def refusal(name: str, function: str, tensor: str, dtype: torch.dtype) -> RuntimeError:
    """torch_npu's error for a dtype that a function of CANN refuses."""
    return RuntimeError(
        f"{name}: NPU function error: call {function} failed, error code is 161002\n"
        "ERR00100 PTA call acl api failed.\n"
        f"EZ1001: {tensor} not implemented for {cann_name(dtype)}, should be in dtype support list […]."
    )


def packed(*_: Any, **__: Any) -> NoReturn:
    """For the operators on packed sequences, see tables.py."""
    raise NotImplementedError(
        "npusim: packed sequences are not simulated, since torch_npu leaves the padding in them: "
        "pad with torch.nn.utils.rnn.pad_sequence, and mask"
    )


def cann_name(dtype: torch.dtype) -> str:
    """CANN's name of a dtype."""
    return CANN_NAMES.get(dtype) or f"DT_{str(dtype).removeprefix('torch.').upper()}"
