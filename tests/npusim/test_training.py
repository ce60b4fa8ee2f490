"""Autograd, modules, optimizers and autocast, on the simulated device and on the CPU."""

import pytest
from both_devices import check

pytestmark = pytest.mark.simulated


def test_the_version_counter(torch):
    def function(torch, x):
        versions = [x._version]
        for change in (x.add_, x[0].mul_, x.t().copy_, x.detach().sub_):
            change(2) if change.__name__ != "copy_" else change(x.clone())
            versions.append(x._version)
        return versions

    check(torch, function, torch.ones(2, 2))


def embed(torch, index, weight, **options):
    weight = weight.clone().requires_grad_()
    result = torch.nn.functional.embedding(index, weight, **options)
    result.square().sum().backward()
    return [result.detach(), weight.grad]


def bag(torch, index, weight):
    weight = weight.clone().requires_grad_()
    result = torch.nn.functional.embedding_bag(index, weight, mode="mean")
    result.square().sum().backward()
    return [result.detach(), weight.grad]


def attend(torch, x, **options):
    x = x.clone().requires_grad_()
    result = torch.nn.functional.scaled_dot_product_attention(x, x, x, **options)
    result.square().sum().backward()
    return [result.detach(), x.grad]


def scatter_gradient(torch, index, weight):
    weight = weight.clone().requires_grad_()
    scattered = weight.new_zeros(3, 2).scatter_add(0, index, weight).index_add(0, index[0], weight)
    (scattered.gather(0, index) ** 2).sum().backward()
    return weight.grad


GRADIENTS = {
    "embedding": lambda torch, i, w, x: embed(torch, i, w),
    "embedding, padded": lambda torch, i, w, x: embed(torch, i, w, padding_idx=1),
    "embedding, scaled": lambda torch, i, w, x: embed(torch, i, w, scale_grad_by_freq=True),
    "embedding bag": lambda torch, i, w, x: bag(torch, i, w),
    "attention": lambda torch, i, w, x: attend(torch, x),
    "attention, causal": lambda torch, i, w, x: attend(torch, x, is_causal=True),
    "attention, masked": lambda torch, i, w, x: attend(torch, x, attn_mask=x[0, 0] @ x[0, 0].t() > 0),
    "scatter": lambda torch, i, w, x: scatter_gradient(torch, i, w[:2]),
}


@pytest.mark.parametrize("name", GRADIENTS)
def test_gradients(torch, name):
    torch.manual_seed(0)
    index = torch.tensor([[2, 0], [2, 1]])
    check(torch, GRADIENTS[name], index, torch.randn(3, 2), torch.randn(1, 2, 3, 4))


def used_twice(torch, x):
    y = x.exp().sum()
    y.backward()
    y.backward()


def changed(torch, x):
    y = x * 2
    (y * y).sum().register_hook(print)
    z = (y * y).sum()
    y[0] = 1
    z.backward()


MISUSES = {
    "a leaf in place": lambda torch, x: x.add_(1),
    "a view of a leaf in place": lambda torch, x: x[:1].mul_(2),
    "a saved tensor, by a view": changed,
    "backward twice": used_twice,
    "a view made without gradients": lambda torch, x: _view_made_without_gradients(torch, x).add_(x),
    "one of several views": lambda torch, x: (x * 2).unbind(0)[0].mul_(2),
    "no scalar": lambda torch, x: (x * 2).backward(),
    "not floating": lambda torch, x: x.detach().long().requires_grad_(),
}


def _view_made_without_gradients(torch, x):
    with torch.no_grad():
        return (x * 2).view(-1)


@pytest.mark.parametrize("case", MISUSES)
def test_autograd_refuses_with_the_same_error(torch, case):
    with pytest.raises(RuntimeError) as expected:
        MISUSES[case](torch, torch.ones(2, 2, requires_grad=True))
    with pytest.raises(RuntimeError) as got:
        MISUSES[case](torch, torch.ones(2, 2, device="npu", requires_grad=True))
    assert str(got.value) == str(expected.value).replace("[torch.FloatTensor", "[npuFloatType")


OPTIMIZERS = {
    "SGD": {"momentum": 0.9, "nesterov": True},
    "Adam": {"amsgrad": True},
    "Adagrad": {},
    "RMSprop": {"centered": True},
    "NAdam": {},
}


@pytest.mark.parametrize("way", ["foreach", "fused", "differentiable"])
@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_optimizers(torch, optimizer, way):
    options = {"lr": 0.1, **OPTIMIZERS[optimizer], way: way != "differentiable"}

    def train(torch, weight, x):
        parameters = [torch.nn.Parameter(weight.clone()), torch.nn.Parameter(weight[0].clone())]
        stepper = getattr(torch.optim, optimizer)(parameters, **options)
        for _ in range(3):
            stepper.zero_grad()
            (x @ parameters[0] + parameters[1]).square().mean().backward()
            stepper.step()
        return [parameter.detach() for parameter in parameters]

    if way == "fused" and optimizer in ("RMSprop", "NAdam"):
        with pytest.raises(TypeError, match="fused"):
            train(torch, torch.ones(4, 2), torch.ones(3, 4))
    else:
        check(torch, train, torch.ones(4, 2), torch.arange(12.0).view(3, 4) / 12)


def test_autocast_chooses_the_dtypes(torch):
    x = torch.ones(4, 4, device="npu")
    for dtype in (torch.float16, torch.bfloat16):
        with torch.autocast("npu", dtype=dtype):
            assert (x @ x).dtype == torch.nn.functional.linear(x, x).dtype == dtype
            assert (x @ x).softmax(-1).dtype == (x @ x).sum().dtype == torch.float32
            assert (x @ x + x).dtype == torch.float32
            with torch.autocast("npu", enabled=False):
                assert (x @ x).dtype == torch.float32
    assert (x @ x).dtype == torch.float32


def test_a_gradient_that_overflows_skips_the_step(torch):
    weight = torch.nn.Parameter(torch.ones(2, device="npu"))
    optimizer = torch.optim.SGD([weight], lr=0.1)
    scaler = torch.amp.GradScaler("npu", init_scale=4.0)
    for factor, scale, value in ((float("inf"), 2.0, 1.0), (1.0, 2.0, 0.9)):
        optimizer.zero_grad()
        scaler.scale((weight * factor).sum()).backward()
        scaler.unscale_(optimizer)
        scaler.step(optimizer)
        scaler.update()
        assert scaler.get_scale() == scale
        torch.testing.assert_close(weight.detach().cpu(), torch.full((2,), value))


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
