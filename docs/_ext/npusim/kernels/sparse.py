"""Sparse tensors: torch_npu computes them by operators on their parts, all but this one."""

import torch
from torch import Tensor

from ..counters import COUNTS
from .call import Call, count_wait
from .host import below_autograd

SUMMED_IN_FLOAT = (torch.half, torch.bfloat16)


@below_autograd
def coalesce(tensor: Tensor) -> Tensor:
    """aten::_coalesce, after op-plugin's SparseCoalesceKernelOpApi.cpp: 16-bit values are summed in float32.

    The host waits for the number of different indices, unless there is one at most.
    """
    COUNTS["ops"] += 1
    if tensor._nnz() > 1:
        count_wait(tensor.device)
    call = Call()
    indices, values = call.to_host(tensor._indices()), call.to_host(tensor._values())
    summands = values.float() if values.dtype in SUMMED_IN_FLOAT else values
    result = torch.sparse_coo_tensor(indices, summands, tensor.shape, check_invariants=False).coalesce()
    parts = call.to_device(result._indices()), call.to_device(result._values().to(values.dtype))
    return torch.sparse_coo_tensor(*parts, tensor.shape, check_invariants=False, is_coalesced=True)
