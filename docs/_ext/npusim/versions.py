"""Checks made before anything is imported: this machine, this Python, and the pair torch and torch_npu."""

import platform
import re
import sys
from importlib.metadata import PackageNotFoundError, requires, version

from .errors import SetupError

MACHINES = ("x86_64", "aarch64")  # PyPI has wheels of torch-npu 2.13.0 for Linux on these
# Those that npusim is written for: torch-npu 2.13.0 has wheels for 3.10 and 3.14 too.
PYTHONS = ("3.11", "3.12", "3.13")


def check_platform() -> None:
    """Raise SetupError where torch_npu has no wheel: it is the real one, only what lies under it is simulated."""
    system, machine = platform.system(), platform.machine()
    if system != "Linux":
        raise SetupError(
            f"npusim runs the real torch_npu, which exists for Linux only, and this is {system}: "
            "use a Linux machine, a container, or WSL 2 on Windows"
        )
    if machine not in MACHINES:
        raise SetupError(f"torch_npu has no wheel for {machine}: use a machine of {' or '.join(MACHINES)}")


def check_versions() -> None:
    """Raise SetupError unless Python, torch and torch_npu fit together, on simulated and on live devices.

    Only the metadata of the installed distributions is read: a pair that cannot be imported gets a message too.
    """
    python = ".".join(platform.python_version_tuple()[:2])
    if python not in PYTHONS:
        raise SetupError(f"npusim does not support Python {python}: use one of {', '.join(PYTHONS)}")
    torch_npu, torch = _installed("torch-npu"), _installed("torch")
    wanted = _torch_for(torch_npu)
    if _parts(torch)[: len(wanted)] != wanted:
        release = ".".join(wanted)
        raise SetupError(
            f"torch {torch} does not fit torch_npu {torch_npu}, which needs torch {release}; "
            f"run: {torch_command(release + ('.*' if len(wanted) < 3 else '+cpu'))}"
        )
    check_build(torch)


def torch_command(release: str) -> str:
    """The command that installs torch's CPU build."""
    index = "https://download.pytorch.org/whl/cpu"
    return f"{sys.executable} -m pip install 'torch=={release}' --extra-index-url {index}"


def check_build(torch: str) -> None:
    """Raise SetupError for a CUDA build of torch, which is what PyPI gives: torch_npu refuses to load beside it."""
    cuda = [
        need for need in requires("torch") or () if need.startswith(("cuda-", "nvidia-")) and "extra ==" not in need
    ]
    if cuda:
        release = ".".join(_parts(torch))
        raise SetupError(
            f"torch {torch} is a build for CUDA (it needs {cuda[0].split(';')[0].strip()}), beside which torch_npu "
            f"refuses to load; run: {torch_command(release + '+cpu')}"
        )


def _installed(distribution: str) -> str:
    try:
        return version(distribution)
    except PackageNotFoundError:
        raise SetupError(
            f"{distribution} is not installed for {sys.executable}; run: {sys.executable} -m pip install torch-npu"
        ) from None


def _torch_for(torch_npu: str) -> list[str]:
    """The torch release that torch_npu asks for in its metadata, else that of its own major and minor number."""
    for requirement in requires("torch-npu") or ():
        if match := re.match(r"torch\s*\(?==\s*([0-9]+(?:\.[0-9]+)*)", requirement):
            return _parts(match[1])
    return _parts(torch_npu)[:2]


def _parts(release: str) -> list[str]:
    """["2", "13", "0"] of "2.13.0+cpu" or "2.13.0.post1"."""
    return re.split(r"\.?(?:post|rc|dev|[ab]|\+)", release)[0].split(".")
