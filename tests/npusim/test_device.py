"""What the device says about itself and what it refuses."""

import pytest

pytestmark = pytest.mark.simulated


def test_facts(torch):
    import npusim

    assert torch.npu.is_available()
    assert torch.npu.device_count() == 2
    assert torch.npu.get_device_name(1) == npusim.SOC_NAME
    properties = torch.npu.get_device_properties(0)
    assert properties.name == npusim.SOC_NAME
    assert properties.total_memory == 32 << 30
    assert (properties.cube_core_num, properties.vector_core_num) == (20, 40)
    assert torch.npu.mem_get_info()[1] == 32 << 30


def test_the_cann_version(torch):
    from torch_npu.npu.utils import get_cann_version

    import npusim

    assert get_cann_version().startswith(npusim.CANN_VERSION[:3])


def test_memory_is_accounted(torch):
    before = torch.npu.memory_allocated()
    x = torch.empty(1 << 20, device="npu")
    assert torch.npu.memory_allocated() - before >= 4 << 20
    assert torch.npu.memory_reserved() >= 4 << 20
    del x
    torch.npu.empty_cache()
    assert torch.npu.memory_allocated() == before


def test_out_of_memory(torch):
    with pytest.raises(torch.OutOfMemoryError, match="NPU out of memory"):
        torch.empty(33 << 30, dtype=torch.int8, device="npu")


def test_out_of_memory_across_allocations(torch):
    import resource

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    blocks = [torch.empty(6 << 30, dtype=torch.int8, device="npu") for _ in range(5)]
    with pytest.raises(torch.OutOfMemoryError, match="NPU out of memory"):
        torch.empty(6 << 30, dtype=torch.int8, device="npu")
    assert torch.npu.max_memory_allocated() >= 30 << 30
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100 << 10  # KiB: none of it was touched
    del blocks
    torch.npu.empty_cache()
    assert torch.empty(6 << 30, dtype=torch.int8, device="npu").numel() == 6 << 30


TOO_LARGE = {
    "zeros": lambda torch, x, n: torch.zeros(n, device=x.device),
    "ones": lambda torch, x, n: torch.ones(n, device=x.device),
    "full": lambda torch, x, n: torch.full((n,), 2.0, device=x.device),
    "rand": lambda torch, x, n: torch.rand(n, device=x.device),
    "like another": lambda torch, x, n: torch.ones_like(x.expand(n)),
    "filled later": lambda torch, x, n: x.new_zeros(n),
    "of the host": lambda torch, x, n: x.cpu().expand(n).to(x.device),
}


@pytest.mark.parametrize("case", TOO_LARGE)
def test_what_is_too_large_is_refused_before_the_host_is_touched(torch, case):
    import resource

    x = torch.ones(1, device="npu")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(torch.OutOfMemoryError, match=r"NPU out of memory\. Tried to allocate 36\.00 GiB"):
        TOO_LARGE[case](torch, x, 9 << 30)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100 << 10  # KiB


RESULTS_TOO_LARGE = {
    "a sum": lambda torch, x, n: x.expand(n) + 1,
    "a copy": lambda torch, x, n: x.expand(n).contiguous(),
    "a cast": lambda torch, x, n: x.expand(n).half().float(),
    "a sequence": lambda torch, x, n: torch.arange(n, device=x.device),
    "whole numbers": lambda torch, x, n: torch.randint(5, (n,), device=x.device),
    "into a tensor that grows": lambda torch, x, n: torch.add(x.expand(n), 1, out=torch.empty(0, device=x.device)),
}


@pytest.mark.parametrize("case", RESULTS_TOO_LARGE)
def test_results_that_neither_the_host_nor_the_device_has_memory_for(torch, case):
    with pytest.raises(torch.OutOfMemoryError, match="NPU out of memory"):
        RESULTS_TOO_LARGE[case](torch, torch.ones(1, device="npu"), 1 << 42)
    assert (torch.ones(2, device="npu") + 1).tolist() == [2, 2]


def test_a_fraction_of_the_memory(torch):
    torch.npu.set_per_process_memory_fraction(0.25, 0)
    with pytest.raises(torch.OutOfMemoryError, match="NPU out of memory"):
        torch.empty(9 << 30, dtype=torch.int8, device="npu")
    assert torch.empty(7 << 30, dtype=torch.int8, device="npu").numel() == 7 << 30


def test_a_wrong_index(torch):
    with pytest.raises(RuntimeError, match=r"107001|invalid device"):
        torch.ones(2, device="npu:7")


def test_streams_and_events(torch):
    stream, start, end = (
        torch.npu.Stream(),
        torch.npu.Event(enable_timing=True),
        torch.npu.Event(enable_timing=True),
    )
    with torch.npu.stream(stream):
        start.record()
        x = torch.ones(3, device="npu") + 1
        end.record()
    torch.npu.current_stream().wait_stream(stream)
    end.synchronize()
    assert stream.query()
    assert start.elapsed_time(end) >= 0
    assert x.tolist() == [2, 2, 2]


def in_fork(function):
    """Exit status of a child that calls the function; an exception counts 1."""
    import os

    pid = os.fork()
    if not pid:
        try:
            os._exit(function() or 0)
        except BaseException as error:
            print(error)
            os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def test_fork_before_initialisation_works(torch):
    assert in_fork(lambda: int((torch.ones(2, device="npu") + 1).sum().item())) == 4


USES = {
    "factory": lambda torch, x: torch.ones(2, device="npu"),
    "operator": lambda torch, x: x + 1,
    "copy": lambda torch, x: x.cpu(),
    "value": lambda torch, x: x.sum().item(),
}


@pytest.mark.parametrize("use", USES)
def test_fork_after_initialisation_refuses(torch, use):
    x = torch.ones(2, device="npu")

    def touch():
        with pytest.raises(RuntimeError, match="Cannot re-initialize NPU in forked subprocess"):
            USES[use](torch, x)
        return 7

    assert in_fork(touch) == 7


def test_multiprocessing_fork_after_initialisation_raises_torch_npus_error(torch):
    from multiprocessing import get_context

    torch.ones(2, device="npu")
    context = get_context("fork")
    answers = context.Queue()

    def touch():
        try:
            torch.npu.init()
        except RuntimeError as error:
            answers.put(str(error))

    process = context.Process(target=touch)
    process.start()
    assert answers.get(timeout=60) == (
        "Cannot re-initialize NPU in forked subprocess. To use NPU with multiprocessing, "
        "you must use the 'spawn' start method"
    )
    process.join()


def test_events_between_processes_are_refused(torch):
    with pytest.raises(RuntimeError, match="IPC Event is not support"):
        torch.npu.Event(interprocess=True)
