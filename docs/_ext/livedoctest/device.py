"""The device that blocks run on. The only module of the extension that knows npusim."""

from __future__ import annotations

import functools
import hashlib
import json
import os
import platform
import re
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

PRELOAD = ("torch", "torch_npu", "tensordict")
PROBE_SECONDS = 120
# Asks CANN itself, in a process of its own: a device counted means live hardware. The simulated runtime, which has this
# symbol, does not count as such.
COUNT = """
import ctypes
library = ctypes.CDLL("libascendcl.so")
count = ctypes.c_uint32(0)
library.aclInit(None)
library.aclrtGetDeviceCount(ctypes.byref(count))
print(0 if hasattr(library, "npusim_settle") else count.value)
"""
LOADER_CACHE = Path("/etc/ld.so.cache")  # of glibc; it holds paths, each ended by a null byte
DESCRIBE = """
import json, torch, torch_npu
from torch_npu.npu.utils import get_cann_version
facts = {
    "name": torch.npu.get_device_name(0),
    "count": torch.npu.device_count(),
    "cann": get_cann_version(),
    "driver": get_cann_version(module="DRIVER"),
}
print(json.dumps(facts))
"""
# In a fork that is dealt one card; `Child` deals it in the same way.
PROBE = """
import torch
assert torch.npu.device_count() == 1, f"ASCEND_RT_VISIBLE_DEVICES leaves {torch.npu.device_count()} devices, not one"
torch.ones(1, device="npu:0").cpu()
"""


class DeviceError(Exception):
    """No device to run blocks on, although the configuration or an installed torch_npu asks for one."""


@dataclass(frozen=True)
class Device:
    """Where blocks run.

    `kind` is simulated, hardware or none; `environment` holds the variables its processes need, `preload` the modules
    the server imports once for all pages. On hardware `cards` are dealt to the pages, and `probe` is code that fails
    where the device cannot be initialised after a fork.
    """

    kind: str
    name: str = ""
    count: int = 0
    versions: dict[str, str | None] = field(default_factory=dict)
    environment: dict[str, str] = field(default_factory=dict)
    preload: tuple[str, ...] = ()
    cards: tuple[str, ...] = ()
    probe: str = ""

    @property
    def identity(self) -> dict[str, object]:
        """What a stored result depends on."""
        return {
            "kind": self.kind,
            "name": self.name,
            "count": self.count,
            "versions": self.versions,
            "sources": npusim_sources() if self.kind == "simulated" else "",
        }


def detect(wanted: str) -> Device:
    """The device for the setting `wanted`: auto, hardware, simulated or none. Raises DeviceError with the remedy."""
    versions = installed()
    if wanted == "none" or (wanted == "auto" and versions["torch_npu"] is None):
        # Pages may still import torch, which would look for the device of an installed torch_npu.
        return Device("none", versions=versions, environment={"TORCH_DEVICE_BACKEND_AUTOLOAD": "0"})
    if versions["torch_npu"] is None:
        raise DeviceError(f"livedoctest_device is {wanted!r}, but torch_npu is not installed: install torch-npu.")
    if wanted == "hardware" or (wanted == "auto" and hardware_count()):
        return hardware(versions)
    return simulated(versions)


def installed() -> dict[str, str | None]:
    """Versions by distribution, without importing anything; None where it is not installed."""
    versions: dict[str, str | None] = {"python": platform.python_version()}
    for name in PRELOAD:
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            versions[name] = None
    return versions


def imported(codes: Iterable[str]) -> tuple[str, ...]:
    """The modules that take seconds to import, are of use without a device, and are imported by some of the codes."""
    names = [name for name in ("torch", "tensordict") if find_spec(name)]
    texts = list(codes)
    return tuple(name for name in names if any(re.search(rf"\b(import|from)\b.*\b{name}\b", each) for each in texts))


def hardware_count() -> int:
    """Live devices that CANN counts; 0 without CANN."""
    if not on_loader_path("libascendcl.so"):
        return 0
    run = subprocess.run([sys.executable, "-c", COUNT], capture_output=True, text=True, timeout=PROBE_SECONDS)
    return int(run.stdout) if run.returncode == 0 and run.stdout.strip().isdigit() else 0


def on_loader_path(library: str) -> bool:
    """Whether the dynamic loader knows a library. Most machines have no CANN, and asking it would cost a process."""
    folders = [*os.environ.get("LD_LIBRARY_PATH", "").split(os.pathsep), "/lib", "/usr/lib", "/usr/local/lib"]
    if any(Path(folder, library).exists() for folder in folders if folder):
        return True
    return LOADER_CACHE.exists() and f"/{library}\0".encode() in LOADER_CACHE.read_bytes()


def hardware(versions: dict[str, str | None]) -> Device:
    """The live device, as it names itself."""
    if not hardware_count():
        raise DeviceError(
            "CANN counts no NPU: is `libascendcl.so` on the loader path (`source …/set_env.sh`), "
            "and does `npu-smi info` show a device? Without hardware, set livedoctest_device = 'simulated'."
        )
    if find_spec("npusim"):
        check_simulator_versions()
    run = subprocess.run([sys.executable, "-c", DESCRIBE], capture_output=True, text=True, timeout=PROBE_SECONDS)
    if run.returncode:
        raise DeviceError(f"torch_npu does not start on this hardware:\n{run.stderr.strip()}")
    facts = json.loads(run.stdout.strip().splitlines()[-1])
    versions = {**versions, "cann": facts["cann"], "driver": facts["driver"]}
    visible = os.environ.get("ASCEND_RT_VISIBLE_DEVICES") or ",".join(map(str, range(facts["count"])))
    cards = tuple(card.strip() for card in visible.split(","))
    return Device("hardware", facts["name"], facts["count"], versions, preload=PRELOAD, cards=cards, probe=PROBE)


def check_simulator_versions() -> None:
    """Refuse torch and torch_npu that do not belong together, before anything imports them."""
    import npusim

    try:
        npusim.check_versions()
    except npusim.SetupError as error:
        raise DeviceError(str(error)) from None


def simulated(versions: dict[str, str | None]) -> Device:
    """The simulated Ascend runtime of npusim, with late copies; NPUSIM_DEVICES of this process is honoured."""
    if not find_spec("npusim"):
        raise DeviceError(
            "torch_npu is installed, but there is neither CANN with an NPU nor npusim. On hardware, "
            "`source /usr/local/Ascend/cann/set_env.sh` first; elsewhere install npusim."
        )
    import npusim

    count = int(os.environ.get("NPUSIM_DEVICES", "2"))
    os.environ.pop("ASCEND_RT_VISIBLE_DEVICES", None)  # it names cards of the host, and would hide simulated ones
    try:
        environment = npusim.environment(devices=count, hazards=True)
    except npusim.SetupError as error:
        raise DeviceError(str(error)) from None
    versions = {**versions, "cann": npusim.CANN_VERSION}
    return Device("simulated", npusim.SOC_NAME, count, versions, environment, PRELOAD)


@functools.cache
def npusim_sources() -> str:
    """Digest of the simulator, on which results depend."""
    spec = find_spec("npusim")
    assert spec
    assert spec.origin
    return digest(Path(spec.origin).parent)


def digest(folder: Path) -> str:
    """Digest of the source files below `folder`, newlines normalised."""
    state = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.suffix in (".py", ".c", ".h"):
            state.update(path.relative_to(folder).as_posix().encode() + b"\0")
            state.update(path.read_bytes().replace(b"\r\n", b"\n") + b"\0")
    return state.hexdigest()
