"""What the simulated device says it is. The C runtime gets these by -D, so that each stands in one place."""

# The NPU of the Atlas 800I A2 and of the run of hardware that `tests/npusim/test_random.py` cites.
SOC_NAME = "Ascend910B4"

# The toolkit whose behaviour and warnings torch_npu shows: the release that torch_npu 2.13.0 was built for.
CANN_VERSION = "9.1.0"

# More than any page needs; the runtime keeps tables of this length.
MAX_DEVICES = 16
