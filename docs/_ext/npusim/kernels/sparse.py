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

    It calls mul and add_ for each sparse dimension into zeros, unless there is one, to number the positions; then
    _unique2, for whose size the host waits, zeros twice, and CANN's aclnnCoalesceSparse. One element is only copied.
    """
    if tensor._nnz() > 1:
        numbering = 1 + 2 * tensor.sparse_dim() if tensor.sparse_dim() > 1 else 0
        COUNTS["ops"] += numbering + 4
        count_wait(tensor.device)
    call = Call()
    indices, values = call.to_host(tensor._indices()), call.to_host(tensor._values())
    summands = values.float() if values.dtype in SUMMED_IN_FLOAT else values
    result = torch.sparse_coo_tensor(indices, summands, tensor.shape, check_invariants=False).coalesce()
    parts = call.to_device(result._indices()), call.to_device(result._values().to(values.dtype))
    return torch.sparse_coo_tensor(*parts, tensor.shape, check_invariants=False, is_coalesced=True)
