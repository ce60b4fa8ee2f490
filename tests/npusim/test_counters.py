"""Counts of data movement that follow from the source of torch and torch_npu."""

import pytest

pytestmark = pytest.mark.simulated


def moves(torch, function):
    """What a call on a 4 × 4 tensor moves, without zeros."""
    import npusim

    x = torch.arange(16.0, device="npu").view(4, 4)
    with npusim.count() as counted:
        function(torch, x)
    return {name: value for name, value in counted.items() if value}


CASES = {
    "factory that fills": (lambda torch, x: torch.zeros(3, device="npu"), {"ops": 1}),
    "factory that does not": (lambda torch, x: torch.empty(3, device="npu"), {}),
    "memory like another's": (lambda torch, x: torch.empty_like(x, dtype=torch.half), {}),
    "memory like a view's": (lambda torch, x: torch.empty_like(x[:, :2].t()), {}),
    "zeros like another": (lambda torch, x: torch.zeros_like(x), {"ops": 1}),
    "ones like another": (lambda torch, x: torch.ones_like(x), {"ops": 1}),
    "a number like another": (lambda torch, x: torch.full_like(x, 2), {"ops": 1}),
    "draws like another": (lambda torch, x: torch.rand_like(x), {"ops": 1}),
    "operator": (lambda torch, x: x + 1, {"ops": 1}),
    "number on the host": (lambda torch, x: x * torch.tensor(2.0), {"ops": 1}),
    "composite": (lambda torch, x: torch.nn.functional.linear(x, x, x[0]), {"ops": 1}),
    "views": (lambda torch, x: x.view(2, 8).t()[0].unsqueeze(0).expand(3, 2), {}),
    "metadata in place": (lambda torch, x: x.view(16).squeeze_().unsqueeze_(0), {}),
    "cast": (lambda torch, x: x.half(), {}),
    "copy on the device": (lambda torch, x: x.clone(), {}),
    "data": (lambda torch, x: torch.tensor([1.0, 2.0], device="npu"), {"h2d": 1, "h2d_bytes": 8}),
    "to the device": (lambda torch, x: torch.ones(3).to("npu"), {"h2d": 1, "h2d_bytes": 12}),
    "to the device, cast": (
        lambda torch, x: x.copy_(torch.ones(4, dtype=torch.int64)),
        {"h2d": 1, "h2d_bytes": 64},
    ),
    "to the device, not blocking": (
        lambda torch, x: torch.ones(3).to("npu", non_blocking=True),
        {"h2d": 1, "h2d_bytes": 12},
    ),
    "nothing to the device": (lambda torch, x: torch.empty(0).to("npu"), {}),
    "to the host": (lambda torch, x: x.cpu(), {"d2h": 1, "d2h_bytes": 64, "sync": 1}),
    "to the host, not blocking": (
        lambda torch, x: x.to("cpu", non_blocking=True),
        {"d2h": 1, "d2h_bytes": 64},
    ),
    "to ordinary memory of the host, not blocking": (
        lambda torch, x: torch.empty(4, 4).copy_(x, non_blocking=True),
        {"d2h": 1, "d2h_bytes": 64, "sync": 1},
    ),
    "to another device": (lambda torch, x: x.to("npu:1"), {"peer": 1, "peer_bytes": 64}),
    "item": (lambda torch, x: x[0, 0].item(), {"d2h": 1, "d2h_bytes": 4, "sync": 1}),
    "list": (lambda torch, x: x.tolist(), {"d2h": 1, "d2h_bytes": 64, "sync": 1}),
    "truth": (lambda torch, x: bool(x[0, 0]), {"d2h": 1, "d2h_bytes": 4, "sync": 1}),
    "equal": (lambda torch, x: torch.equal(x, x), {"ops": 1, "sync": 1}),
    "shape by values": (lambda torch, x: x.nonzero(), {"ops": 1, "sync": 1}),
    "mask on the device": (lambda torch, x: x[x > 0], {"ops": 2, "sync": 1}),
    "mask on the host": (
        lambda torch, x: x[torch.ones(4, dtype=torch.bool)],
        {"h2d": 1, "h2d_bytes": 4, "ops": 1, "sync": 1},
    ),
    "masked write of a number": (  # which torch makes a tensor of the device
        lambda torch, x: x.__setitem__(x > 0, 1.0),
        {"ops": 3, "d2h": 1, "d2h_bytes": 4, "sync": 1},
    ),
    "masked write of one element, behind a dimension": (
        lambda torch, x: x.__setitem__((slice(None), x[0] > 0), x[:1, :1]),
        {"ops": 2, "d2h": 1, "d2h_bytes": 4, "sync": 1},
    ),
    "masked write of a number on the host": (
        lambda torch, x: x.index_put((x > 0,), torch.tensor(1.0)),
        {"ops": 2},
    ),
    "masked write of a row": (lambda torch, x: x.__setitem__(x[0] > 0, x[0].clone()), {"ops": 2, "sync": 1}),
    "masked write of a number, accumulated": (
        lambda torch, x: x.index_put_((x > 0,), x[0, 0].clone(), accumulate=True),
        {"ops": 2, "sync": 1},
    ),
    "masked write of a dtype that is not filled": (
        lambda torch, x: x.short().__setitem__(x > 0, x[0, 0].short()),
        {"ops": 2, "sync": 1},
    ),
    "masked write by a mask on the host": (
        lambda torch, x: x.__setitem__(torch.ones(4, dtype=torch.bool), 1.0),
        {"h2d": 1, "h2d_bytes": 4, "ops": 2, "sync": 1},
    ),
    "index on the host": (lambda torch, x: x[torch.tensor([0, 1])], {"h2d": 1, "h2d_bytes": 16, "ops": 1}),
    "device": (lambda torch, x: torch.npu.synchronize(), {"sync": 1}),
    "stream": (lambda torch, x: torch.npu.current_stream().synchronize(), {"sync": 1}),
    "copies in a list": (
        lambda torch, x: torch._foreach_copy_([x, x], [torch.ones(4, 4)] * 2),
        {"h2d": 2, "h2d_bytes": 128},
    ),
    "fallback": (  # special_bessel_j1: out and input to the host, out back
        lambda torch, x: torch.special.bessel_j1(x),
        {"fallback": 1, "d2h": 2, "d2h_bytes": 128, "h2d": 1, "h2d_bytes": 64, "sync": 2},
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_moves(torch, case):
    function, expected = CASES[case]
    assert moves(torch, function) == expected


@pytest.mark.parametrize(("dimensions", "elements", "operators"), [(1, 3, 4), (2, 3, 9), (3, 3, 11), (2, 1, 0)])
def test_coalescing(torch, dimensions, elements, operators):
    # What the wheel's own kernel calls before it looks for CANN's, and one for that.
    import npusim

    indices = torch.tensor([[0, 1, 0]]).expand(dimensions, 3)[:, :elements]
    sparse = torch.sparse_coo_tensor(indices, torch.ones(elements), [2] * dimensions).to("npu")
    with npusim.count() as counted:
        sparse.coalesce()
    waits = int(elements > 1)
    assert {name: n for name, n in counted.items() if n} == ({"ops": operators, "sync": waits} if waits else {})


def test_an_event_waits(torch):
    import npusim

    event = torch.npu.Event()
    event.record()
    with npusim.count() as counted:
        event.synchronize()
    assert counted["sync"] == 1


def test_backward_counts(torch):
    import npusim

    x = torch.ones(3, device="npu", requires_grad=True)
    y = (x * x).sum()
    with npusim.count() as counted:
        y.backward()
    assert counted["ops"] == 4  # the one that it starts from, two products and their sum
    assert counted["h2d"] == counted["d2h"] == counted["sync"] == 0


def test_a_consolidated_tree_moves_at_once(torch):
    from tensordict import TensorDict

    import npusim

    tree = TensorDict(a=torch.ones(3), b=TensorDict(c=torch.zeros(2), d=torch.ones(4, dtype=torch.int64)))
    with npusim.count() as leaf_by_leaf:
        tree.to("npu")
    consolidated = tree.consolidate()
    with npusim.count() as at_once:
        consolidated.to("npu")
    assert (leaf_by_leaf["h2d"], at_once["h2d"]) == (3, 1)


def test_counts_are_there_when_a_block_fails(torch):
    import npusim

    def block():
        with npusim.count() as counted:
            torch.zeros(3, device="npu")
            totals.append(counted)
            raise LookupError

    totals = []
    with pytest.raises(LookupError):
        block()
    assert totals[0]["ops"] == 1


def test_a_refused_call_is_no_operator(torch):
    import npusim

    x = torch.ones(3, dtype=torch.float64).to("npu")
    with npusim.count() as counts:
        for call in (lambda: x.tanh(), lambda: x + torch.ones(3)):
            with pytest.raises(RuntimeError):
                call()
        torch._foreach_add([x, torch.ones(3)], 1)
    assert counts["ops"] == 1
