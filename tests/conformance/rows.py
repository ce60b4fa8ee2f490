"""One row: an operator of PyTorch's database, a dtype, forward or backward, on the NPU as on the CPU."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch.testing._internal.common_methods_invocations import op_db
from torch.testing._internal.opinfo.core import OpInfo, SampleInput
from torch.utils._pytree import tree_flatten, tree_map

DEVICE = "npu:0"
FORWARD_SAMPLES, BACKWARD_SAMPLES = 4, 2  # the first ones that the database gives
TOLERANCE = 1e-4  # relative and absolute: other layouts take other paths through the same CPU kernels
DTYPES = {"float32": torch.float32, "int64": torch.int64, "bool": torch.bool}
BACKWARD = "backward"

# Their results depend on the generator, or on what was in memory: shape, dtype and device are compared.
RANDOM = frozenset(
    [
        *("bernoulli", "multinomial", "normal", "rand_like", "randn", "randn_like", "randint", "randint_like"),
        *("uniform", "exponential", "geometric", "log_normal", "cauchy", "svd_lowrank", "pca_lowrank"),
        *("nn.functional.dropout", "nn.functional.dropout2d", "nn.functional.dropout3d", "nn.functional.rrelu"),
        *("nn.functional.alpha_dropout", "nn.functional.feature_alpha_dropout"),
        *("nn.functional.fractional_max_pool2d", "nn.functional.fractional_max_pool3d"),
        "nn.functional.multi_head_attention_forward",
    ]
)
UNINITIALISED = frozenset(["empty", "empty_like", "empty_permuted", "empty_strided", "new_empty", "new_empty_strided"])
HOST_ARGUMENTS = frozenset(["tensor_split"])  # torch wants its indices on the CPU, whatever the device

OPERATORS: dict[str, OpInfo] = {".".join(filter(None, (op.name, op.variant_test_name))): op for op in op_db}


class DifferenceError(Exception):
    """The NPU's result is not the CPU's."""


def kinds(op: OpInfo) -> list[str]:
    """The operator's rows: its dtypes, then its backward."""
    supported = op.supported_dtypes("cpu")
    forward = [name for name, dtype in DTYPES.items() if dtype in supported]
    return [*forward, BACKWARD] if "float32" in forward and op.supports_autograd else forward


def outcome(op: OpInfo, kind: str) -> tuple[str, str]:
    """(agrees, differs or no sample; for a difference: what it is)."""
    run = gradients if kind == BACKWARD else forward
    compared = 0
    for sample in samples(op, kind):
        try:
            expected = run(op, sample)
        except Exception:  # the CPU refuses this sample too
            continue
        if expected is None:
            continue
        compared += 1
        try:
            compare(expected, run(op, on_device(op, sample)), values=deterministic(op, sample))
        except Exception as error:
            return "differs", f"{type(error).__name__}: {error}".splitlines()[0][:200]
    return ("agrees", "") if compared else ("no sample", "")


def samples(op: OpInfo, kind: str) -> Iterator[SampleInput]:
    """The first few samples on the CPU."""
    backward = kind == BACKWARD
    every = op.sample_inputs("cpu", DTYPES.get(kind, torch.float32), requires_grad=backward)
    return itertools.islice(every, BACKWARD_SAMPLES if backward else FORWARD_SAMPLES)


def forward(op: OpInfo, sample: SampleInput) -> Any:
    """The operator's result."""
    torch.manual_seed(0)
    return op(sample.input, *sample.args, **sample.kwargs)


def gradients(op: OpInfo, sample: SampleInput) -> Any:
    """The gradients of the sum of all results; None if nothing is differentiable."""
    results, inputs = tensors(forward(op, sample)), tensors((sample.input, sample.args, sample.kwargs))
    results = [result for result in results if result.requires_grad and result.numel()]
    inputs = [tensor for tensor in inputs if tensor.requires_grad]
    if not results or not inputs:
        return None
    return torch.autograd.grad(sum(map(total, results)), inputs, allow_unused=True)


def total(result: torch.Tensor) -> torch.Tensor:
    dense = result if result.layout is torch.strided else result.to_dense()
    return (dense.abs() if dense.is_complex() else dense).float().sum()


def tensors(value: Any) -> list[torch.Tensor]:
    return [leaf for leaf in tree_flatten(value)[0] if isinstance(leaf, torch.Tensor)]


def on_device(op: OpInfo, sample: SampleInput) -> SampleInput:
    """The same sample with its tensors, strides and storages on the NPU, and its device arguments likewise."""
    keep: Callable[[Any], Any] = (lambda leaf: leaf) if op.name in HOST_ARGUMENTS else moved
    args, kwargs = tree_map(keep, sample.args), tree_map(keep, sample.kwargs)
    return SampleInput(tree_map(moved, sample.input), args=args, kwargs=kwargs)


def moved(leaf: Any) -> Any:
    if isinstance(leaf, torch.device) or (isinstance(leaf, str) and leaf == "cpu"):
        return type(leaf)(DEVICE)
    if not isinstance(leaf, torch.Tensor):
        return leaf
    tensor = leaf.detach()
    if tensor.layout is torch.strided and not tensor.is_nested and not tensor.is_conj() and not tensor.is_neg():
        memory = torch.empty(0, dtype=tensor.dtype).set_(tensor.untyped_storage())
        result = memory.to(DEVICE).as_strided(tensor.shape, tensor.stride(), tensor.storage_offset())
    else:
        result = tensor.to(DEVICE)
    return result.requires_grad_(leaf.requires_grad)


def deterministic(op: OpInfo, sample: SampleInput) -> bool:
    return op.name not in RANDOM | UNINITIALISED and not sample.kwargs.get("dropout_p")


def compare(expected: Any, got: Any, *, values: bool) -> None:
    """Raise DifferenceError or AssertionError unless structure, device, dtype, shape, layout and values agree."""
    host, device = tree_flatten(expected)[0], tree_flatten(got)[0]
    if len(host) != len(device):
        raise DifferenceError(f"{len(device)} results instead of {len(host)}")
    for wanted, result in zip(host, device, strict=True):
        if isinstance(wanted, torch.Tensor):
            compare_tensors(wanted, result, values=values)
        elif values and isinstance(wanted, (bool, int, float)) and wanted != result and wanted == wanted:
            raise DifferenceError(f"{result} instead of {wanted}")


def compare_tensors(expected: torch.Tensor, got: Any, *, values: bool) -> None:
    if not isinstance(got, torch.Tensor) or got.device != torch.device(DEVICE):
        raise DifferenceError(f"{type(got).__name__} on {getattr(got, 'device', None)}")
    for name in ("dtype", "shape", "layout"):
        if getattr(expected, name) != getattr(got, name):
            raise DifferenceError(f"{name} {getattr(got, name)} instead of {getattr(expected, name)}")
    if values:
        dense = [tensor.detach().to_dense() for tensor in (got.cpu(), expected)]
        torch.testing.assert_close(*dense, rtol=TOLERANCE, atol=TOLERANCE, equal_nan=True)
