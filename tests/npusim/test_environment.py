"""Machines, Pythons and packages that cannot run the simulated device: one clear message each."""

import platform
from pathlib import Path

import pytest

import npusim


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """Pretend that a distribution of this version is installed, ahead of the real one."""

    def install(name: str, version: str, *requirements: str) -> None:
        folder = tmp_path / f"{name.replace('-', '_')}-{version}.dist-info"
        folder.mkdir()
        lines = ["Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}"]
        lines += [f"Requires-Dist: {requirement}" for requirement in requirements]
        (folder / "METADATA").write_text("\n".join(lines) + "\n")
        monkeypatch.syspath_prepend(tmp_path)

    return install


def test_the_variables(monkeypatch):
    monkeypatch.setenv("LD_LIBRARY_PATH", "/opt/lib")
    variables = npusim.environment(devices=3, hazards=True)
    folder = variables["ASCEND_HOME_PATH"]
    assert variables["LD_LIBRARY_PATH"] == f"{folder}:/opt/lib"
    assert (variables["NPUSIM"], variables["NPUSIM_DEVICES"], variables["NPUSIM_ASYNC"]) == ("1", "3", "1")
    assert {"libascendcl.so", "libhccl.so", "runtime", "compiler"} <= {path.name for path in Path(folder).iterdir()}


def test_a_live_toolkit_is_left_out_of_the_search_path(tmp_path, monkeypatch):
    (tmp_path / "libascendcl.so").touch()
    monkeypatch.setenv("LD_LIBRARY_PATH", str(tmp_path))
    assert str(tmp_path) not in npusim.environment()["LD_LIBRARY_PATH"].split(":")


@pytest.mark.parametrize("devices", [0, -1, 17])
def test_number_of_devices(devices):
    with pytest.raises(npusim.SetupError, match=f"{devices} devices: their number must be 1 to 16"):
        npusim.environment(devices)


@pytest.mark.parametrize("seconds", ["soon", "0", "-1", "nan"])
def test_no_time_out(monkeypatch, seconds):
    monkeypatch.setenv("NPUSIM_TIMEOUT", seconds)
    with pytest.raises(npusim.SetupError, match=f"NPUSIM_TIMEOUT={seconds}: it must be a number of seconds above 0"):
        npusim.environment()


def test_no_folder_for_messages(tmp_path, monkeypatch):
    monkeypatch.setenv("NPUSIM_SHM", str(tmp_path / "missing"))
    with pytest.raises(npusim.SetupError, match="missing: it must be a folder that you may write to"):
        npusim.environment()
    monkeypatch.setenv("NPUSIM_SHM", str(tmp_path))
    npusim.environment()


@pytest.mark.parametrize("system", ["Darwin", "Windows"])
def test_other_systems(monkeypatch, system):
    monkeypatch.setattr(platform, "system", lambda: system)
    with pytest.raises(npusim.SetupError, match=f"Linux only, and this is {system}: use a Linux machine"):
        npusim.environment()


def test_other_machines(monkeypatch):
    monkeypatch.setattr(platform, "machine", lambda: "riscv64")
    with pytest.raises(npusim.SetupError, match="no wheel for riscv64: use a machine of x86_64 or aarch64"):
        npusim.environment()


@pytest.mark.parametrize("python", ["3.10", "3.14"])
def test_other_pythons(monkeypatch, python):
    monkeypatch.setattr(platform, "python_version_tuple", lambda: (*python.split("."), "1"))
    with pytest.raises(npusim.SetupError, match=f"Python {python}: use one of 3.11, 3.12, 3.13"):
        npusim.check_versions()


@pytest.mark.parametrize("torch", ["2.12.0", "2.13.1", "2.13.1+cpu", "2.1.30"])
def test_a_pair_that_does_not_fit(installed, torch):
    installed("torch", torch)
    with pytest.raises(npusim.SetupError) as error:
        npusim.check_versions()
    assert f"torch {torch} does not fit torch_npu 2.13.0, which needs torch 2.13.0" in str(error.value)
    assert "-m pip install 'torch==2.13.0+cpu' --extra-index-url https://" in str(error.value)


@pytest.mark.parametrize(
    ("torch", "torch_npu", "requirement"),
    [
        ("2.13.0+cpu", "2.13.0", "torch==2.13.0.*"),
        ("2.9.0", "2.9.0.post2", "torch==2.9.0"),
        ("2.9.1", "2.9.0.post2", "numpy"),
        ("2.13.0", "2.13.0rc1", "torch==2.13.0+cpu"),
    ],
)
def test_pairs_that_fit(installed, torch, torch_npu, requirement):
    installed("torch", torch)
    installed("torch-npu", torch_npu, requirement)
    npusim.check_versions()


def test_a_build_for_cuda(installed):
    installed("torch", "2.13.0", "filelock", 'cuda-toolkit[nvrtc]==13.0.3; platform_system == "Linux"')
    with pytest.raises(npusim.SetupError) as error:
        npusim.check_versions()
    assert "torch 2.13.0 is a build for CUDA (it needs cuda-toolkit[nvrtc]==13.0.3)" in str(error.value)
    assert "-m pip install 'torch==2.13.0+cpu' --extra-index-url https://" in str(error.value)


def test_without_a_requirement_the_release_counts(installed):
    installed("torch", "2.8.0")
    installed("torch-npu", "2.9.0.post2", "numpy")
    with pytest.raises(npusim.SetupError, match=r"pip install 'torch==2.9.\*'"):
        npusim.check_versions()


@pytest.mark.parametrize("missing", ["torch", "torch-npu"])
def test_nothing_installed(monkeypatch, missing):
    from importlib.metadata import PackageNotFoundError, version

    def find(name):
        if name == missing:
            raise PackageNotFoundError(name)
        return version(name)

    monkeypatch.setattr("npusim.versions.version", find)
    with pytest.raises(npusim.SetupError, match=f"{missing} is not installed for .*; run: .* install torch-npu"):
        npusim.check_versions()


def test_counters_need_the_simulated_device(monkeypatch):
    monkeypatch.delenv("NPUSIM", raising=False)
    with pytest.raises(npusim.SetupError, match="python -m npusim"):
        npusim.counters()
