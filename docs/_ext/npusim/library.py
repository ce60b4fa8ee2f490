"""The simulated runtime as this process has it loaded."""

import ctypes
import functools
import os

from .errors import SetupError


@functools.cache
def runtime() -> ctypes.CDLL:
    """The loaded libascendcl.so; SetupError if it is not the simulated one."""
    try:
        library = ctypes.CDLL("libascendcl.so")
        library.npusim_settle.argtypes = [ctypes.c_void_p]
        library.npusim_synchronise.argtypes = [ctypes.c_void_p]
        library.npusim_copy_late.argtypes = [*[ctypes.c_void_p] * 2, ctypes.c_size_t, ctypes.c_int, ctypes.c_void_p]
        for function in (library.npusim_random_words, library.npusim_random_normal):
            function.argtypes = [*[ctypes.c_uint64] * 3, ctypes.c_void_p]
    except (OSError, AttributeError) as error:
        where = os.environ.get("LD_LIBRARY_PATH", "")
        raise SetupError(
            f"NPUSIM=1 is set, but LD_LIBRARY_PATH={where} has no simulated Ascend runtime ({error}): "
            "start the program with `python -m npusim`, or unset NPUSIM to use a live NPU"
        ) from error
    library.aclGetRecentErrMsg.restype = ctypes.c_char_p
    return library
