"""The environment variables that make a process use the simulated device."""

import os
from pathlib import Path

from .build import LIBRARY, library_folder
from .errors import SetupError
from .facts import MAX_DEVICES
from .versions import check_platform, check_versions


def environment(devices: int = 2, hazards: bool = False) -> dict[str, str]:
    """The variables to add to `os.environ` of a process that shall see simulated NPUs.

    devices: how many, 1 to 16. hazards: do asynchronous copies between pinned memory and a device as late as they may
    happen; until then their target holds poison, so that a missing synchronisation shows.

    The process's children see the same devices. Compiles the runtime at first use. Raises SetupError where the
    simulated device cannot run.
    """
    check_platform()
    check_versions()
    _check_settings()
    if not 1 <= devices <= MAX_DEVICES:
        raise SetupError(f"{devices} devices: their number must be 1 to {MAX_DEVICES}")
    folder = library_folder()
    return {
        "NPUSIM": "1",
        "NPUSIM_DEVICES": str(devices),
        "NPUSIM_ASYNC": str(int(hazards)),
        "LD_LIBRARY_PATH": _search_path(folder),
        "ASCEND_HOME_PATH": str(folder),
        "ASCEND_OPP_PATH": str(folder),
        "TORCH_DEVICE_BACKEND_AUTOLOAD": "1",  # without it torch_npu runs, but without kernels
    }


def _check_settings() -> None:
    """Raises SetupError if a variable that users set has a value of no use to the runtime."""
    timeout, folder = os.environ.get("NPUSIM_TIMEOUT"), os.environ.get("NPUSIM_SHM")
    if timeout and not _is_positive(timeout):
        raise SetupError(f"NPUSIM_TIMEOUT={timeout}: it must be a number of seconds above 0")
    if folder and not (Path(folder).is_dir() and os.access(folder, os.W_OK)):
        raise SetupError(f"NPUSIM_SHM={folder}: it must be a folder that you may write to")


def _is_positive(text: str) -> bool:
    try:
        return float(text) > 0
    except ValueError:
        return False


def _search_path(folder: Path) -> str:
    """LD_LIBRARY_PATH with our folder, and without a live Ascend toolkit, whose kernels would call our runtime."""
    present = filter(None, os.environ.get("LD_LIBRARY_PATH", "").split(os.pathsep))
    others = [path for path in present if not (Path(path) / LIBRARY).exists()]
    return os.pathsep.join([str(folder), *others])
