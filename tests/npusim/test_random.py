"""Random numbers against public output of real hardware, and generator states."""

import re

import pytest

pytestmark = pytest.mark.simulated


def test_seeded_sum_of_the_ascend_documentation(torch):
    # Ascend documentation, TensorDict page, functional call: Ascend 910B4, CANN 9.1.0, torch 2.9.0,
    # torch_npu 2.9.0.post2.
    torch.manual_seed(42)
    torch.npu.manual_seed(42)
    net = torch.nn.Linear(3, 4).to("npu")
    x = torch.randn(2, 3, device="npu")
    out = torch.func.functional_call(net, dict(net.named_parameters()), (x,))
    assert out.sum().item() == 1.3248364925384521


def test_uniform_values_of_the_triton_ascend_tutorial(torch):
    # Triton-Ascend's first tutorial, vector addition: its printed sum, on an Atlas A2.
    torch.manual_seed(0)
    x = torch.rand(98432, device="npu")
    y = torch.rand(98432, device="npu")
    total = x + y
    printed = [f"{value:.4f}" for value in (*total[:3].tolist(), *total[-3:].tolist())]
    assert printed == ["0.8329", "1.0024", "1.3639", "1.0796", "1.0406", "1.5811"]


def test_streams_of_the_pypto_documentation(torch):
    # pypto's documentation of its random operators: Ascend 950, key 1234, counter [0, 1].
    import numpy

    from npusim.kernels import philox

    uniform = [0.1689806, 0.9725481, 0.90036285, 0.16582811, 0.1454581]
    normal = [-0.32364845, 1.8577391, 0.39556974, 0.2311697, 0.24243996]
    assert philox.uniform(1234, 1, 5).tolist() == numpy.array(uniform, numpy.float32).tolist()
    assert philox.normal(1234, 1, 5).tolist() == numpy.array(normal, numpy.float32).tolist()


DRAWS = {
    "normal_": lambda x: x.normal_(),
    "uniform_": lambda x: x.uniform_(),
    "random_": lambda x: x.random_(),
    "randint": lambda x: x.random_(3, 9),
    "bernoulli_": lambda x: x.bernoulli_(0.5),
    "exponential_": lambda x: x.exponential_(),
}


@pytest.mark.parametrize("size", [1, 1000])
@pytest.mark.parametrize("draw", DRAWS)
def test_a_draw_moves_the_offset_by_12(torch, draw, size):
    x = torch.empty(size, device="npu")
    generator = torch.npu.default_generators[0]
    generator.manual_seed(7)
    DRAWS[draw](x)
    assert (generator.initial_seed(), generator.get_offset()) == (7, 12)


def test_integers_are_uniform_draws_between_the_bounds(torch):
    # From the source of op-plugin and CANN; no published output of hardware is known.
    torch.npu.manual_seed(3)
    draws = torch.rand(1000, device="npu").cpu()
    torch.npu.manual_seed(3)
    integers = torch.randint(-5, 7, (1000,), device="npu").cpu()
    assert integers.tolist() == (draws * 12 - 5).floor().tolist()
    assert integers.unique().tolist() == list(range(-5, 7))
    assert torch.randint(1 << 40, (9,), device="npu").max().item() < 1 << 40


def test_exponentials_are_logarithms_of_uniform_draws(torch):
    # op-plugin, ExponentialKernelNpuOpApi.cpp: uniform_, neg_, add_(1), at most 1 - eps / 2, log_, mul_(-1 / lambd).
    torch.npu.manual_seed(3)
    draws = torch.rand(1000, device="npu").cpu()
    torch.npu.manual_seed(3)
    values = torch.empty(1000, device="npu").exponential_(2.0).cpu()
    torch.testing.assert_close(values, -torch.log1p(-draws) / 2, rtol=1e-5, atol=1e-7)
    assert values.min() > 0


def test_integers_without_bounds_lie_below_the_bound_of_their_dtype(torch):
    # op-plugin, RandomKernelNpuOpApi.cpp
    torch.npu.manual_seed(3)
    draws = torch.rand(1000, device="npu").cpu()
    for dtype, bound in (
        (torch.int32, 2**31 - 1),
        (torch.uint8, 255),
        (torch.float32, 2**24 + 1),
        (torch.bfloat16, 257),
    ):
        torch.npu.manual_seed(3)
        integers = torch.empty(1000, dtype=dtype, device="npu").random_().cpu()
        assert torch.equal(integers, (draws * bound).floor().clamp(max=bound - 1).to(dtype)), dtype
    mask = torch.empty(1000, dtype=torch.bool, device="npu").random_()
    assert 400 < mask.sum().item() < 600


def test_functions_move_the_offset_by_12(torch):
    weights = torch.ones(5, device="npu")
    generator = torch.npu.default_generators[0]
    for function in (
        lambda: torch.randperm(5, device="npu"),
        lambda: torch.multinomial(weights, 2),
        lambda: torch.nn.functional.dropout(weights, 0.5),
    ):
        generator.manual_seed(7)
        function()
        assert generator.get_offset() == 12


def test_operators_without_kernel_leave_the_offset(torch):
    # torch_npu falls back to the CPU, and its generator, for geometric_, cauchy_ and log_normal_.
    torch.npu.manual_seed(7)
    torch.empty(3, device="npu").geometric_(0.5)
    assert torch.npu.default_generators[0].get_offset() == 0


def test_seeds_repeat_and_differ_from_the_cpu(torch):
    def draw(device):
        torch.manual_seed(0)
        return [torch.randperm(50, device=device).tolist(), torch.rand(5, device=device).tolist()]

    assert draw("npu") == draw("npu")
    assert all(npu != cpu for npu, cpu in zip(draw("npu"), draw("cpu"), strict=True))


def test_state_can_be_saved(torch):
    torch.npu.manual_seed(3)
    state = torch.npu.get_rng_state()
    first = torch.randn(4, device="npu")
    torch.npu.set_rng_state(state)
    assert state.numel() == 16  # bytes: seed and offset
    assert torch.equal(first, torch.randn(4, device="npu"))


def test_generator_argument(torch):
    generator = torch.Generator(device="npu").manual_seed(5)
    first = torch.randn(4, device="npu", generator=generator)
    generator.manual_seed(5)
    assert torch.equal(first, torch.empty(4, device="npu").normal_(generator=generator))
    with pytest.raises(RuntimeError, match="Expected a 'npu' device type for generator but found 'cpu'"):
        torch.randn(4, device="npu", generator=torch.Generator())


def test_complex_normals_have_unit_variance(torch):
    torch.npu.manual_seed(0)
    values = torch.randn(20_000, dtype=torch.complex64, device="npu").cpu()
    assert abs(values.abs().square().mean().item() - 1) < 0.05


REFUSED = {
    "dtype": lambda x: x.long().normal_(),
    "standard deviation": lambda x: x.normal_(std=-1),
    "bounds": lambda x: x.uniform_(2, 1),
    "bounds of integers": lambda x: x.random_(2, 1),
    "rate": lambda x: x.exponential_(0.0),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refuses_what_torch_refuses(torch, case):
    draw = REFUSED[case]
    state = torch.get_rng_state()
    with pytest.raises(RuntimeError) as expected:
        draw(torch.empty(2))
    with pytest.raises(type(expected.value), match=re.escape(str(expected.value))):
        draw(torch.empty(2, device="npu"))
    assert torch.equal(state, torch.get_rng_state())  # the CPU's stream is not touched


def test_normals_are_those_of_the_c_librarys_functions(torch):
    import numpy

    from npusim.kernels import philox

    pairs = philox.uniform(5, 7, 200_002).reshape(-1, 2)
    first = numpy.maximum(pairs[:, 0], numpy.float32(1e-7)).astype(numpy.float64)
    angle = (numpy.float32(2 * numpy.pi) * pairs[:, 1]).astype(numpy.float64)
    radius = numpy.sqrt(numpy.float32(-2) * numpy.log(first).astype(numpy.float32))
    expected = numpy.stack([f(angle).astype(numpy.float32) * radius for f in (numpy.sin, numpy.cos)], -1).reshape(-1)
    for count in (1, 5, 200_001):  # in and out of whole blocks
        assert philox.normal(5, 7, count).tolist() == expected[:count].tolist()
