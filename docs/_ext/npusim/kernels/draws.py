"""Random draws that follow the device's stream; docs/reference/npusim.md says with what evidence.

normal_ and uniform_ are checked against output of hardware (tests/npusim/test_random.py). The others are made of them
as in the source: Ascend/op-plugin, op_plugin/ops/opapi/*KernelNpuOpApi.cpp, and hicann/ops-math,
random/dsa_random_uniform/op_host/op_api/aclnn_random.cpp, in their paths for the 910B.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from ..counters import COUNTS
from . import philox
from .call import Call
from .generators import take
from .host import below_autograd

_scratch = torch.Generator()

# op-plugin, RandomKernelNpuOpApi.cpp: the bound of random_ that is given none; integers have their largest value.
UNBOUNDED = {torch.half: (1 << 11) + 1, torch.bfloat16: (1 << 8) + 1, torch.float: (1 << 24) + 1, torch.bool: 1}


def _check(target: Tensor, function: str, *arguments: float | None) -> None:
    """Raise PyTorch's own error for arguments or a dtype that the operator refuses."""
    getattr(torch.empty(1, dtype=target.dtype), function)(*arguments, generator=_scratch)


def _fill(target: Tensor, values: Tensor) -> Tensor:
    COUNTS["ops"] += 1
    Call().to_host(target).copy_(values.view(target.shape))
    return target


@below_autograd
def normal_(target: Tensor, mean: float = 0.0, std: float = 1.0, *, generator: torch.Generator | None = None) -> Tensor:
    """aten::normal_."""
    _check(target, "normal_", mean, std)
    seed, offset = take(generator, target.device)
    if not target.numel():
        return target
    if target.is_complex():
        parts = torch.from_numpy(philox.normal(seed, offset, 2 * target.numel()))
        values = torch.view_as_complex(parts.view(-1, 2)) / 2**0.5
    else:
        values = torch.from_numpy(philox.normal(seed, offset, target.numel()))
    return _fill(target, values.mul_(std).add_(mean))


@below_autograd
def uniform_(
    target: Tensor,
    start: float = 0.0,
    to: float = 1.0,
    *,
    generator: torch.Generator | None = None,
    **named: Any,
) -> Tensor:
    """aten::uniform_, whose lower bound is named `from`, a word that Python reserves."""
    start = named.get("from", start)
    _check(target, "uniform_", start, to)
    seed, offset = take(generator, target.device)
    if not target.numel():
        return target
    values = torch.from_numpy(philox.uniform(seed, offset, target.numel()))
    return _fill(target, values.mul_(to - start).add_(start))


@below_autograd
def random_(target: Tensor, *, generator: torch.Generator | None = None) -> Tensor:
    """aten::random_: from 0 up to the bound of the dtype."""
    _check(target, "random_")
    return _integers(target, 0, _bound(target.dtype), generator)


@below_autograd
def random_from(target: Tensor, start: int, to: int | None, *, generator: torch.Generator | None = None) -> Tensor:
    """aten::random_.from: integers from `start` up to but without `to`."""
    _check(target, "random_", start, to)
    return _integers(target, start, _bound(target.dtype) if to is None else to, generator)


@below_autograd
def random_to(target: Tensor, to: int, *, generator: torch.Generator | None = None) -> Tensor:
    """aten::random_.to: integers from 0 up to but without `to`."""
    _check(target, "random_", to)
    return _integers(target, 0, to, generator)


def _bound(dtype: torch.dtype) -> int:
    return UNBOUNDED.get(dtype) or torch.iinfo(dtype).max


def _integers(target: Tensor, start: int, to: int, generator: torch.Generator | None) -> Tensor:
    """A uniform draw between the bounds in float32, then a cast."""
    seed, offset = take(generator, target.device)
    if not target.numel():
        return target
    values = torch.from_numpy(philox.uniform(seed, offset, target.numel())).mul(to - start).add(start)
    if target.dtype is torch.bool:
        return _fill(target, values.round())
    # Beyond 2**24 a float32 rounds up to the bound, which torch promises to leave out.
    return _fill(target, values.floor().clamp(start, to - 1))


@below_autograd
def exponential_(target: Tensor, lambd: float = 1.0, *, generator: torch.Generator | None = None) -> Tensor:
    """aten::exponential_: the logarithm of 1 - u, in the dtype of the target."""
    _check(target, "exponential_", lambd)
    if lambd == float("inf"):
        return target.zero_()
    seed, offset = take(generator, target.device)
    if not target.numel():
        return target
    largest = 1 - torch.finfo(target.dtype).eps / 2
    u = torch.from_numpy(philox.uniform(seed, offset, target.numel())).to(target.dtype)
    return _fill(target, u.neg().add(1).clamp(max=largest).log().mul(-1 / lambd))


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "normal_": normal_,
    "uniform_": uniform_,
    "exponential_": exponential_,
    "random_": random_,
    "random_.from": random_from,
    "random_.to": random_to,
}
