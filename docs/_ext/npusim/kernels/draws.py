"""Random draws whose bits are the device's: normal_, uniform_ and integers between bounds.

The first two are checked against output of hardware (tests/npusim/test_random.py). Integers follow op-plugin's
source, a uniform draw between the bounds in float32, then a cast; no public output of hardware confirms them.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from ..counters import COUNTS
from . import philox
from .call import Call
from .generators import take
from .host import below_autograd, host_kernel

_scratch = torch.Generator()


def _check(target: Tensor, function: str, *arguments: float) -> None:
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
    return _fill(target, values.mul(std).add(mean))


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
    return _fill(target, values.mul(to - start).add(start))


_random_from_on_host = host_kernel(getattr(torch.ops.aten.random_, "from"))


@below_autograd
def random_from(target: Tensor, start: int, to: int | None, *, generator: torch.Generator | None = None) -> Tensor:
    """aten::random_.from: integers from `start` up to but without `to`."""
    if to is None:
        return _random_from_on_host(target, start, to, generator=generator)
    _check(target, "random_", start, to)
    seed, offset = take(generator, target.device)
    if not target.numel():
        return target
    values = torch.from_numpy(philox.uniform(seed, offset, target.numel()))
    # Beyond 2**24 a float32 rounds up to the bound, which torch promises to leave out.
    return _fill(target, values.mul(to - start).add(start).floor().clamp(start, to - 1))


@below_autograd
def random_to(target: Tensor, to: int, *, generator: torch.Generator | None = None) -> Tensor:
    """aten::random_.to: integers from 0 up to but without `to`."""
    return random_from(target, 0, to, generator=generator)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "normal_": normal_,
    "uniform_": uniform_,
    "random_.from": random_from,
    "random_.to": random_to,
}
