"""Views, writes and indices, each over its operators, on the simulated device and on the CPU."""

import pytest
from both_devices import check

pytestmark = pytest.mark.simulated

# ---- views ----

VIEWS = {
    "adjoint": lambda x: x.adjoint(),
    "as_strided": lambda x: x.as_strided((2, 2), (1, 5), 3),
    "dsplit": lambda x: x.dsplit(2)[1],
    "expand_as": lambda x: x[:1].expand_as(x),
    "flatten": lambda x: x.flatten(1),
    "hsplit": lambda x: x.hsplit(2)[1],
    "mT": lambda x: x.mT,
    "permute": lambda x: x.permute(2, 0, 1),
    "select": lambda x: x.select(1, 2),
    "squeeze": lambda x: x[:, :1, :1].squeeze((1, 2)),
    "swapaxes": lambda x: x.swapaxes(0, 2),
    "tensor_split": lambda x: x.tensor_split(3, 1)[2],
    "unbind": lambda x: x.unbind(1)[2],
    "unflatten": lambda x: x.unflatten(1, (2, 2)),
    "unfold": lambda x: x.unfold(1, 3, 1),
    "view": lambda x: x.view(-1, 2),
    "view of another dtype": lambda x: x.view(x.dtype.to_complex()).real,
    "view_as": lambda x: x.view_as(x.transpose(0, 0)),
    "vsplit": lambda x: x.vsplit([1])[1],
}


@pytest.mark.parametrize("view", VIEWS)
def test_views_alias_and_writes_go_through(torch, view):
    def function(torch, x):
        result = VIEWS[view](x)
        assert result.untyped_storage().data_ptr() == x.untyped_storage().data_ptr()
        result.add_(1)
        return [result, result.storage_offset()]

    if view == "expand_as":  # more than one element in a place: not written
        with pytest.raises(RuntimeError, match="more than one element"):
            check(torch, function, torch.arange(16.0).view(2, 4, 2))
    else:
        check(torch, function, torch.arange(16.0).view(2, 4, 2))


BITS = {
    "conj": lambda x: x.conj(),
    "imag": lambda x: x.imag,
    "real": lambda x: x.real,
    "imag of conj": lambda x: x.conj().imag,
    "view_as_real": lambda x: x.view(x.dtype),
    "adjoint": lambda x: x.adjoint(),
}


@pytest.mark.parametrize("view", BITS)
def test_conjugate_and_negative_bits(torch, view):
    def function(torch, x):
        result = BITS[view](x)
        result.mul_(2)
        return [result.is_conj(), result.is_neg(), result.resolve_conj().resolve_neg(), result + 1, result * result]

    check(torch, function, torch.tensor([[1 + 2j, -1j], [3, 2 - 1j]]))


# ---- writes ----

OVERLAPS = {
    "into itself, shifted": lambda torch, x: x[1:].add_(x[:-1]),
    "out, shifted": lambda torch, x: torch.add(x[:-1], 1, out=x[1:]),
    "expanded": lambda torch, x: x[:1].expand(3).mul_(2),
    "unfolded from an expanded": lambda torch, x: x[:1].expand(3).unfold(0, 2, 1).add_(1),
}


@pytest.mark.parametrize("case", OVERLAPS)
def test_overlapping_writes_raise_the_same_error(torch, case):
    with pytest.raises(RuntimeError) as expected:
        OVERLAPS[case](torch, torch.arange(4.0))
    with pytest.raises(RuntimeError) as got:
        OVERLAPS[case](torch, torch.arange(4.0, device="npu"))
    assert str(got.value) == str(expected.value)


OUT = {
    "add": lambda torch, x, out: torch.add(x, 1, out=out),
    "matmul": lambda torch, x, out: torch.matmul(x, x.t(), out=out),
    "cat": lambda torch, x, out: torch.cat([x, x], out=out),
    "sum": lambda torch, x, out: torch.sum(x, 0, out=out),
    "stack": lambda torch, x, out: torch.stack([x, x], 1, out=out),
    "index_select": lambda torch, x, out: torch.index_select(x, 0, torch.tensor([1], device=x.device), out=out),
    "arange": lambda torch, x, out: torch.arange(5, out=out),
}


@pytest.mark.parametrize("resized", ["empty", "strided"])
@pytest.mark.parametrize("operator", OUT)
def test_out_is_resized(torch, operator, resized):
    def function(torch, x):
        out = torch.empty(0, device=x.device)
        if resized == "strided":  # the right shape, other strides: they stay
            shape = OUT[operator](torch, x, out).shape
            out = torch.zeros(*shape, 2, device=x.device)[..., 0]
        return [OUT[operator](torch, x, out) is out, out]

    check(torch, function, torch.arange(6.0).view(2, 3))


# ---- indices ----

INDICES = {
    "integer": lambda torch, d: (1,),
    "slices": lambda torch, d: (slice(None), slice(1, None, 2)),
    "ellipsis and None": lambda torch, d: (..., None, 0),
    "list": lambda torch, d: ([0, 2],),
    "tensor": lambda torch, d: (torch.tensor([[2, 0], [-1, 1]], device=d),),
    "tensor on the host": lambda torch, d: (torch.tensor([2, 0]),),
    "two tensors": lambda torch, d: (torch.tensor([2, 0], device=d), torch.tensor([1, 1], device=d)),
    "tensors apart": lambda torch, d: (torch.tensor([1], device=d), slice(None), torch.tensor([0, 1], device=d)),
    "mask": lambda torch, d: (torch.tensor([True, False, True], device=d),),
    "mask of two dimensions": lambda torch, d: (torch.arange(12, device=d).view(3, 4) % 3 == 0,),
    "truth": lambda torch, d: (True,),
    "scalar tensor": lambda torch, d: (torch.tensor(2, device=d),),
}


@pytest.mark.parametrize("index", INDICES)
def test_indices_read_and_write(torch, index):
    def function(torch, x):
        at = INDICES[index](torch, x.device)
        read = x[at].clone()
        x[at] = -1
        x[at] = read * 2  # a tensor of the right shape
        return [read, x]

    check(torch, function, torch.arange(24.0).view(3, 4, 2))


WRITES = {
    "index_put, accumulated": lambda torch, x, i: x.index_put_((i,), x[:3] + 1, accumulate=True),
    "index_add": lambda torch, x, i: x.index_add_(0, i, x[:3].clone(), alpha=2),
    "index_copy": lambda torch, x, i: x.index_copy_(0, i, x[:3].clone()),
    "index_fill": lambda torch, x, i: x.index_fill_(0, i, 7),
    "masked_fill": lambda torch, x, i: x.masked_fill_(x > 3, 0),
    "masked_scatter": lambda torch, x, i: x.masked_scatter_(x > 3, x.flatten() + 1),
    "scatter": lambda torch, x, i: x.scatter(0, i[:2, None], x[2:, 1:]),
    "scatter a number": lambda torch, x, i: x.scatter_(dim=1, index=i[:2, None] // 2, value=7.0),
    "scatter_add": lambda torch, x, i: x.scatter_add_(0, i[:, None], x[:3, :1].clone()),
    "scatter_add, not in place": lambda torch, x, i: x.scatter_add(dim=0, index=i[:, None], src=x[:3, 1:]),
    "scatter_reduce": lambda torch, x, i: x.scatter_reduce(0, i[:, None], x[:3, :1], "amax", include_self=False),
    "index_add, not in place": lambda torch, x, i: torch.index_add(x, dim=0, index=i, source=x[:3]),
    "take and put": lambda torch, x, i: x.put_(i, x.take(i) + 1),
    "where": lambda torch, x, i: torch.where(x > 3, x, -x),
    "gather": lambda torch, x, i: x.gather(0, i[:, None].expand(3, 2)),
}


@pytest.mark.parametrize("write", WRITES)
def test_operators_with_indices(torch, write):
    check(torch, WRITES[write], torch.arange(8.0).view(4, 2), torch.tensor([2, 0, 2]))


ORDERED = {
    "sort": lambda torch, x: torch.sort(x, dim=0, descending=True),
    "sort, stable": lambda torch, x: x.sort(dim=-1, stable=True),
    "argsort": lambda torch, x: torch.argsort(x, dim=0, stable=True),
    "topk of columns": lambda torch, x: torch.topk(x, k=2, dim=0, sorted=True).values,
    "unique of columns": lambda torch, x: torch.unique(x, dim=1, return_counts=True),
    "topk": lambda torch, x: x.topk(2, largest=False),
    "kthvalue": lambda torch, x: x.kthvalue(2),
    "unique": lambda torch, x: x.unique(return_inverse=True, return_counts=True),
    "unique of rows": lambda torch, x: x.unique(dim=0),
    "unique_consecutive": lambda torch, x: x.unique_consecutive(return_counts=True),
    "max": lambda torch, x: x.max(1),
    "cummax": lambda torch, x: x.cummax(0),
    "searchsorted": lambda torch, x: torch.searchsorted(x[0].sort().values, x),
}


@pytest.mark.parametrize("operator", ORDERED)
def test_orders(torch, operator):
    check(torch, ORDERED[operator], torch.tensor([[3.0, 1, 2], [0, 1, 1], [3, 1, 2]]))
