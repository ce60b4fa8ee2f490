"""Kinds of tensor behaviour, each over its operators, on the simulated device and on the CPU."""

import pytest

pytestmark = pytest.mark.simulated


def check(torch, function, *arguments):
    """Call the function with tensors on both devices; results, and the arguments afterwards, are equal."""
    on_npu = [argument.to("npu") for argument in arguments]
    assert_equal(torch, function(torch, *on_npu), function(torch, *arguments))
    assert_equal(torch, on_npu, list(arguments))


def assert_equal(torch, got, expected):
    if isinstance(expected, torch.Tensor):
        assert got.device.type == "npu"
        assert got.layout == expected.layout
        if expected.layout is torch.sparse_coo:
            assert got.is_coalesced() == expected.is_coalesced()
            return assert_equal(torch, [got._indices(), got._values()], [expected._indices(), expected._values()])
        if expected.is_nested:
            return assert_equal(
                torch, [*got.unbind(), got.is_contiguous()], [*expected.unbind(), expected.is_contiguous()]
            )
        assert got.stride() == expected.stride()
        torch.testing.assert_close(got.cpu(), expected, equal_nan=True)
    elif isinstance(expected, (tuple, list)):
        assert len(got) == len(expected)
        for one, other in zip(got, expected, strict=True):
            assert_equal(torch, one, other)
    else:
        assert got == expected


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
        return [result.is_conj(), result.is_neg(), result.resolve_conj().resolve_neg(), result + 1, result @ result]

    check(torch, function, torch.tensor([[1 + 2j, -1j], [3, 2 - 1j]]))


# ---- writes ----

OVERLAPS = {
    "into itself, shifted": lambda torch, x: x[1:].add_(x[:-1]),
    "out, shifted": lambda torch, x: torch.add(x[:-1], 1, out=x[1:]),
    "expanded": lambda torch, x: x[:1].expand(3).mul_(2),
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
    "scatter_add": lambda torch, x, i: x.scatter_add_(0, i[:, None], x[:3, :1].clone()),
    "take and put": lambda torch, x, i: x.put_(i, x.take(i) + 1),
    "where": lambda torch, x, i: torch.where(x > 3, x, -x),
    "gather": lambda torch, x, i: x.gather(0, i[:, None].expand(3, 2)),
}


@pytest.mark.parametrize("write", WRITES)
def test_operators_with_indices(torch, write):
    check(torch, WRITES[write], torch.arange(8.0).view(4, 2), torch.tensor([2, 0, 2]))


ORDERED = {
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


# ---- autograd ----


def test_the_version_counter(torch):
    def function(torch, x):
        versions = [x._version]
        for change in (x.add_, x[0].mul_, x.t().copy_, x.detach().sub_):
            change(2) if change.__name__ != "copy_" else change(x.clone())
            versions.append(x._version)
        return versions

    check(torch, function, torch.ones(2, 2))


MODULES = {
    "group norm": lambda nn: (nn.GroupNorm(2, 4), lambda torch, x: x),
    "multi-head attention": lambda nn: (nn.MultiheadAttention(4, 2, batch_first=True), lambda torch, x: (x, x, x)),
    "transposed convolution": lambda nn: (nn.ConvTranspose1d(4, 2, 3), lambda torch, x: x),
    "bidirectional lstm": lambda nn: (nn.LSTM(4, 3, 2, bidirectional=True), lambda torch, x: x),
    "gru": lambda nn: (nn.GRU(4, 3, 2), lambda torch, x: x),
}


@pytest.mark.parametrize("name", MODULES)
def test_modules(torch, name):
    torch.manual_seed(0)
    module, inputs = MODULES[name](torch.nn)

    def function(torch, x):
        module.to(x.device).zero_grad()
        arguments = inputs(torch, x)
        result = module(*arguments) if isinstance(arguments, tuple) else module(arguments)
        result = result[0] if isinstance(result, tuple) else result
        result.square().mean().backward()
        return [result.detach(), *(parameter.grad.clone() for parameter in module.parameters())]

    check(torch, function, torch.randn(2, 4, 4))


def test_dropout_scales_what_it_keeps(torch):
    x = torch.ones(1000, device="npu", requires_grad=True)
    y = torch.nn.functional.dropout(x, 0.25)
    y.sum().backward()
    assert torch.equal(x.grad, y.detach())
    assert set(y.tolist()) == {0.0, torch.tensor(1 / 0.75).item()}
    assert 0.65 < (y != 0).float().mean().item() < 0.85


# ---- sparse and jagged ----

SPARSE = {
    "to_dense": lambda torch, x, y: x.to_dense(),
    "parts": lambda torch, x, y: [y._indices(), y._values(), y.is_coalesced()],
    "coalesce": lambda torch, x, y: [y.coalesce(), y.coalesce().values()],
    "coalesce half": lambda torch, x, y: y.half().coalesce(),
    "coalesce one element": lambda torch, x, y: torch.sparse_coo_tensor(
        y._indices()[:, :1], y._values()[:1]
    ).coalesce(),
    "add": lambda torch, x, y: (x + y).to_dense(),  # op-plugin joins the operands' parts, the CPU merges them
    "add to dense": lambda torch, x, y: x.to_dense().add_(y, alpha=2),
    "sub in place": lambda torch, x, y: x.sub_(y).to_dense(),
    "mul": lambda torch, x, y: (x * y).to_dense(),
    "mul by number": lambda torch, x, y: x * 2,
    "sqrt": lambda torch, x, y: y.sqrt(),
    "cat": lambda torch, x, y: torch.cat([x, y], 1),
    "sum": lambda torch, x, y: [torch.sparse.sum(y), torch.sparse.sum(y, 0)],
    "norm": lambda torch, x, y: y.norm(),
    "transpose": lambda torch, x, y: x.t(),
    "half": lambda torch, x, y: y.half(),
}


@pytest.mark.parametrize("operator", SPARSE)
def test_sparse(torch, operator):
    x = torch.tensor([[0.0, 2], [3, 0]]).to_sparse()
    twice = torch.sparse_coo_tensor(torch.tensor([[0, 1, 0], [1, 0, 1]]), torch.tensor([1.0, 2, 3]), (2, 2))
    on_npu = SPARSE[operator](torch, x.to("npu"), twice.to("npu"))
    assert_equal(torch, on_npu, SPARSE[operator](torch, x, twice))


def test_sparse_gradients(torch):
    def function(torch, weight, index):
        weight = weight.clone().requires_grad_()
        torch.nn.functional.embedding(index, weight, sparse=True).sum().backward()
        return [weight.grad, weight.grad.coalesce()]

    check(torch, function, torch.ones(3, 2), torch.tensor([1, 1, 0]))


@pytest.mark.parametrize("operator", ["mm", "softmax"])
def test_what_torch_npu_has_no_sparse_kernel_for(torch, operator):
    x = torch.eye(2, device="npu")
    with pytest.raises(RuntimeError, match="is not currently supported on the NPU backend"):
        torch.sparse.mm(x.to_sparse(), x) if operator == "mm" else torch.sparse.softmax(x.to_sparse(), 1)


JAGGED = {
    "parts": lambda torch, x: [x.values(), x.offsets()],
    "add": lambda torch, x: x + x,
    "where": lambda torch, x: torch.where(x > 2, x, -x),
    "linear": lambda torch, x: torch.nn.functional.linear(x, x.values()[:2]),
    "sum": lambda torch, x: [x.sum(1), x.sum(-1)],
    "softmax": lambda torch, x: x.softmax(-1),
    "layer norm": lambda torch, x: torch.nn.functional.layer_norm(x, (2,)),
    "padded": lambda torch, x: x.to_padded_tensor(-1.0),
    "select": lambda torch, x: x[1],
    "half": lambda torch, x: x.half(),
    "cat": lambda torch, x: torch.cat([x, x], -1),
    "from a list": lambda torch, x: torch.nested.nested_tensor(list(x.unbind()), layout=torch.jagged),
    "strided": lambda torch, x: torch.nested.as_nested_tensor(list(x.unbind())),
}


@pytest.mark.parametrize("operator", JAGGED)
def test_nested(torch, operator):
    def function(torch, values, offsets):
        return JAGGED[operator](torch, torch.nested.nested_tensor_from_jagged(values, offsets))

    check(torch, function, torch.arange(12.0).view(6, 2), torch.tensor([0, 2, 3, 6]))


# ---- objects ----


def test_storages(torch):
    x = torch.arange(6, device="npu:1").view(2, 3)
    storage = x[1:].untyped_storage()
    assert (storage.device, storage.nbytes()) == (x.device, 48)
    assert torch.empty(0, dtype=torch.int64, device="npu:1").set_(storage, 3, (3,)).tolist() == [3, 4, 5]
    assert storage.cpu().tolist()[:8] == [0] * 8
    y = x.clone()
    y.untyped_storage().copy_(storage)
    y.untyped_storage().resize_(0)
    assert y.untyped_storage().size() == 0


def test_pickles(torch):
    import pickle

    x = torch.arange(3.0, device="npu:1", requires_grad=True)
    y = pickle.loads(pickle.dumps(x))  # noqa: S301  (our own)
    assert (y.device, y.requires_grad, y.tolist()) == (x.device, True, [0, 1, 2])


@pytest.mark.parametrize("weights_only", [True, False])
@pytest.mark.parametrize("where", [None, "cpu", "npu:0", {"npu:1": "npu:0"}], ids=str)
def test_load(torch, where, weights_only):
    import io

    x, file = torch.arange(4.0, device="npu:1"), io.BytesIO()
    torch.save([x, x[1:]], file)  # one storage
    file.seek(0)
    whole, part = torch.load(file, map_location=where, weights_only=weights_only)
    expected = where if isinstance(where, str) else "npu:0" if where else "npu:1"
    assert str(whole.device) == expected
    part.zero_()
    assert whole.tolist() == [0, 0, 0, 0]
