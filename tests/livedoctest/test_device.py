"""Which device runs the blocks, what is said of it, and what happens where there is none."""

from __future__ import annotations

import importlib.util

import pytest

from livedoctest import conditions, device

PAGE = """# On the NPU

```{testcode}
:moves: h2d=1/8B d2h=1/8B ops=1

import torch, torch_npu
host = (torch.ones(2).to("npu:0") + 1).cpu()
```

```{doctest}
>>> host.to("npu:0")
tensor([2., 2.], device='npu:0')
```

```{doctest}
:requires: npu>=2 and simulated

>>> torch.npu.device_count()
2
```

```{doctest}
:requires: hardware

>>> 1 / 0
```
"""
SIMULATED = "livedoctest_device = 'simulated'\n"


def test_simulated_npu(site):
    built = site(index=PAGE, conf=SIMULATED).build("-W")
    assert built.status == 0, built.log
    facts = built.report["device"]
    assert (facts["kind"], facts["name"], facts["count"]) == ("simulated", "Ascend910B4", 2)
    assert (facts["cann"], facts["torch_npu"], facts["tensordict"]) == ("9.1.0", "2.13.0", "0.15.3")
    block = built.blocks()[0]
    assert block["moves"] == {"h2d": 1, "h2d_bytes": 8, "d2h": 1, "d2h_bytes": 8, "ops": 1}
    assert [each["status"] for each in built.blocks()] == ["passed", "passed", "passed", "skipped"]
    assert built.blocks()[3]["reason"] == "needs hardware"
    html = built.html()
    assert "simulated NPU (Ascend910B4, 2 devices)" in html
    assert "live hardware (" not in html
    assert "host-to-device copies: 1 (8 B)" in html
    assert "CANN 9.1.0 (simulated)" in html
    assert "not run here: needs live hardware" in html
    assert "verified · needs at least 2 NPUs, the simulated NPU" in html  # where it is copied to, too


def test_simulated_npu_in_chinese(site):
    html = site(index=PAGE, conf=SIMULATED).build("-D", "language=zh_CN").html()
    assert "模拟 NPU（Ascend910B4，2 个设备）" in html
    assert "需要真实硬件" in html
    assert "已验证 · 需要至少 2 个 NPU，模拟 NPU" in html


def test_wrong_counts_fail_with_both_sides(site):
    built = site(index=PAGE.replace("h2d=1/8B", "h2d=2/8B"), conf=SIMULATED).build()
    assert built.status == 1
    assert "index.md:6: WARNING: testcode: moved other data than stated: h2d=1 h2d_bytes=8" in built.log


def test_what_npusim_says_of_the_device_is_what_torch_npu_says(site):
    page = PAGE.split("```{testcode}")[0] + (
        "```{doctest}\n>>> import torch, torch_npu\n"
        ">>> torch.npu.get_device_name(0)\n'Ascend910B4'\n"
        ">>> from torch_npu.npu.utils import get_cann_version\n>>> get_cann_version()\n'9.1.0'\n```\n"
    )
    built = site(index=page, conf=SIMULATED).build()
    assert built.status == 0, built.log


@pytest.mark.parametrize("wanted", ["hardware", "auto", "simulated"])
def test_without_torch_npu(wanted, monkeypatch):
    monkeypatch.setattr(device, "installed", lambda: {"python": "3.11.0", "torch_npu": None})
    if wanted == "auto":
        assert device.detect(wanted).kind == "none"
    else:
        with pytest.raises(device.DeviceError, match="torch_npu is not installed"):
            device.detect(wanted)


def test_hardware_without_cann(site):
    built = site(index=PAGE, conf="livedoctest_device = 'hardware'\n").build()
    assert built.status == 2
    assert "CANN counts no NPU" in built.log
    assert "set_env.sh" in built.log
    assert "Traceback" not in built.log
    assert not (built.out / "index.html").exists()


def test_torch_npu_without_cann_and_without_npusim(site, monkeypatch):
    found = importlib.util.find_spec
    monkeypatch.setattr(device, "find_spec", lambda name: None if name == "npusim" else found(name))
    built = site(index=PAGE, conf="livedoctest_device = 'auto'\n").build()
    assert built.status == 2
    assert "neither CANN with an NPU nor npusim" in built.log
    assert not (built.out / "index.html").exists()


def test_torch_and_torch_npu_of_different_versions(site, tmp_path, monkeypatch):
    other = tmp_path / "packages" / "torch-2.12.0.dist-info"
    other.mkdir(parents=True)
    (other / "METADATA").write_text("Metadata-Version: 2.1\nName: torch\nVersion: 2.12.0\n")
    monkeypatch.syspath_prepend(str(other.parent))
    built = site(index=PAGE, conf=SIMULATED).build()
    assert built.status == 2
    assert "2.12.0" in built.log
    assert "2.13.0" in built.log
    assert not (built.out / "index.html").exists()


def test_no_device_needs_no_torch(site):
    page = "# T\n\n```{doctest}\n>>> import sys\n>>> 'torch' in sys.modules\nFalse\n```\n"
    assert site(index=page).build().status == 0


def test_without_cann_nothing_is_asked(monkeypatch, tmp_path):
    assert device.on_loader_path("libc.so.6")
    assert not device.on_loader_path("libnothing-like-it.so")
    (tmp_path / "libnothing-like-it.so").touch()
    monkeypatch.setenv("LD_LIBRARY_PATH", str(tmp_path))
    assert device.on_loader_path("libnothing-like-it.so")


@pytest.mark.parametrize(
    ("needs", "count"), [("", 1), ("hardware", 1), ("npu", 1), ("npu>=2 and hardware", 2), ("npu>1", 2), ("npu==3", 3)]
)
def test_cards_that_a_block_needs(needs, count):
    live = device.Device("hardware", "a fake for tests", 3, {"python": "3.11.0"})
    assert conditions.devices_needed(needs, live) == count


@pytest.mark.parametrize("line", ["import os, torch", "    from torch.utils import data", "x = 1"])
def test_without_a_device_torch_is_imported_once_for_the_pages_that_use_it(site, line):
    """It takes seconds, for each page anew otherwise."""
    imported = str("torch" in line)
    page = f"# T\n\n```{{testcode}}\nimport sys\nprint('torch' in sys.modules)\nif True:\n    pass\n{line}\n```\n"
    page = page.replace("    pass\n    from", "    from") + f"\n```{{testoutput}}\n{imported}\n```\n"
    built = site(index=page).build()
    assert built.status == 0, built.log
