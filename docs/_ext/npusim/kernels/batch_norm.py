"""The parts of batch normalisation over several ranks, which have no CPU kernel: torch.nn.SyncBatchNorm calls them."""

import functools
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from ..counters import COUNTS
from .call import Call
from .host import below_autograd


def _on_host(function: Callable[..., Any]) -> Callable[..., Any]:
    """One operator on NPU tensors, computed by a function of CPU tensors."""

    @below_autograd
    @functools.wraps(function)
    def run(*args: Any) -> Any:
        COUNTS["ops"] += 1
        call = Call()
        return call.to_device(function(*map(call.to_host, args)))

    return run


def _by_channel(values: Tensor, like: Tensor) -> Tensor:
    return values.view(-1, *[1] * (like.dim() - 2))


def _but_channels(tensor: Tensor) -> list[int]:
    return [0, *range(2, tensor.dim())]


@_on_host
def stats(x: Tensor, eps: float) -> tuple[Tensor, Tensor]:
    """aten::batch_norm_stats: mean and reciprocal deviation of each channel."""
    variance, mean = torch.var_mean(x.float(), _but_channels(x), correction=0)
    return mean, torch.rsqrt(variance + eps)


@_on_host
def gather_stats(
    x: Tensor,
    means: Tensor,
    reciprocals: Tensor,
    running_mean: Tensor | None,
    running_variance: Tensor | None,
    momentum: float,
    eps: float,
    counts: Tensor,
) -> tuple[Tensor, Tensor]:
    """aten::batch_norm_gather_stats_with_counts: those of all ranks, of which each has its row; moves the averages."""
    parts, total = counts.view(-1, 1).float(), counts.sum().float()
    mean = (means * parts).sum(0) / total
    squares = ((reciprocals**-2 - eps + (means - mean) ** 2) * parts).sum(0)
    if running_mean is not None:
        running_mean.lerp_(mean.to(running_mean.dtype), momentum)
    if running_variance is not None:
        running_variance.lerp_((squares / (total - 1)).to(running_variance.dtype), momentum)
    return mean, torch.rsqrt(squares / total + eps)


@_on_host
def elements(
    x: Tensor, weight: Tensor | None, bias: Tensor | None, mean: Tensor, reciprocal: Tensor, _eps: float
) -> Tensor:
    """aten::batch_norm_elemt."""
    result = (x.float() - _by_channel(mean, x)) * _by_channel(reciprocal, x)
    if weight is not None:
        result = result * _by_channel(weight, x)
    if bias is not None:
        result = result + _by_channel(bias, x)
    return result.to(x.dtype)


@_on_host
def backward_reduce(
    grad: Tensor, x: Tensor, mean: Tensor, reciprocal: Tensor, weight: Tensor | None, *_wanted: bool
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """aten::batch_norm_backward_reduce: the two sums over this rank, and the gradients of weight and bias."""
    total = grad.float().sum(_but_channels(x))
    moment = (grad.float() * (x.float() - _by_channel(mean, x))).sum(_but_channels(x))
    dtype = mean.dtype if weight is None else weight.dtype
    return total, moment, (moment * reciprocal).to(dtype), total.to(dtype)


@_on_host
def backward_elements(
    grad: Tensor,
    x: Tensor,
    mean: Tensor,
    reciprocal: Tensor,
    weight: Tensor | None,
    total: Tensor,
    moment: Tensor,
    counts: Tensor,
) -> Tensor:
    """aten::batch_norm_backward_elemt."""
    count = counts.sum()
    scale = reciprocal if weight is None else reciprocal * weight
    slope = _by_channel(moment / count * reciprocal**2, x)
    centred = grad.float() - _by_channel(total / count, x) - (x.float() - _by_channel(mean, x)) * slope
    return (centred * _by_channel(scale, x)).to(x.dtype)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "batch_norm_stats": stats,
    "batch_norm_gather_stats_with_counts": gather_stats,
    "batch_norm_elemt": elements,
    "batch_norm_backward_reduce": backward_reduce,
    "batch_norm_backward_elemt": backward_elements,
}
