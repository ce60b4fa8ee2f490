"""Tensors as objects: printed, copied, pickled, saved; and what only watches them."""

import re

import pytest

pytestmark = pytest.mark.simulated

PRINTED = {
    "a leaf": lambda torch, x: x.requires_grad_(),
    "a result": lambda torch, x: x.requires_grad_() * 2,
    "a view": lambda torch, x: x.requires_grad_().t(),
    "a parameter": lambda torch, x: torch.nn.Parameter(x),
    "a conjugate": lambda torch, x: torch.complex(x, x).conj(),
    "sparse": lambda torch, x: x.to_sparse(),
    "jagged": lambda torch, x: torch.nested.nested_tensor([x[0], x[1]], layout=torch.jagged),
}


@pytest.mark.parametrize("case", PRINTED)
def test_prints_but_for_the_device_what_the_cpu_prints(torch, case):
    on_cpu, on_npu = (repr(PRINTED[case](torch, torch.ones(2, 2).to(device))) for device in ("cpu", "npu"))
    assert "npu" in on_npu
    without_device = re.sub(r",\s*device='?npu:0'?", "", on_npu)
    other_symbol = re.sub(r"\bj\d+\b", "j1", without_device)  # jagged sizes are numbered
    assert " ".join(other_symbol.split()) == " ".join(on_cpu.split())


def test_a_profiler_does_no_harm(torch, tmp_path, monkeypatch):
    import torch_npu

    monkeypatch.chdir(tmp_path)
    x = torch.ones(3, device="npu")
    activities = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.PrivateUse1]
    with torch.profiler.profile(activities=activities) as profile:
        y = x + 1
    assert "aten::add" in {event.key for event in profile.key_averages()}
    # It reports that CANN's libmsprofiler.so is missing; the folder is torch_npu's own.
    with torch_npu.profiler.profile(activities=[torch_npu.profiler.ProfilerActivity.NPU]):
        y = y + 1
    assert y.tolist() == [3, 3, 3]
    assert {path.name for path in tmp_path.iterdir()} <= {"export_only_prof_dir"}


def test_copies_of_a_module_keep_what_is_shared(torch):
    import copy
    import pickle

    module = torch.nn.Linear(2, 2).to("npu:1")
    module.tied = module.weight
    for other in (copy.deepcopy(module), pickle.loads(pickle.dumps(module))):  # noqa: S301  (our own)
        assert other.tied is other.weight
        assert other.weight.device == module.weight.device
        assert other.weight.data_ptr() != module.weight.data_ptr()
        assert torch.equal(other.weight, module.weight)


def test_storages(torch):
    x = torch.arange(6, device="npu:1").view(2, 3)
    storage = x[1:].untyped_storage()
    assert (storage.device, storage.nbytes()) == (x.device, 48)
    assert torch.empty(0, dtype=torch.int64, device="npu:1").set_(storage, 3, (3,)).tolist() == [3, 4, 5]
    assert storage.cpu().tolist()[:8] == [0] * 8
    y = x.clone()
    y.untyped_storage().copy_(storage)
    y.untyped_storage().resize_(0)
    assert y.untyped_storage().size() == 0


def test_pickles(torch):
    import pickle

    x = torch.arange(3.0, device="npu:1", requires_grad=True)
    y = pickle.loads(pickle.dumps(x))  # noqa: S301  (our own)
    assert (y.device, y.requires_grad, y.tolist()) == (x.device, True, [0, 1, 2])


@pytest.mark.parametrize("weights_only", [True, False])
@pytest.mark.parametrize("where", [None, "cpu", "npu:0", {"npu:1": "npu:0"}], ids=str)
def test_load(torch, where, weights_only):
    import io

    x, file = torch.arange(4.0, device="npu:1"), io.BytesIO()
    torch.save([x, x[1:]], file)  # one storage
    file.seek(0)
    whole, part = torch.load(file, map_location=where, weights_only=weights_only)
    expected = where if isinstance(where, str) else "npu:0" if where else "npu:1"
    assert str(whole.device) == expected
    part.zero_()
    assert whole.tolist() == [0, 0, 0, 0]
