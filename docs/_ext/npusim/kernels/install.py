"""Register the kernels in PyTorch's dispatcher."""

import functools
import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
import torch_npu  # noqa: F401  (registers the kernels that ours override)

from . import batch_norm, copies, draws, foreach, fused, masks, outputs, sparse
from .host import host_kernel
from .refusals import checked, packed
from .tables import FILLING, KEPT, LOOPS_OF_COPIES, PACKED

DEVICE, AUTOGRAD, SPARSE = "PrivateUse1", "AutogradPrivateUse1", "SparsePrivateUse1"
Register = Callable[[str, Callable[..., Any], str], None]

_libraries: list[torch.library.Library] = []  # registrations last as long as these


def install() -> None:
    """Install the kernels in this process, once."""
    if _libraries:
        return
    aten, npu = torch.library.Library("aten", "IMPL"), torch.library.Library("npu", "IMPL")
    _libraries.extend((aten, npu))
    register: Register = functools.partial(aten.impl, allow_override=True)
    with _no_garbage_collection():
        _install_generic(register)
    register("copy_", copies.copy_, DEVICE)
    register("_to_cpu", copies.to_cpu, DEVICE)
    register("_coalesce", sparse.coalesce, SPARSE)
    for name, function in {**draws.FUNCTIONS, **batch_norm.FUNCTIONS}.items():
        register(name, function, DEVICE)
    for name, function in {**fused.CELLS, **dict.fromkeys(PACKED, packed)}.items():
        for key in (DEVICE, AUTOGRAD):  # composites that autograd goes through
            register(name, function, key)
    for name, operator in fused.NPU_OPERATORS.items():
        npu.impl(name, operator, DEVICE, allow_override=True)


def _install_generic(register: Register) -> None:
    """For each aten operator of torch_npu: a host kernel, and PyTorch's own formula for autograd."""
    on_device = {name for name in _registered(DEVICE) if name.split(".")[0] not in KEPT}
    in_autograd = set(_registered(AUTOGRAD))
    for name in sorted(on_device | in_autograd):
        op = _overload(name)
        if op is None:  # an operator of torch_npu's own namespace, registered in both
            continue
        if name in LOOPS_OF_COPIES | FILLING:
            register(name, _stock(op, "CompositeExplicitAutograd"), DEVICE)
        elif _has(name, "CompositeImplicitAutograd") and not _has(name, "CPU"):
            composite = checked(name, _stock(op, "CompositeImplicitAutograd"))
            for key in (DEVICE, AUTOGRAD):
                register(name, composite, key)
        else:
            if name in on_device:
                register(name, _kernel(op), DEVICE)
            if name in in_autograd and _has(name, "Autograd"):
                # Autograd, not AutogradCPU: that recurses or drops gradients on other devices
                register(name, _stock(op, "Autograd"), AUTOGRAD)


def _kernel(op: torch._ops.OpOverload) -> Callable[..., Any]:
    kernel = outputs.checked(op, foreach.checked(op, host_kernel(op)))
    return masks.filling(op, kernel) if op._schema.name in masks.OPERATORS else kernel


@contextmanager
def _no_garbage_collection() -> Iterator[None]:
    """A thousand new kernels trigger collections of all that torch has loaded: three quarters of the time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _registered(key: str) -> list[str]:
    names = torch._C._dispatch_get_registrations_for_dispatch_key(key)
    return [name.removeprefix("aten::") for name in names if name.startswith("aten::")]


def _overload(name: str) -> torch._ops.OpOverload | None:
    base, _, overload = name.partition(".")
    try:
        return getattr(getattr(torch.ops.aten, base), overload or "default")
    except AttributeError:
        return None


def _has(name: str, key: str) -> bool:
    return bool(torch._C._dispatch_has_kernel_for_dispatch_key(f"aten::{name}", key))


def _stock(op: torch._ops.OpOverload, key: str) -> Callable[..., Any]:
    """PyTorch's own kernel for all backends: a decomposition, or a derivative formula."""
    return functools.partial(op._op_dk, getattr(torch._C.DispatchKey, key))
