"""What CANN refuses, in the class and the stable text of the real error."""

import pytest

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
    "aclnnBatchMatMul": lambda torch, x: torch.bmm(x[None], x[None]),
    "aclnnAddmm": lambda torch, x: torch.nn.functional.linear(x, x, x[0]),
}


@pytest.mark.parametrize("call", PRODUCTS)
def test_products_of_double(torch, call):
    x = torch.eye(2, dtype=torch.float64).to("npu")
    with pytest.raises(RuntimeError) as raised:
        PRODUCTS[call](torch, x)
    assert f"NPU function error: call {call} failed, error code is 161002" in str(raised.value)
    assert "EZ1001: Tensor self not implemented for DT_DOUBLE" in str(raised.value)
    PRODUCTS[call](torch, x.to("npu", torch.float32))
    PRODUCTS[call](torch, x.cpu())


LISTS = {
    "aclnnForeachAddScalarV2": lambda torch, x: torch._foreach_add(x, 1),
    "aclnnForeachAddListV2": lambda torch, x: torch._foreach_add_(x, x),
    "aclnnForeachSubListV2": lambda torch, x: torch._foreach_sub(x, x),
    "aclnnForeachMulScalarV2": lambda torch, x: torch._foreach_mul_(x, 2),
    "aclnnForeachMulList": lambda torch, x: torch._foreach_mul(x, x),
}


@pytest.mark.parametrize("dtype", ["int64", "float64", "uint16", "uint32", "uint64"])
@pytest.mark.parametrize("call", LISTS)
def test_lists_of_one_dtype(torch, call, dtype):
    # The wheel's own kernels call these functions, or check the dtypes: seen with a libopapi.so of their names only.
    x = [torch.ones(2, dtype=getattr(torch, dtype)).to("npu") for _ in range(2)]
    with pytest.raises(RuntimeError) as raised:
        LISTS[call](torch, x)
    assert f"NPU function error: call {call} failed, error code is 161002" in str(raised.value)
    assert f"[0] not implemented for DT_{dtype.upper().replace('FLOAT64', 'DOUBLE')}" in str(raised.value)


@pytest.mark.parametrize("dtype", ["int64", "uint8", "uint16", "float64"])
def test_torch_npus_own_checks_of_lists(torch, dtype):
    x = [torch.ones(2, dtype=getattr(torch, dtype)).to("npu") for _ in range(2)]
    with pytest.raises(RuntimeError, match="input must be half, float, int32 or bfloat16"):
        torch._foreach_sub(x, 1)
    if dtype == "float64":
        with pytest.raises(RuntimeError, match="input must be half, float or bfloat16"):
            torch._foreach_div(x, 2)


def test_lists_that_are_computed_tensor_by_tensor(torch):
    whole, part = torch.arange(4, device="npu"), torch.ones(3, device="npu")
    assert [x.tolist() for x in torch._foreach_add([part, whole], 1)] == [[2.0] * 3, [1, 2, 3, 4]]
    assert [x.tolist() for x in torch._foreach_sub([whole[::2], whole[1::2]], 1)] == [[-1, 1], [0, 2]]
    assert [x.tolist() for x in torch._foreach_mul([whole, whole], 0.5)] == [[0, 0.5, 1, 1.5]] * 2
    assert [x.tolist() for x in torch._foreach_div([whole], 2)] == [[0, 0.5, 1, 1.5]]
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


def test_generators_and_dtypes_of_other_kinds(torch):
    with pytest.raises(RuntimeError, match="Expected a 'npu' device type for generator but found 'cpu'"):
        torch.rand(2, device="npu", generator=torch.Generator())
    with pytest.raises(RuntimeError, match="error code is 107001"):
        torch.ones(2, device="npu:7")
