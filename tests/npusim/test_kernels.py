"""Tensors on the simulated device behave as on the CPU, and alias as views must."""

import re

import pytest

pytestmark = pytest.mark.simulated


def both(torch, function, *shapes):
    """Results of a function on equal CPU and NPU tensors."""
    torch.manual_seed(1)
    host = [torch.randn(shape) for shape in shapes]
    return function(*host), function(*(tensor.to("npu") for tensor in host))


def assert_same(torch, on_cpu, on_npu):
    assert on_npu.device.type == "npu"
    torch.testing.assert_close(on_npu.cpu(), on_cpu)


# ---- printing, casts, copies ----

PRINTED = {
    "floats": lambda torch: torch.tensor([[1.5, -2.0], [float("inf"), float("nan")]]),
    "small and large": lambda torch: torch.tensor([1e-8, 1e8]),
    "integers": lambda torch: torch.arange(12).view(3, 4),
    "masks": lambda torch: torch.tensor([True, False]),
    "halves": lambda torch: torch.ones(2, dtype=torch.bfloat16),
    "complex": lambda torch: torch.tensor([1 + 2j, -1j]),
    "long": lambda torch: torch.arange(5000),
    "empty": lambda torch: torch.empty(0, 3),
    "scalar": lambda torch: torch.tensor(3),
}


@pytest.mark.parametrize("case", PRINTED)
def test_prints_like_the_cpu_but_for_the_device(torch, case):
    host = PRINTED[case](torch)
    printed = repr(host.to("npu"))
    assert "device='npu:0'" in printed
    # the device may stand on a line of its own
    without_device = re.sub(r",\s*device='npu:0'", "", printed)
    assert " ".join(without_device.split()) == " ".join(repr(host).split())


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "int64", "int8", "bool", "uint8", "complex64"])
def test_casts(torch, dtype):
    on_cpu, on_npu = both(torch, lambda x: x.to(getattr(torch, dtype)), (3, 4))
    assert on_npu.dtype == on_cpu.dtype
    assert_same(torch, on_cpu, on_npu)


def test_double_becomes_float_as_on_the_device(torch):
    assert torch.ones(2, device="npu").double().dtype == torch.float32


@pytest.mark.parametrize("source", ["cpu", "npu:0", "npu:1"])
@pytest.mark.parametrize("target", ["cpu", "npu:0", "npu:1"])
def test_copies_in_every_direction(torch, source, target):
    values = torch.arange(6).view(2, 3)
    copy = torch.zeros(3, 2, device=target).t().copy_(values.to(source))  # strided, and a cast
    assert copy.device == torch.device(target)
    assert copy.tolist() == values.tolist()
    broadcast = torch.zeros(2, 3, device=target).copy_(torch.ones(3, device=source))
    assert broadcast.sum().item() == 6


def test_copies_of_conjugates_and_zeros(torch):
    z = torch.tensor([1 + 2j, 3 - 1j])
    assert z.to("npu").conj().cpu().tolist() == z.conj().tolist()
    assert z.to("npu").conj().imag.tolist() == z.conj().imag.tolist()
    assert torch.zeros(2, device="npu").copy_(torch._efficientzerotensor(2, device="npu")).tolist() == [0, 0]


def test_pinned_memory(torch):
    pinned = torch.arange(3.0).pin_memory()
    assert pinned.is_pinned()
    assert pinned.to("npu", non_blocking=True).tolist() == [0, 1, 2]


# ---- views ----

VIEWS = {
    "index": lambda x: x[1],
    "slice": lambda x: x[:, 1::2],
    "transpose": lambda x: x.t(),
    "view": lambda x: x.view(2, 8),
    "reshape": lambda x: x.reshape(16),
    "expand": lambda x: x.unsqueeze(0).expand(3, 4, 4),
    "diagonal": lambda x: x.diagonal(),
    "unfold": lambda x: x.unfold(0, 2, 1),
    "split": lambda x: x.split(2)[1],
    "chunk": lambda x: x.chunk(2, 1)[1],
    "squeeze": lambda x: x.unsqueeze(1).squeeze(1),
    "narrow": lambda x: x.narrow(1, 1, 2),
    "movedim": lambda x: x.movedim(0, 1),
    "detach": lambda x: x.detach(),
}


@pytest.mark.parametrize("case", VIEWS)
def test_views_alias(torch, case):
    host = torch.arange(16.0).view(4, 4)
    device = host.to("npu")
    expected, view = VIEWS[case](host), VIEWS[case](device)
    assert view.untyped_storage().data_ptr() == device.untyped_storage().data_ptr()
    assert (view.stride(), view.storage_offset()) == (expected.stride(), expected.storage_offset())
    assert view.tolist() == expected.tolist()
    device.mul_(2)
    assert view.tolist() == (2 * expected).tolist()


def test_bit_views_alias(torch):
    z = torch.tensor([1 + 2j, 3 - 1j], device="npu")
    torch.view_as_real(z)[:, 1] = 0
    z.real.add_(1)
    assert z.tolist() == [2, 4]
    x = torch.zeros(2, device="npu")
    x.view(torch.int32).fill_(0x3F800000)
    assert x.tolist() == [1, 1]


def test_out_resizes(torch):
    out = torch.empty(0, device="npu")
    torch.add(torch.ones(2, 3, device="npu"), 1, out=out)
    assert out.tolist() == [[2.0] * 3] * 2


def test_overlapping_writes_raise(torch):
    x = torch.zeros(1, device="npu").expand(3)
    with pytest.raises(RuntimeError, match="more than one element of the written-to tensor"):
        x.add_(1)


# ---- devices ----


def test_results_are_where_the_inputs_are(torch):
    x = torch.ones(2, device="npu:1")
    assert (x + 1).device == (x @ x).device == x.to(torch.half).device == torch.device("npu:1")
    assert torch.ones_like(x).device == torch.device("npu:1")


MIXED = {
    "add": lambda torch, x, y: x + y,
    "matmul": lambda torch, x, y: x @ y,
    "cat": lambda torch, x, y: torch.cat([x, y]),
    "out": lambda torch, x, y: torch.add(x, x, out=y),
}


@pytest.mark.parametrize("other", ["cpu", "npu:1"])
@pytest.mark.parametrize("case", MIXED)
def test_mixed_devices_raise(torch, case, other):
    with pytest.raises(RuntimeError, match="Expected all tensors to be on the same device"):
        MIXED[case](torch, torch.ones(2, 2, device="npu:0"), torch.ones(2, 2, device=other))


NUMBERS = {
    "add": lambda torch, x, s: x + s,
    "to itself": lambda torch, x, s: x.mul_(s),
    "of two numbers": lambda torch, x, s: s + x[0],
    "stack": lambda torch, x, s: torch.stack([s, x[0]]),
    "where": lambda torch, x, s: torch.where(x > 0, x, s),
    "masked_fill": lambda torch, x, s: x.masked_fill(x > 0, s),
    "list": lambda torch, x, s: torch._foreach_mul([x], s),
    "embedding": lambda torch, x, s: torch.nn.functional.embedding(s.long(), x[None]),
    "index_put": lambda torch, x, s: x.index_put_((torch.tensor([0]),), s),
}


@pytest.mark.parametrize("case", NUMBERS)
def test_numbers_on_another_npu_raise(torch, case):
    # torch_npu checks some of these; to others it hands an address that the NPU does not have.
    with pytest.raises(RuntimeError, match="Expected all tensors to be on the same device"):
        NUMBERS[case](torch, torch.ones(2, device="npu:0"), torch.tensor(1.0, device="npu:1"))


LISTS = {
    "number": lambda torch, x: torch._foreach_add(x, 1),
    "numbers": lambda torch, x: torch._foreach_mul(x, [2.0, 3.0]),
    "lists": lambda torch, x: torch._foreach_addcmul(x, x, x),
    "in place": lambda torch, x: torch._foreach_sub_(x, x),
    "zeros": lambda torch, x: torch._foreach_zero_(x),
    "norms": lambda torch, x: torch._foreach_norm(x),
}


@pytest.mark.parametrize("other", ["cpu", "npu:1"])
@pytest.mark.parametrize("case", LISTS)
def test_lists_may_lie_on_several_devices(torch, case, other):
    # The wheel's own kernels then go through them one by one.
    placed = [torch.ones(2, device="npu:0"), torch.ones(3, device=other)]
    on_host = [tensor.cpu() for tensor in placed]
    results, expected = LISTS[case](torch, placed) or placed, LISTS[case](torch, on_host) or on_host
    for result, tensor, value in zip(results, placed, expected, strict=True):
        assert (result.device, result.tolist()) == (tensor.device, value.tolist())
    with pytest.raises(RuntimeError, match="Expected all tensors to be on the same device"):
        torch._foreach_add(placed, placed[::-1])


INDEXED = {
    "values by positions": lambda torch, x, y, i: x.__setitem__(i, y[i.to(y.device)]),
    "values by a mask": lambda torch, x, y, i: x.__setitem__(x > 0, y),
    "values by positions on the host": lambda torch, x, y, i: x.__setitem__(i.cpu(), y[:2]),
    "values added": lambda torch, x, y, i: x.index_put_((i,), y[:2], accumulate=True),
    "not in place": lambda torch, x, y, i: torch.index_put(x, (i,), y[:2]),
    "written elsewhere": lambda torch, x, y, i: y.cpu().__setitem__(i, x[i]),
    "read elsewhere": lambda torch, x, y, i: y.cpu()[i],
    "masked elsewhere": lambda torch, x, y, i: y.cpu()[x > 0],
}


@pytest.mark.parametrize("other", ["cpu", "npu:1"])
@pytest.mark.parametrize("case", INDEXED)
def test_only_indices_may_be_elsewhere(torch, case, other):
    x, y, positions = torch.ones(3, device="npu:0"), torch.ones(3, device=other), torch.tensor([0, 2], device="npu:0")
    with pytest.raises(RuntimeError, match="Expected all tensors to be on the same device"):
        INDEXED[case](torch, x, y, positions)


def test_numbers_on_the_host_mix(torch):
    assert (torch.ones(2, device="npu") * torch.tensor(3)).tolist() == [3, 3]


def test_indices_on_the_host_mix(torch):
    x = torch.arange(4, device="npu")
    assert x[torch.tensor([0, 2])].tolist() == [0, 2]
    x[torch.tensor([True, False, False, True])] = 7
    assert x.tolist() == [7, 1, 2, 7]


# ---- autograd, torch.func, modules, optimizers ----


def test_gradients(torch):
    def gradient(x, w):
        x, w = (tensor.clone().requires_grad_() for tensor in (x, w))
        y = x @ w.softmax(-1)
        y[0].mul_(2)  # in place, through a view
        (y * y.detach()).sum().backward()
        return torch.cat([x.grad, w.grad.t()])

    assert_same(torch, *both(torch, gradient, (3, 4), (4, 4)))


def test_an_in_place_change_that_autograd_needs_raises(torch):
    x = torch.ones(2, device="npu", requires_grad=True)
    y = x.exp()
    y.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


FUNCTIONALS = {
    "grad": lambda torch, x: torch.func.grad(lambda t: (t**3).sum())(x),
    "vmap": lambda torch, x: torch.func.vmap(lambda row: row.softmax(0) @ row)(x),
    "vmap of grad": lambda torch, x: torch.func.vmap(torch.func.grad(lambda row: row.norm()))(x),
    "jvp": lambda torch, x: torch.func.jvp(torch.sin, (x,), (x,))[1],
    "jacrev": lambda torch, x: torch.func.jacrev(torch.tanh)(x[0]),
}


@pytest.mark.parametrize("case", FUNCTIONALS)
def test_functional_transforms(torch, case):
    assert_same(torch, *both(torch, lambda x: FUNCTIONALS[case](torch, x), (3, 4)))


MODULES = {
    "linear": (lambda nn: nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.LayerNorm(8)), (4, 8)),
    "convolution": (
        lambda nn: nn.Sequential(nn.Conv2d(2, 3, 3), nn.BatchNorm2d(3), nn.MaxPool2d(2)),
        (2, 2, 8, 8),
    ),
    "lstm": (lambda nn: nn.LSTM(4, 5, batch_first=True), (2, 3, 4)),
    "gru": (lambda nn: nn.GRU(4, 5), (3, 2, 4)),
    "attention": (lambda nn: nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True), (2, 3, 8)),
}


@pytest.mark.parametrize("case", MODULES)
def test_modules_forward_and_backward(torch, case):
    make, shape = MODULES[case]
    torch.manual_seed(0)
    module = make(torch.nn)
    state = {key: value.clone() for key, value in module.state_dict().items()}

    def run(x):
        module.load_state_dict(state)
        module.to(x.device).zero_grad()
        result = module(x)
        result = result[0] if isinstance(result, tuple) else result
        result.square().mean().backward()
        return torch.cat([result.flatten(), *(p.grad.flatten() for p in module.parameters())])

    assert_same(torch, *both(torch, run, shape))


@pytest.mark.parametrize("options", [{}, {"foreach": True}, {"foreach": False}, {"fused": True}], ids=str)
@pytest.mark.parametrize("optimizer", ["SGD", "Adam", "AdamW"])
def test_optimizers(torch, optimizer, options):
    def train(x):
        w = torch.nn.Parameter(torch.ones(4, 2).to(x.device))
        stepper = getattr(torch.optim, optimizer)([w], lr=0.1, **options)
        for _ in range(3):
            stepper.zero_grad()
            (x @ w).square().mean().backward()
            stepper.step()
        return w.detach()

    assert_same(torch, *both(torch, train, (3, 4)))


def test_gradient_scaler_and_autocast(torch):
    torch.manual_seed(0)
    model = torch.nn.Linear(4, 2).to("npu")
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler("npu", init_scale=64.0)  # small: no gradient overflows half precision
    with torch.autocast("npu", dtype=torch.float16):
        loss = model(torch.ones(3, 4, device="npu")).square().mean()
    before = model.weight.detach().clone()
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
    assert not torch.equal(before, model.weight)


# ---- tensors as objects ----


def test_writes_through_views(torch):
    x = torch.zeros(4, 4, device="npu")
    x.t()[1].fill_(1)
    x[::2, 1] += 1
    x.diagonal().sub_(1)
    assert x.tolist() == [[-1, 2, 0, 0], [0, 0, 0, 0], [0, 2, -1, 0], [0, 1, 0, -1]]


def test_saves_and_loads(torch):
    import io

    file = io.BytesIO()
    torch.save({"x": torch.arange(3, device="npu:1")}, file)
    file.seek(0)
    loaded = torch.load(file)["x"]
    assert (loaded.device, loaded.tolist()) == (torch.device("npu:1"), [0, 1, 2])
    file.seek(0)
    assert torch.load(file, map_location="cpu")["x"].device.type == "cpu"


def test_deep_copies(torch):
    import copy

    x = torch.ones(2, device="npu", requires_grad=True)
    y = copy.deepcopy(x)
    assert y.requires_grad
    assert y.data_ptr() != x.data_ptr()


def test_tensordict(torch):
    from tensordict import TensorDict

    td = TensorDict(a=torch.arange(6.0).view(3, 2), b=TensorDict(c=torch.zeros(3, 1)), batch_size=[3]).to("npu:0")
    assert td.device == torch.device("npu:0")
    assert (td + 1)["b", "c"].tolist() == [[1.0]] * 3
    assert torch.stack([td, td])[:, 1]["a"].shape == (2, 2)
    assert td["a"].data_ptr() == td.view(3)["a"].data_ptr()


def test_an_operator_without_kernel_falls_back_with_torch_npus_warning(torch):
    x = torch.ones(2, device="npu")
    torch.testing.assert_close(torch.special.bessel_j1(x).cpu(), torch.special.bessel_j1(x.cpu()))
