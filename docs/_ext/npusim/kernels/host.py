"""The generic kernel: an operator on NPU tensors, computed by its CPU kernel on their memory."""

import functools
import re
from collections.abc import Callable
from typing import Any, TypeVar

import torch
from torch import Tensor

from ..counters import COUNTS, count_copy
from . import numbers, refusals
from .call import PLAIN, Call, count_wait
from .generators import host_stream
from .tables import COPIES, INDEXING, MIXED_DEVICES

Kernel = TypeVar("Kernel", bound=Callable[..., Any])
without_torch_function = torch._C.DisableTorchFunction
below_dispatch_of_autograd = torch._C._AutoDispatchBelowADInplaceOrView


def below_autograd(function: Kernel) -> Kernel:
    """Run a kernel as a C++ kernel runs: no autograd, no modes or subclasses of torch_function."""

    @functools.wraps(function)
    def run(*args: Any, **kwargs: Any) -> Any:
        with without_torch_function(), below_dispatch_of_autograd():
            return function(*args, **kwargs)

    return run  # type: ignore[return-value]


def host_kernel(op: torch._ops.OpOverload) -> Callable[..., Any]:
    """A kernel for `op` on NPU tensors."""
    schema = op._schema
    name = schema.name.split("::")[1]
    computes = name not in COPIES and not is_view(op)
    one_device, indexing = name not in MIXED_DEVICES, name in INDEXING
    loop = loop_over_lists(op)
    waits = not indexing and waits_for_values(op)
    takes_second = numbers.takes_second(name)
    operator = f"{name}.{schema.overload_name}"
    doubtful = refusals.doubtful(operator)
    run = runner(op)
    compute = op._op  # private: calling `op` does the same through one more Python frame

    # Half of what a call costs is Python's: no function or block here without need.
    def kernel(*args: Any, **kwargs: Any) -> Any:
        with without_torch_function(), below_dispatch_of_autograd():
            call = Call()
            host_args = [value if type(value) in PLAIN else call.to_host(value) for value in args]
            host_kwargs = {key: call.to_host(value) for key, value in kwargs.items()} if kwargs else kwargs
            if (
                call.numbers
                and call.device is not None
                and not (takes_second and len(args) == 2 and call.pairs[0][0] is args[0])
            ):
                numbers.check(name, args)
            if one_device and call.stray is not None and call.device is not None:
                if loop:
                    return loop(*args, **kwargs)
                raise numbers.different_devices(call.device, call.stray)
            if doubtful:
                for tensor, _ in call.pairs:
                    if tensor.dtype in doubtful:
                        refusals.check(operator, args, tensor.dtype)
                        break
            COUNTS["ops"] += computes
            device = call.asked or call.device
            if waits:
                count_wait(device)
            if indexing:
                check_indexed(args[0], *args[2:3])
                count_indices(args[1], device)
            try:
                result = run(call, host_args, host_kwargs) if run else compute(*host_args, **host_kwargs)
            except RuntimeError as error:
                check_memory(device, error)
                raise
            return call.to_device(result)

    return kernel


def check_memory(device: torch.device | None, error: RuntimeError) -> None:
    """Where the host has no memory for a result, raise torch_npu's error if the device has none either."""
    asked = re.search(r"DefaultCPUAllocator: .*you tried to allocate (\d+) bytes", str(error))
    if asked is None:
        return
    try:
        torch.empty(int(asked[1]), dtype=torch.uint8, device=device or "npu")
    except torch.OutOfMemoryError as of_device:
        raise of_device from None


def loop_over_lists(op: torch._ops.OpOverload) -> Callable[..., Any] | None:
    """torch's own loop over lists of tensors, which may lie on several devices; None for other operators."""
    key = torch._C.DispatchKey.CompositeExplicitAutograd
    if not op._schema.name.startswith("aten::_foreach_") or not op.has_kernel_for_dispatch_key(key):
        return None
    return functools.partial(op._op_dk, key)  # private: `op` itself would come back to our kernel


def check_indexed(target: Tensor, *values: Tensor) -> None:
    """Only indices may be elsewhere: raise torch's error for a tensor of the host, or values of another device."""
    for tensor in (target, *values):
        if tensor.is_cpu or tensor.device != target.device:
            raise numbers.different_devices(target.device, tensor.device)


def runner(op: torch._ops.OpOverload) -> Callable[[Call, list[Any], dict[str, Any]], Any] | None:
    """Runs an operator that writes its arguments or draws random numbers; None for others, which are just called."""
    arguments = op._schema.arguments
    written = [(i, a.name) for i, a in enumerate(arguments) if a.alias_info and a.alias_info.is_write]
    generator = next((i for i, a in enumerate(arguments) if a.name == "generator"), None)
    random = generator is not None or torch.Tag.nondeterministic_seeded in op.tags

    def run(call: Call, args: list[Any], kwargs: dict[str, Any]) -> Any:
        if random:
            with host_stream(generator, call.asked or call.device, args, kwargs):
                result = run_resizing(op, written, call, args, kwargs)
        else:
            result = run_resizing(op, written, call, args, kwargs)
        if written:
            call.write_back()
        return result

    return run if written or random else None


def run_resizing(
    op: torch._ops.OpOverload,
    written: list[tuple[int, str]],
    call: Call,
    args: list[Any],
    kwargs: dict[str, Any],
) -> Any:
    """Run the operator; if it wants to grow a tensor that it writes (`out=`), run it once more with real copies."""
    try:
        return op(*args, **kwargs)
    except RuntimeError as error:
        if "not resizable" not in str(error):
            raise
    for i, name in written:
        if name in kwargs:
            kwargs[name] = call.make_resizable(kwargs[name])
        elif i < len(args):
            args[i] = call.make_resizable(args[i])
    return op(*args, **kwargs)


# ---- what counts as what, see npusim.counters ----


def is_view(op: torch._ops.OpOverload) -> bool:
    """Whether the operator only makes a view or changes metadata."""
    aliases = (result.alias_info for result in op._schema.returns)
    return torch.Tag.inplace_view in op.tags or any(alias and not alias.is_write for alias in aliases)


def waits_for_values(op: torch._ops.OpOverload) -> bool:
    """Whether the host must know values before it can go on: a result, or its shape, depends on them."""
    return not {torch.Tag.data_dependent_output, torch.Tag.dynamic_output_shape}.isdisjoint(op.tags)


def count_indices(indices: list[Tensor | None], device: torch.device | None) -> None:
    """Indices on the host are copied to the device; masks become positions, whose number the host waits for."""
    for index in indices:
        if index is None:
            continue
        if index.device.type == "cpu":
            count_copy("h2d", index.numel() * index.element_size())
        if index.dtype in (torch.bool, torch.uint8):
            count_wait(device)
