"""Kernels for the simulated NPU, in Python.

Device memory is host memory here, so an operator on NPU tensors can be computed by PyTorch's own CPU kernel on CPU
tensors that alias the same bytes. `install()` registers one such kernel (`host.host_kernel`) for every aten
operator that torch_npu implements, and gives back PyTorch's own autograd formulas where torch_npu replaced them by
formulas that call CANN. What does not fit stands in a table with its reason (`tables`), or has a kernel of its own:
copies, random draws, fused operators.

torch_npu's kernels cannot be removed, only overridden. Operators it has no kernel for still take its CPU fallback.
"""

from .install import install

__all__ = ["install"]
