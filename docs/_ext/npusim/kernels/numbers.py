"""0-dim tensors of the CPU among NPU tensors: other devices take them as numbers, torch_npu only in some places.

Its kernels take one as a number where the first table says so. Elsewhere they refuse it, as ConvertType does in
Ascend/op-plugin, op_plugin/utils/op_api_common.h. Where the second table says so, they make a tensor of the device of
it. Seen with a libopapi.so of nothing but the names of CANN's functions, over the samples of PyTorch's database.
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from ..counters import count_copy

_ARITHMETIC = ("add", "sub", "rsub", "mul", "div", "floor_divide", "remainder", "pow", "atan2", "maximum", "minimum")
_COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge", "bitwise_and", "bitwise_or", "bitwise_xor")
# Operator: positions of the arguments.
TAKEN: dict[str, tuple[int, ...]] = {
    **dict.fromkeys((*_ARITHMETIC, *_COMPARISONS, "linspace", "logspace", "copy", "resize_as"), (0, 1)),
    **dict.fromkeys(("eq_", "bitwise_xor_"), ()),
    **dict.fromkeys(("logical_and", "logical_or", "bernoulli", "fill"), (1,)),
    **dict.fromkeys(("lerp", "masked_fill"), (2,)),
    "fmod": (0,),
    "index_fill": (3,),
    "where": (0, 1, 2),
    "_amp_foreach_non_finite_check_and_unscale": (1, 2),
}
COPIED: dict[str, tuple[int, ...]] = {
    **dict.fromkeys(("sub", "mul", "div", "floor_divide", "fmod", "pow"), (0,)),
    **dict.fromkeys(("atan2", "maximum", "minimum"), (0, 1)),
    **dict.fromkeys(("logical_and", "logical_or"), (1,)),
    "masked_fill": (2,),
    "where": (0, 1, 2),
}


def takes_second(name: str) -> bool:
    """Whether aten's operator `name` takes a number as the second of two operands, so that `check` finds nothing."""
    taken, copied = _positions(name)
    return 1 in taken and 1 not in copied


def _positions(name: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
    base = name.rstrip("_")
    return TAKEN.get(name, TAKEN.get(base, ())), COPIED.get(base, ())


def check(name: str, args: Sequence[Any]) -> None:
    """Raise torch's error if aten's operator `name` refuses a number among its arguments; count those it copies."""
    taken, copied = _positions(name)
    for position, value in enumerate(args):
        if isinstance(value, Tensor) and value.is_cpu and not value.dim():
            if position not in taken:
                device = next((each.device for each in args if isinstance(each, Tensor) and not each.is_cpu), "npu")
                raise different_devices(device, value.device)
            if position in copied:
                count_copy("h2d", value.element_size())


def different_devices(device: torch.device | str, other: torch.device) -> RuntimeError:
    """torch's error for tensors on more than one device."""
    words = f"but found at least two devices, {device} and {other}!"
    return RuntimeError(f"Expected all tensors to be on the same device, {words}")
