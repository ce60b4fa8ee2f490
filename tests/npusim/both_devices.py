"""Compare the simulated device with the CPU, in tests marked `simulated`."""


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
