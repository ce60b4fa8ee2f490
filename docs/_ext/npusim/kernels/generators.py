"""NPU generators: (seed, offset) pairs that move on, and streams for operators whose device bits are unknown."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch

from .aliases import HOST
from .numbers import different_devices

# Every random operator of torch_npu moves the offset by 12 whatever the size: 10, rounded up to a multiple of 4
# (Ascend/op-plugin, opapi/*KernelNpuOpApi.cpp and NPUGeneratorImpl.cpp of Ascend/pytorch). geometric_, cauchy_ and
# log_normal_ do not: torch_npu has no kernel for them and falls back to the CPU and its generator.
OFFSET_STEP = 12


def take(generator: torch.Generator | None, device: torch.device | None) -> tuple[int, int]:
    """(seed, offset) of the generator, the device's default one if None; then it moves on.

    device: where the numbers go. It may be the host: torch also looks at the generator to choose the kernel.
    """
    if generator is None:
        index = device.index if device is not None else None
        generator = torch.npu.default_generators[torch.npu.current_device() if index is None else index]
    elif generator.device.type != "npu":
        raise RuntimeError(f"Expected a 'npu' device type for generator but found '{generator.device.type}'")
    elif device is None or device.type != "npu":
        raise different_devices(generator.device, HOST)
    seed, offset = generator.initial_seed(), generator.get_offset()
    generator.set_offset(offset + OFFSET_STEP)
    return seed, offset


@contextmanager
def host_stream(
    position: int | None, device: torch.device | None, args: list[Any], kwargs: dict[str, Any]
) -> Iterator[None]:
    """Give a random operator's CPU kernel a stream that depends on the NPU generator's seed and offset alone.

    The values are reproducible, not the device's. `position` is the generator's among the arguments, None if the
    operator takes none. Replaces the generator in `args` or `kwargs`.
    """
    positional = position is not None and position < len(args)
    if position is None:
        with _default_generator_lent(_mixed_seed(*take(None, device))):
            yield
        return
    seed = _mixed_seed(*take(args[position] if positional else kwargs.get("generator"), device))
    host_generator = torch.Generator().manual_seed(seed)
    if positional:
        args[position] = host_generator
    else:
        kwargs["generator"] = host_generator
    yield


def _mixed_seed(seed: int, offset: int) -> int:
    # Never the seed itself: or, at offset 0, the NPU would draw the numbers that the CPU draws.
    return (seed ^ (offset + 1) * 0x9E3779B97F4A7C15) & (1 << 63) - 1


@contextmanager
def _default_generator_lent(seed: int) -> Iterator[None]:
    """For CPU kernels that take no generator and use the default one."""
    state = torch.default_generator.get_state()
    torch.default_generator.manual_seed(seed)
    try:
        yield
    finally:
        torch.default_generator.set_state(state)
