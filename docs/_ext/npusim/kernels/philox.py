"""The Ascend random stream: Philox4x32-10, as TensorFlow arranges it, vectorised with numpy.

key = (seed low, seed high); counter = (block low, block high, offset low, offset high); a block gives four 32-bit
words. A word becomes a float32 in [0, 1) by its low 23 bits; normals come in Box-Muller pairs (r sin v, r cos v).

Sources: Ascend/pytorch NPUGeneratorImpl.cpp, Ascend/op-plugin RandomUtil.h, hicann/runtime dsa_task.h. Checked
against published output of hardware, digit by digit, in tests/npusim/test_random.py.
"""

from collections.abc import Callable

import numpy as np

Floats = np.ndarray[tuple[int], np.dtype[np.float32]]
Words = np.ndarray[tuple[int], np.dtype[np.uint32]]

ROUNDS = 10
MULTIPLIERS = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)
KEY_STEPS = 0x9E3779B9, 0xBB67AE85
LOW = np.uint64(0xFFFFFFFF)
HALF = np.uint64(32)
MINIMUM = np.float32(1e-7)  # under the logarithm


def words(seed: int, offset: int, count: int) -> Words:
    """The first `count` 32-bit words of the stream."""
    blocks = np.arange((count + 3) // 4, dtype=np.uint64)
    c0, c1 = blocks & LOW, blocks >> HALF
    c2, c3 = (np.full_like(blocks, half) for half in (offset & 0xFFFFFFFF, offset >> 32 & 0xFFFFFFFF))
    k0, k1 = seed & 0xFFFFFFFF, seed >> 32 & 0xFFFFFFFF
    for _ in range(ROUNDS):
        p0, p1 = MULTIPLIERS[0] * c0, MULTIPLIERS[1] * c2
        c0, c1, c2, c3 = p1 >> HALF ^ c1 ^ np.uint64(k0), p1 & LOW, p0 >> HALF ^ c3 ^ np.uint64(k1), p0 & LOW
        k0, k1 = k0 + KEY_STEPS[0] & 0xFFFFFFFF, k1 + KEY_STEPS[1] & 0xFFFFFFFF
    return np.stack((c0, c1, c2, c3), -1).astype(np.uint32).reshape(-1)[:count]


def uniform(seed: int, offset: int, count: int) -> Floats:
    """`count` values in [0, 1)."""
    mantissas = words(seed, offset, count) & np.uint32(0x7FFFFF)
    return mantissas.astype(np.float32) * np.float32(2.0**-23)


def normal(seed: int, offset: int, count: int) -> Floats:
    """`count` standard normal values."""
    pairs = uniform(seed, offset, (count + 1) // 2 * 2).reshape(-1, 2)
    radius = np.sqrt(np.float32(-2) * _rounded(np.log, np.maximum(pairs[:, 0], MINIMUM)))
    angle = np.float32(2 * np.pi) * pairs[:, 1]
    return np.stack((_rounded(np.sin, angle) * radius, _rounded(np.cos, angle) * radius), -1).reshape(-1)[:count]


def _rounded(function: Callable[[np.ndarray], np.ndarray], x: Floats) -> Floats:
    # In double, then rounded: numpy's float32 functions miss the published sum by an ulp.
    return function(x.astype(np.float64)).astype(np.float32)
