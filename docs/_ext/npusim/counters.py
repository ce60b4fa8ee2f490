"""Data movement, counted exactly in each process: facts about performance that need no hardware.

h2d, d2h     copies from the host to a device and back, of at least one element
peer         copies from one device to another
*_bytes      what they moved, in bytes of the target's dtype: torch_npu casts before it copies to the device, and on
             the device before it copies to the host
ops          operators computed on a device. A factory that fills its result is one; views, changes of metadata and
             copies (casts among them) are none; a composite operator counts as the operators that it calls
fallback     operators without a kernel in torch_npu, which it computes on the CPU. Those with a list of tensors
             among their arguments (histogramdd, jagged conversions) count once for the list too
sync         times the host waited for a device: torch.npu.synchronize() and its like on streams and events, reads of
             a value (.item(), .tolist(), equal), operators whose result has a shape that depends on values (nonzero,
             masks as indices), blocking copies to the host (in torch_npu all but `non_blocking=True` to a contiguous
             tensor in pinned memory). A blocking copy *to* a device is not counted

A host mask as an index is a copy to the device and a synchronisation. Writing one value by a mask of the device is a
fill, for which torch_npu reads the value; `x[mask] = 1` makes a tensor of the number first, `masked_fill_` does not.
A 0-dim CPU tensor as an operand goes along as a number, which is no copy; to some operators torch_npu copies it, see
kernels/numbers.py.
"""

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager

from .errors import SetupError
from .library import runtime

# The kernels count here what bypasses the runtime; the runtime counts the rest in counters.c.
COUNTS = dict.fromkeys(("h2d", "h2d_bytes", "d2h", "d2h_bytes", "peer", "peer_bytes", "ops", "fallback", "sync"), 0)
IN_RUNTIME = ("h2d", "h2d_bytes", "d2h", "d2h_bytes", "peer", "peer_bytes", "sync")


def counters() -> dict[str, int]:
    """The counts of this process so far, by name. SetupError if it does not run on the simulated device."""
    if os.environ.get("NPUSIM") != "1":
        raise SetupError("npusim counts in programs started with `python -m npusim` only")
    values = (ctypes.c_uint64 * len(IN_RUNTIME))()
    runtime().npusim_counters(values)
    total = dict(COUNTS)
    for name, value in zip(IN_RUNTIME, values, strict=True):
        total[name] += value
    return total


@contextmanager
def count() -> Iterator[dict[str, int]]:
    """Count what a block moves: `with npusim.count() as moves: …`, then `moves["h2d"]`. Filled at the end."""
    before = counters()
    moves: dict[str, int] = {}
    try:
        yield moves
    finally:
        moves.update({name: value - before[name] for name, value in counters().items()})


def count_copy(kind: str, n_bytes: int) -> None:
    """Count a copy of a kernel: kind is h2d, d2h or peer."""
    if n_bytes:
        COUNTS[kind] += 1
        COUNTS[f"{kind}_bytes"] += n_bytes
