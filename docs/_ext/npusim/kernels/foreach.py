"""Arithmetic on lists of tensors: what torch_npu and CANN refuse, on the 910B, of the dtypes that the CPU takes.

Tensors that are all alike go to one function of CANN at once, others to the operator for one tensor, each by itself;
and so do tensors whose dtype the operation changes. Which function the wheel's own kernels call for which dtype, and
what they refuse themselves: seen with a libopapi.so of nothing but the names of CANN's functions. CANN's lists of
dtypes: its documents of each function in hicann/ops-nn, foreach/<operator>/docs. They grow with its versions; refused
here is what none has.
"""

import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from . import refusals

NUMBERS = (int, float, complex)
FLOATS = frozenset([torch.float, torch.half, torch.bfloat16])
FLOATS_AND_INT = FLOATS | {torch.int32}
SMALL = FLOATS_AND_INT | {torch.int16, torch.int8, torch.uint8}


class Function(NamedTuple):
    """What tensors that are all alike go to at once."""

    refusal: str  # CANN's function and its name of the first tensor, or the text of torch_npu's own error
    taken: frozenset[torch.dtype]
    whole: bool = False  # whether whole numbers, bool among them, go there too

    def error(self, operator: str, dtype: torch.dtype) -> RuntimeError:
        """For tensors of a dtype that it does not take."""
        if not self.refusal.startswith("aclnn"):
            return RuntimeError(self.refusal)
        function, tensor = self.refusal.split()
        return refusals.refusal(operator, function, f"Tensor {tensor}", dtype)


_OWN = Function("input must be half, float or bfloat16", FLOATS)
_ROUND = Function("aclnnForeachRoundOffNumberV2 (*self)[0]", SMALL | {torch.int64}, whole=True)
_POW = Function("input must be half, float, int32 or bfloat16", FLOATS_AND_INT)
_ADDCDIV = Function("aclnnForeachAddcdivScalarV2 (*self)[0]", FLOATS)
_ADDCMUL = Function("aclnnForeachAddcmulScalarV2 (*self)[0]", FLOATS_AND_INT)

FUNCTIONS = {
    "add.Scalar": Function("aclnnForeachAddScalarV2 (*self)[0]", SMALL, whole=True),
    "add.List": Function("aclnnForeachAddListV2 (*self)[0]", SMALL, whole=True),
    "add.ScalarList": Function("aclnnForeachAddScalarList (*x)[0]", FLOATS_AND_INT),
    "sub.Scalar": Function("input must be half, float, int32 or bfloat16", FLOATS_AND_INT, whole=True),
    "sub.List": Function("aclnnForeachSubListV2 (*self)[0]", SMALL, whole=True),
    "sub.ScalarList": Function("aclnnForeachSubScalarList (*x)[0]", FLOATS_AND_INT),
    "mul.Scalar": Function("aclnnForeachMulScalarV2 (*self)[0]", FLOATS_AND_INT, whole=True),
    "mul.List": Function("aclnnForeachMulList (*x1)[0]", SMALL, whole=True),
    "mul.ScalarList": Function("aclnnForeachMulScalarList (*x)[0]", FLOATS_AND_INT),
    "div.Scalar": _OWN,
    "div.List": Function("aclnnForeachDivList (*x1)[0]", FLOATS),
    "div.ScalarList": _OWN,
    "pow.Scalar": _POW,
    "pow.List": Function("aclnnForeachPowList (*x1)[0]", FLOATS_AND_INT),
    "pow.ScalarList": Function("aclnnForeachPowScalarList (*x)[0]", FLOATS_AND_INT),
    "lerp.Scalar": Function("aclnnForeachLerpScalar (*x1)[0]", FLOATS),
    "lerp.List": Function("aclnnForeachLerpList (*x1)[0]", FLOATS, whole=True),
    "addcdiv.Scalar": _ADDCDIV,
    "addcmul.Scalar": _ADDCMUL,
    "norm.Scalar": Function("aclnnForeachNorm (*x)[0]", FLOATS),
    "zero_": Function("input must be half, float, int or short or bfloat16", FLOATS_AND_INT | {torch.int16}),
    "neg": Function("input must be half or float or int32 or bfloat16", FLOATS_AND_INT),
    **dict.fromkeys(["exp", "expm1", "log", "log10", "log1p", "log2", "reciprocal"], _OWN),
    **dict.fromkeys(["ceil", "floor", "frac", "round", "trunc"], _ROUND),
    **{
        name: Function(f"aclnnForeach{name.capitalize()} {tensor}", FLOATS)
        for name, tensor in {"cos": "(*x)[0]", "sigmoid": "(*x)[0]", "sqrt": "(*self)[0]", "tanh": "(*x)[0]"}.items()
    },
}


def checked(op: torch._ops.OpOverload, kernel: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel for `op`, with a check before it if it takes lists of which something is known."""
    operator, overload = op._schema.name.split("::")[1], op._schema.overload_name
    name = operator.removeprefix("_foreach_")
    key = ".".join(filter(None, [name, overload]))
    function = FUNCTIONS.get(key) or FUNCTIONS.get(key.replace("_.", ".").removesuffix("_"))
    if function is None or not operator.startswith("_foreach_"):
        return kernel

    single = name.replace("norm", "linalg_vector_norm")
    doubtful = refusals.doubtful(single)

    @functools.wraps(kernel)
    def run(*args: Any, **kwargs: Any) -> Any:
        values = (*args, *kwargs.values())
        lists = [value for value in values if _is_list_of(Tensor, value)]
        if not {tensor.dtype for tensors in lists for tensor in tensors} <= function.taken:
            calls = list(_calls(values, lists))
            if _at_once(function, calls):
                raise function.error(operator.rstrip("_"), lists[0][0].dtype)
            for tensors, numbers in calls:
                for tensor in tensors:
                    if tensor.dtype in doubtful:
                        refusals.check(single, (*tensors, *numbers), tensor.dtype)
        return kernel(*args, **kwargs)

    return run


def _is_list_of(kind: Any, value: Any) -> bool:
    return isinstance(value, (list, tuple)) and len(value) > 0 and isinstance(value[0], kind)


def _calls(values: Sequence[Any], lists: Sequence[Sequence[Tensor]]) -> Iterator[tuple[Sequence[Tensor], list[Any]]]:
    """The tensors and the numbers of each single operation."""
    same = [value for value in values if isinstance(value, NUMBERS)]
    own = [value for value in values if _is_list_of(NUMBERS, value)]
    for i, tensors in enumerate(zip(*lists, strict=False)):
        yield tensors, [*same, *(each[i] for each in own)]


def _at_once(function: Function, calls: Sequence[tuple[Sequence[Tensor], list[Any]]]) -> bool:
    """After can_use_fast_route in PyTorch's ATen/native/ForeachUtils.h."""
    first = calls[0][0][0]
    if not (function.whole or first.is_floating_point() or first.is_complex()):
        return False
    for tensors, numbers in calls:
        like = tensors[0]
        if not _is_dense(like) or any((each.dtype, each.device) != (first.dtype, first.device) for each in tensors):
            return False
        if any((each.shape, each.stride()) != (like.shape, like.stride()) for each in tensors):
            return False
        if any(torch.result_type(like, number) != like.dtype for number in numbers):
            return False
    return True


def _is_dense(tensor: Tensor) -> bool:
    span = 1 + sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride(), strict=True))
    return bool(tensor.is_contiguous() or span == tensor.numel())
