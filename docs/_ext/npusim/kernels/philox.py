"""The Ascend random stream: Philox4x32-10, as TensorFlow arranges it. The runtime computes it, in random.c.

key = (seed low, seed high); counter = (block low, block high, offset low, offset high); a block gives four 32-bit
words. A word becomes a float32 in [0, 1) by its low 23 bits; normals come in Box-Muller pairs (r sin v, r cos v).

Sources: Ascend/pytorch NPUGeneratorImpl.cpp, Ascend/op-plugin RandomUtil.h, hicann/runtime dsa_task.h. Checked
against published output of hardware, digit by digit, in tests/npusim/test_random.py.
"""

import numpy as np

from ..library import runtime

Floats = np.ndarray[tuple[int], np.dtype[np.float32]]
Words = np.ndarray[tuple[int], np.dtype[np.uint32]]


def words(seed: int, offset: int, count: int) -> Words:
    """The first `count` 32-bit words of the stream."""
    result = np.empty(count, np.uint32)
    runtime().npusim_random_words(seed, offset, count, result.ctypes.data)
    return result


def uniform(seed: int, offset: int, count: int) -> Floats:
    """`count` values in [0, 1)."""
    mantissas = words(seed, offset, count) & np.uint32(0x7FFFFF)
    return mantissas.astype(np.float32) * np.float32(2.0**-23)


def normal(seed: int, offset: int, count: int) -> Floats:
    """`count` standard normal values."""
    result = np.empty(count, np.float32)
    runtime().npusim_random_normal(seed, offset, count, result.ctypes.data)
    return result
