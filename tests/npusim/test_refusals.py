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
