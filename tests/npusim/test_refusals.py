"""What CANN refuses, in the class and the stable text of the real error."""

import warnings
from contextlib import contextmanager

import pytest

import npusim

pytestmark = pytest.mark.simulated

CALLS = {
    "aclnnAdd": lambda torch, x: x + x,
    "aclnnAdds": lambda torch, x: x + 1,
    "aclnnSubs": lambda torch, x: x - 1,
    "aclnnMul": lambda torch, x: x * x,
    "aclnnMuls": lambda torch, x: x.mul_(2),
    "aclnnDivs": lambda torch, x: x / 2,
    "aclnnCat": lambda torch, x: torch.cat([x, x]),
}


@contextmanager
def refusal(call: str, tensor: str, dtype: str):
    """Expects the error of a function of CANN that does not take a tensor of this dtype."""
    with pytest.raises(RuntimeError) as raised:
        yield
    assert f"NPU function error: call {call} failed, error code is 161002" in str(raised.value)
    name = {"float64": "DOUBLE"}.get(dtype, dtype.upper())
    assert f"{tensor} not implemented for DT_{name}, should be in dtype support list" in str(raised.value)


@pytest.mark.parametrize("dtype", ["uint16", "uint32", "uint64"])
@pytest.mark.parametrize("call", CALLS)
def test_arithmetic_without_sign(torch, call, dtype):
    # The text of aclnnCat is in a public report from hardware: sglang on an Ascend NPU, 2025-09-13.
    x = torch.ones(2, dtype=getattr(torch, dtype)).to("npu")
    with pytest.raises(RuntimeError) as raised:
        CALLS[call](torch, x)
    assert f"NPU function error: call {call} failed, error code is 161002" in str(raised.value)
    assert f"EZ1001: Tensor self not implemented for DT_{dtype.upper()}" in str(raised.value).replace(
        "tensor 0", "Tensor self"
    )


PRODUCTS = {
    "aclnnMatmul": lambda torch, x: x @ x,
    "aclnnMm": lambda torch, x: torch.mm(x, x),
    "aclnnMv": lambda torch, x: torch.mv(x, x[0]),
    "aclnnDot": lambda torch, x: torch.dot(x[0], x[0]),
    "aclnnBatchMatMul": lambda torch, x: torch.bmm(x[None], x[None]),
    "aclnnBaddbmm": lambda torch, x: torch.baddbmm(x[None], x[None], x[None]),
    "aclnnAddbmm": lambda torch, x: torch.addbmm(x, x[None], x[None]),
    "aclnnAddmm": lambda torch, x: torch.nn.functional.linear(x, x, x[0]),
}


@pytest.mark.parametrize("dtype", ["float64", "complex64"])
@pytest.mark.parametrize("call", PRODUCTS)
def test_products(torch, call, dtype):
    x = torch.eye(2, dtype=getattr(torch, dtype)).to("npu")
    with refusal(call, "Tensor self", dtype):
        PRODUCTS[call](torch, x)
    PRODUCTS[call](torch, x.to("npu", torch.float32))
    PRODUCTS[call](torch, x.cpu())


@pytest.mark.parametrize("call", PRODUCTS)
def test_products_of_whole_numbers_are_computed_with_a_warning(torch, call):
    x = torch.eye(2, dtype=torch.int64, device="npu")
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        assert PRODUCTS[call](torch, x).device == x.device
    (warning,) = given
    assert warning.category is npusim.HardwareWarning
    assert (warning.filename, f"{call} of CANN takes no DT_INT64" in str(warning.message)) == (__file__, True)


def test_products_without_a_warning(torch):
    whole = torch.ones(2, dtype=torch.int32, device="npu")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert torch.dot(whole, whole).item() == 2  # of these, CANN has a kernel
        for dtype in (torch.float32, torch.float16, torch.bfloat16):
            for call in PRODUCTS.values():
                call(torch, torch.eye(2, dtype=dtype, device="npu"))


def pooled(torch, x):
    return torch.nn.functional.avg_pool2d(x[None, None], 2)


def embedded(torch, x):
    return torch.nn.functional.embedding(torch.tensor([0, 1], device="npu"), x)


F64, F64_COMPLEX = ["float64"], ["float64", "complex64", "complex128"]
OPERATORS = {
    "aclnnTanh": (lambda torch, x: torch.tanh(x), F64_COMPLEX),
    "aclnnSilu": (lambda torch, x: torch.nn.functional.silu(x), F64_COMPLEX),
    "aclnnGelu": (lambda torch, x: torch.nn.functional.gelu(x), F64),
    "aclnnRelu": (lambda torch, x: x.relu_(), ["float64", "int16"]),
    "aclnnLayerNorm": (lambda torch, x: torch.nn.functional.layer_norm(x, x.shape), F64),
    "aclnnConvolution": (lambda torch, x: torch.nn.functional.conv1d(x[:, None], x[:1, None]), F64),
    "aclnnMseLoss": (lambda torch, x: torch.nn.functional.mse_loss(x, x), F64),
    "aclnnSort": (lambda torch, x: torch.sort(x), F64),
    "aclnnMedian": (lambda torch, x: x.median(), F64),
    "aclnnMaxDim": (lambda torch, x: x.max(dim=0), ["float64", "int16", "int8", "uint8"]),
    "aclnnStd": (lambda torch, x: x.std(), F64_COMPLEX),
    "aclnnVarCorrection": (lambda torch, x: torch.var(x, dim=0), F64_COMPLEX),
    "aclnnLinalgVectorNorm": (lambda torch, x: torch.linalg.vector_norm(x), F64_COMPLEX),
    "aclnnRoll": (lambda torch, x: x.roll(1), ["float64", "complex128"]),
    "aclnnRepeatInterleaveInt": (lambda torch, x: x.repeat_interleave(2, 0), F64_COMPLEX),
    "aclnnInplaceMaskedFillScalar": (lambda torch, x: x.masked_fill_(x == x, 0), [*F64_COMPLEX, "int16", "uint8"]),
    "aclnnLerps": (lambda torch, x: torch.lerp(x, x, 0.5), F64_COMPLEX),
    "aclnnAddcmul": (lambda torch, x: torch.addcmul(x, x, x), ["complex64", "int16"]),
    "aclnnExp": (lambda torch, x: x.exp(), ["int32", "int16", "int8", "uint8"]),
    "aclnnNeg": (lambda torch, x: -x, ["int16", "uint8"]),
    "aclnnFmodTensor": (lambda torch, x: torch.fmod(x, x), ["int16"]),
    "aclnnGather": (lambda torch, x: x.gather(0, torch.zeros(2, 2, dtype=torch.int64, device="npu")), ["complex64"]),
    "aclnnIndex": (lambda torch, x: x[[0, 1]], ["complex128"]),
    "aclnnEluBackward": (lambda torch, x: torch.nn.functional.elu(x.requires_grad_()).sum().backward(), F64),
    "aclnnAvgPool2dBackward": (lambda torch, x: pooled(torch, x.requires_grad_()).sum().backward(), F64),
    "aclnnEmbeddingDenseBackward": (lambda torch, x: embedded(torch, x.requires_grad_()).sum().backward(), F64),
    "aclnnIndexPutImpl": (lambda torch, x: x.index_put_((torch.tensor([0], device="npu"),), x[0] + 0), ["complex64"]),
}


@pytest.mark.parametrize(
    ("call", "dtype"), [(call, dtype) for call, (_, dtypes) in OPERATORS.items() for dtype in dtypes]
)
def test_operators(torch, call, dtype):
    x = torch.ones(2, 2, dtype=getattr(torch, dtype)).to("npu")
    with refusal(call, "", dtype):
        OPERATORS[call][0](torch, x)


@pytest.mark.parametrize("call", OPERATORS)
@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_operators_that_are_taken(torch, call, dtype):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        OPERATORS[call][0](torch, torch.ones(2, 2, dtype=getattr(torch, dtype), device="npu"))


def test_transforms_are_products_of_matrices(torch):
    x = torch.ones(4, dtype=torch.float64).to("npu")
    for call in (torch.fft.rfft, lambda x: torch.fft.fft(x.to(torch.complex128)), torch.fft.ifft, torch.fft.irfft):
        with refusal("aclnnMatmul", "Tensor self", "float64"):  # torch_npu hands over real and imaginary parts
            call(x)
    assert torch.fft.irfft(torch.fft.rfft(x.float())).tolist() == [1, 1, 1, 1]


def test_checks_of_torch_npu_itself(torch):
    x = torch.eye(2, dtype=torch.float64).to("npu")
    with pytest.raises(RuntimeError, match="svd_npu only supported Float"):
        torch.linalg.svd(x)
    with pytest.raises(RuntimeError, match="not support torch\\.fp64 dtypes"):
        torch.nn.functional.interpolate(x[None, None], size=(4, 4), mode="bilinear")


def test_products_of_eight_bits(torch):
    x = torch.ones(16, 16).to(torch.float8_e4m3fn).to("npu")
    with pytest.raises(RuntimeError, match="_scaled_mm is supported only on the Ascend950 platform and after"):
        torch._scaled_mm(x, x.t(), torch.ones(1, device="npu"), torch.ones(1, device="npu"))


OUT = {
    "addcmul": lambda torch, x, out: torch.addcmul(x, x, x, out=out),
    "addcdiv": lambda torch, x, out: torch.addcdiv(x, x, x, out=out),
    "angle": lambda torch, x, out: torch.angle(x, out=out),
    "logit": lambda torch, x, out: torch.logit(x, 0.1, out=out),
    "pow": lambda torch, x, out: torch.pow(x, 2, out=out),
    "square": lambda torch, x, out: torch.square(x, out=out),
    "stack": lambda torch, x, out: torch.stack([x, x], out=out),
    "std": lambda torch, x, out: torch.std(x, 0, out=out),
    "var": lambda torch, x, out: torch.var(x, 0, correction=0, out=out),
}


@pytest.mark.parametrize("name", {"float16": "Half", "float64": "Double", "complex64": "ComplexFloat"}.items())
@pytest.mark.parametrize("call", OUT)
def test_results_that_torch_npu_writes_in_their_own_dtype_only(torch, call, name):
    # Seen with the wheel's own kernels; the CPU casts.
    x = torch.full((2, 2), 0.5, device="npu")
    with pytest.raises(RuntimeError, match=rf"^expected dtype Float but got dtype {name[1]}$"):
        OUT[call](torch, x, torch.empty(0, dtype=getattr(torch, name[0]), device="npu"))
    out = torch.empty(0, device="npu")
    assert OUT[call](torch, x, out) is out
    torch.testing.assert_close(out.cpu(), OUT[call](torch, x.cpu(), torch.empty(0)))


def test_results_whose_dtype_is_the_first_of_several(torch):
    x, half = torch.ones(2, device="npu"), torch.ones(2, dtype=torch.half, device="npu")
    assert torch.stack([x, half], out=torch.empty(0, device="npu")).dtype == torch.float32
    with pytest.raises(RuntimeError, match=r"^expected dtype Half but got dtype Float$"):
        torch.stack([half, x], out=torch.empty(0, device="npu"))
    with pytest.raises(RuntimeError, match=r"^expected dtype Float but got dtype Half$"):
        torch.addcmul(half, x, x, out=half.clone())


def test_results_that_are_cast(torch):
    x = torch.ones(2, device="npu")
    assert torch.add(x, 1, out=torch.empty(0, dtype=torch.half, device="npu")).tolist() == [2, 2]
    assert torch.pow(x, x, out=torch.empty(0, dtype=torch.half, device="npu")).tolist() == [1, 1]


def test_what_float64_can_do(torch):
    x = torch.tensor([[4.0, 1.0], [9.0, 16.0]], dtype=torch.float64).to("npu")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert (x.sqrt().sum() + x.mean() + x.max()).item() == 33.5
        assert torch.softmax(x, 1).sum().item() == pytest.approx(2)
        assert x.exp().log().round().tolist() == x.tolist()
        assert torch.where(x > 4, x, 0).cumsum(1).tolist() == [[0, 0], [9, 25]]
        assert x[[1]].topk(1).values.tolist() == [[16]]


def test_whole_numbers_and_truth_values_are_computed_with_a_warning(torch):
    steps = torch.arange(4, device="npu")
    calls = {
        "aclnnCeil of CANN takes no DT_INT64": lambda: steps.ceil(),
        "aclnnClampMaxTensor of CANN takes no DT_BOOL": lambda: (steps > 1).clamp_max(steps > 2),
        "aclnnDot of CANN takes no DT_INT64": lambda: steps.vdot(steps),
    }
    for words, call in calls.items():
        with pytest.warns(npusim.HardwareWarning, match=words):
            assert call().device == steps.device


def test_parts_of_what_cann_computes_as_a_whole_are_not_asked(torch):
    # aclStft takes float64, as its document says; the transform that it is made of here has no float64 by itself.
    x = torch.ones(8, dtype=torch.float64).to("npu")
    assert torch.stft(x, 4, return_complex=False).dtype is torch.float64
    with pytest.raises(RuntimeError, match="call aclnnMatmul failed"):
        torch.fft.rfft(x)


def test_the_table_names_what_torch_npu_has(torch):
    from npusim.kernels.dtypes import REFUSED

    keys = ("PrivateUse1", "AutogradPrivateUse1")
    full = {name for key in keys for name in torch._C._dispatch_get_registrations_for_dispatch_key(key)}
    names = {name.removeprefix("aten::") for name in full}
    names |= {name.partition(".")[0].rstrip("_") for name in names}
    assert set(REFUSED) - names == set()


WHOLE = ["int64", "uint16", "uint32", "uint64"]
DOUBLE = ["float64", "complex64"]
LISTS = {
    "aclnnForeachAddScalarV2": (lambda torch, x: torch._foreach_add(x, 1), WHOLE + DOUBLE),
    "aclnnForeachAddListV2": (lambda torch, x: torch._foreach_add_(x, x), WHOLE + DOUBLE),
    "aclnnForeachAddScalarList": (lambda torch, x: torch._foreach_add(x, [1, 1]), DOUBLE),
    "aclnnForeachSubListV2": (lambda torch, x: torch._foreach_sub(x, x, alpha=2), WHOLE + DOUBLE),
    "aclnnForeachSubScalarList": (lambda torch, x: torch._foreach_sub_(x, [1, 1]), DOUBLE),
    "aclnnForeachMulScalarV2": (lambda torch, x: torch._foreach_mul_(x, 2), [*WHOLE, *DOUBLE, "uint8"]),
    "aclnnForeachMulList": (lambda torch, x: torch._foreach_mul(x, x), [*WHOLE, *DOUBLE, "bool"]),
    "aclnnForeachMulScalarList": (lambda torch, x: torch._foreach_mul(x, [2, 2]), DOUBLE),
    "aclnnForeachDivList": (lambda torch, x: torch._foreach_div(x, x), DOUBLE),
    "aclnnForeachPowList": (lambda torch, x: torch._foreach_pow(x, x), DOUBLE),
    "aclnnForeachPowScalarList": (lambda torch, x: torch._foreach_pow_(x, [2, 2]), DOUBLE),
    "aclnnForeachLerpScalar": (lambda torch, x: torch._foreach_lerp(x, x, 0.5), DOUBLE),
    "aclnnForeachLerpList": (lambda torch, x: torch._foreach_lerp(x, x, x), DOUBLE),
    "aclnnForeachAddcdivScalarV2": (lambda torch, x: torch._foreach_addcdiv(x, x, x, value=1), DOUBLE),
    "aclnnForeachAddcmulScalarV2": (lambda torch, x: torch._foreach_addcmul_(x, x, x), DOUBLE),
    "aclnnForeachNorm": (lambda torch, x: torch._foreach_norm(x), ["float64"]),
    "aclnnForeachRoundOffNumberV2": (lambda torch, x: torch._foreach_floor(x), ["float64", "bool"]),
    "aclnnForeachCos": (lambda torch, x: torch._foreach_cos_(x), DOUBLE),
    "aclnnForeachSigmoid": (lambda torch, x: torch._foreach_sigmoid(x), DOUBLE),
    "aclnnForeachSqrt": (lambda torch, x: torch._foreach_sqrt(x), DOUBLE),
    "aclnnForeachTanh": (lambda torch, x: torch._foreach_tanh(x), DOUBLE),
}


@pytest.mark.parametrize(("call", "dtype"), [(call, dtype) for call, (_, dtypes) in LISTS.items() for dtype in dtypes])
def test_lists_of_one_dtype(torch, call, dtype):
    # The wheel's own kernels call these functions, or check the dtypes: seen with a libopapi.so of their names only.
    x = [torch.ones(2, dtype=getattr(torch, dtype)).to("npu") for _ in range(2)]
    with refusal(call, "[0]", dtype):
        LISTS[call][0](torch, x)


@pytest.mark.parametrize("call", LISTS)
@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_lists_that_are_taken(torch, call, dtype):
    x = [torch.ones(2, dtype=getattr(torch, dtype)).to("npu") for _ in range(2)]
    LISTS[call][0](torch, x)


OWN_CHECKS = {
    "half, float, int32 or bfloat16": {
        "_foreach_sub": ((1,), ["int64", "uint8", "uint16", "float64"]),
        "_foreach_pow": ((2,), ["float64"]),
    },
    "half, float or bfloat16": {
        "_foreach_div": ((2,), ["float64"]),
        "_foreach_div_": (([2, 2],), ["float64"]),
        **{f"_foreach_{name}": ((), ["float64", "complex64"]) for name in ("exp", "log", "reciprocal", "log1p_")},
    },
    "half or float or int32 or bfloat16": {"_foreach_neg": ((), ["float64"])},
    "half, float, int or short or bfloat16": {"_foreach_zero_": ((), ["float64", "complex64"])},
}


@pytest.mark.parametrize(
    ("taken", "name", "dtype"),
    [(taken, name, dtype) for taken, calls in OWN_CHECKS.items() for name in calls for dtype in calls[name][1]],
)
def test_torch_npus_own_checks_of_lists(torch, taken, name, dtype):
    x = [torch.ones(2, dtype=getattr(torch, dtype)).to("npu") for _ in range(2)]
    with pytest.raises(RuntimeError, match=f"^input must be {taken}$"):
        getattr(torch, name)(x, *OWN_CHECKS[taken][name][0])


def test_lists_that_are_computed_tensor_by_tensor(torch):
    whole, part = torch.arange(4, device="npu"), torch.ones(3, device="npu")
    assert [x.tolist() for x in torch._foreach_add([part, whole], 1)] == [[2.0] * 3, [1, 2, 3, 4]]
    assert [x.tolist() for x in torch._foreach_sub([whole[::2], whole[1::2]], 1)] == [[-1, 1], [0, 2]]
    assert [x.tolist() for x in torch._foreach_mul([whole, whole], 0.5)] == [[0, 0.5, 1, 1.5]] * 2
    assert [x.tolist() for x in torch._foreach_div([whole], 2)] == [[0, 0.5, 1, 1.5]]
    assert [x.tolist() for x in torch._foreach_neg([whole, whole])] == [[0, -1, -2, -3]] * 2
    assert [x.tolist() for x in torch._foreach_add([whole, whole], [1, 2])] == [[1, 2, 3, 4], [2, 3, 4, 5]]
    assert [x.tolist() for x in torch._foreach_pow([whole], 2)] == [[0, 1, 4, 9]]
    assert [x.tolist() for x in torch._foreach_floor([whole])] == [[0, 1, 2, 3]]
    mixed = torch._foreach_exp([part.to("npu", torch.float64), part])
    assert [x.dtype for x in mixed] == [torch.float64, torch.float32]
    with pytest.raises(RuntimeError, match="call aclnnAdds failed"):
        torch._foreach_add([part, torch.ones(2, dtype=torch.uint16).to("npu")], 1)


def test_trees(torch):
    from tensordict import TensorDict

    tree = TensorDict(a=torch.ones(2, dtype=torch.uint16), b=TensorDict(c=torch.ones(2, dtype=torch.uint16))).to("npu")
    with pytest.raises(RuntimeError, match="call aclnnForeachAddScalarV2 failed"):
        tree + 1
    tree["a"] = tree["a"].float()
    with pytest.raises(RuntimeError, match="call aclnnAdds failed"):
        tree + 1


def test_what_needs_no_arithmetic_passes(torch):
    x = torch.tensor([1, 2**64 - 1], dtype=torch.uint64).to("npu")
    assert x[1:].tolist() == [2**64 - 1]
    assert "18446744073709551615" in repr(x)
    assert x.to(torch.int64).add(1).tolist() == [2, 0]
    assert (torch.ones(2, dtype=torch.uint8, device="npu") + 1).tolist() == [2, 2]


PACKED = {
    "packed there": lambda rnn, x: rnn.pack_padded_sequence(x, [3, 1]),
    "unpacked there": lambda rnn, x: rnn.pad_packed_sequence(rnn.pack_padded_sequence(x.cpu(), [3, 1]).to(x.device)),
}


@pytest.mark.parametrize("case", PACKED)
def test_packed_sequences(torch, case):
    # torch_npu keeps the padding: it packs 6 rows here, and cannot unpack 4.
    with pytest.raises(NotImplementedError, match="npusim: packed sequences are not simulated"):
        PACKED[case](torch.nn.utils.rnn, torch.ones(3, 2, 2, device="npu", requires_grad=True))


def test_an_lstm_over_packed_sequences(torch):
    packed = torch.nn.utils.rnn.pack_sequence([torch.ones(3, 2), torch.ones(1, 2)])
    torch.nn.LSTM(2, 2)(packed)
    with pytest.raises(NotImplementedError, match="npusim: packed sequences are not simulated"):
        torch.nn.LSTM(2, 2).to("npu")(packed.to("npu"))


DRAWS = {
    "rand": lambda torch, x, g: torch.rand(2, generator=g),
    "randn": lambda torch, x, g: torch.randn(2, generator=g),
    "randint": lambda torch, x, g: torch.randint(5, (2,), generator=g),
    "randperm": lambda torch, x, g: torch.randperm(5, generator=g),
    "normal": lambda torch, x, g: torch.normal(x, x, generator=g),
    "bernoulli": lambda torch, x, g: torch.bernoulli(x, generator=g),
    "multinomial": lambda torch, x, g: torch.multinomial(x, 1, generator=g),
    "bernoulli_": lambda torch, x, g: x.bernoulli_(0.5, generator=g),
    "exponential_": lambda torch, x, g: x.exponential_(generator=g),
    "random_": lambda torch, x, g: x.random_(5, generator=g),
}


@pytest.mark.parametrize("draw", DRAWS)
def test_a_generator_of_the_device_draws_nothing_on_the_host(torch, draw):
    generator = torch.Generator("npu")
    with pytest.raises(RuntimeError, match="Expected all tensors to be on the same device"):
        DRAWS[draw](torch, torch.ones(2), generator)
    assert generator.get_offset() == 0


def test_generators_and_dtypes_of_other_kinds(torch):
    with pytest.raises(RuntimeError, match="Expected a 'npu' device type for generator but found 'cpu'"):
        torch.rand(2, device="npu", generator=torch.Generator())
    with pytest.raises(RuntimeError, match="error code is 107001"):
        torch.ones(2, device="npu:7")
