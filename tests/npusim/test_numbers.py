"""0-dim tensors of the CPU among NPU tensors: torch_npu takes them as numbers in some places only.

What the wheel's own kernels do: seen with a libopapi.so of nothing but the names of CANN's functions.
"""

import pytest

from npusim import count

pytestmark = pytest.mark.simulated

TAKEN = {
    "add": lambda torch, x, s: x + s,
    "added to": lambda torch, x, s: s + x,
    "multiplied in place": lambda torch, x, s: x.mul_(s),
    "power": lambda torch, x, s: x**s,
    "compared": lambda torch, x, s: x < s,
    "lerp": lambda torch, x, s: torch.lerp(x, x, s),
    "filled": lambda torch, x, s: x.fill_(s),
    "filled by an index": lambda torch, x, s: x.index_fill(0, torch.zeros(1, dtype=torch.int64, device="npu"), s),
    "written by a mask": lambda torch, x, s: x.index_put((x > 0,), s),
    "written to a row": lambda torch, x, s: x.__setitem__(0, s),
    "on the CPU": lambda torch, x, s: torch.clamp(x.cpu(), s),
}
COPIED = {
    "subtracted from": lambda torch, x, s: s - x,
    "multiplied by": lambda torch, x, s: s * x,
    "divided by": lambda torch, x, s: s / x,
    "to the power of": lambda torch, x, s: s**x,
    "maximum": lambda torch, x, s: torch.maximum(x, s),
    "minimum, the other way round": lambda torch, x, s: torch.minimum(s, x),
    "arc tangent": lambda torch, x, s: torch.atan2(x, s),
    "where": lambda torch, x, s: torch.where(x > 0, x, s),
    "masked_fill": lambda torch, x, s: x.masked_fill(x > 0, s),
    "masked_fill in place": lambda torch, x, s: x.masked_fill_(x > 0, s),
    "logical": lambda torch, x, s: torch.logical_or(x, s),
}
REFUSED = {
    "clamp": lambda torch, x, s: torch.clamp(x, s),
    "clamp_max": lambda torch, x, s: x.clamp_max_(s),
    "isclose": lambda torch, x, s: torch.isclose(x, s),
    "allclose": lambda torch, x, s: torch.allclose(s, x),
    "equal": lambda torch, x, s: torch.equal(x, s),
    "loss": lambda torch, x, s: torch.nn.functional.mse_loss(x, s),
    "absolute loss": lambda torch, x, s: torch.nn.functional.l1_loss(x, s),
    "fmod": lambda torch, x, s: torch.fmod(x, s),
    "addcmul": lambda torch, x, s: torch.addcmul(x, x, s),
    "lerp": lambda torch, x, s: torch.lerp(x, s, 0.5),
    "logical": lambda torch, x, s: torch.logical_xor(x, s),
    "written by an index": lambda torch, x, s: x.__setitem__(torch.zeros(1, dtype=torch.int64, device=x.device), s),
    "selected": lambda torch, x, s: x.index_select(0, s.long()),
    "taken": lambda torch, x, s: torch.take(x, s.long()),
    "mask": lambda torch, x, s: x.masked_fill_(s.bool(), 1.0),
    "equal in place": lambda torch, x, s: x.eq_(s),
}


def moves(torch, function):
    x, s = torch.ones(2, 2, device="npu"), torch.tensor(1.0)
    with count() as counted:
        function(torch, x, s)
    return counted["h2d"], counted["h2d_bytes"]


@pytest.mark.parametrize("case", TAKEN)
def test_taken_as_a_number(torch, case):
    assert moves(torch, TAKEN[case]) == (0, 0)


@pytest.mark.parametrize("case", COPIED)
def test_copied(torch, case):
    assert moves(torch, COPIED[case]) == (1, 4)


@pytest.mark.parametrize("case", REFUSED)
def test_refused(torch, case):
    x, s = torch.ones(2, 2, device="npu"), torch.tensor(1.0)
    with pytest.raises(RuntimeError, match="Expected all tensors to be on the same device"):
        REFUSED[case](torch, x, s)
    REFUSED[case](torch, x.cpu(), s)


def test_numbers_of_python_are_no_tensors(torch):
    x, whole = torch.ones(2, device="npu"), torch.ones(2, dtype=torch.int64, device="npu")
    calls = (torch.xlogy, torch.remainder, torch.fmod, torch.true_divide, torch.floor_divide, torch.pow)
    for call in calls:
        assert call(x, 2).device == call(whole, 2).device == x.device
    for call in (torch.xlogy, torch.remainder, torch.floor_divide, torch.pow):
        assert call(2, whole + 1).device == x.device
    assert torch.where(x > 0, 2.0, 1).tolist() == [2, 2]
    assert torch.clamp(x, 0, 0.5).tolist() == [0.5, 0.5]
