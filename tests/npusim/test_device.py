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
