"""python -m npusim --check: what there is on this machine, and whether the simulated device can run."""

import os
import platform
import shlex
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version

from .build import find_compiler, library_folder
from .environment import environment
from .errors import SetupError
from .facts import CANN_VERSION, SOC_NAME


def check() -> int:
    """Print a line for each thing that npusim needs or meets; 0 if the device can run, else 1.

    Compiles the runtime if it is not in the cache.
    """
    for name, find in FINDERS.items():
        print(f"{name:<11} {_found(find)}")
    try:
        variables = environment()
    except SetupError as error:
        print(f"{'device':<11} cannot be simulated here: {error}")
        return 1
    print(f"{'devices':<11} {variables['NPUSIM_DEVICES']} simulated {SOC_NAME}, unless --devices says otherwise")
    return 0


def _found(find: Callable[[], str]) -> str:
    try:
        return find()
    except SetupError as error:
        return str(error).splitlines()[0]


def _distribution(name: str) -> Callable[[], str]:
    def find() -> str:
        try:
            return version(name)
        except PackageNotFoundError:
            return "not installed"

    return find


def _cann() -> str:
    """CANN's set_env.sh sets the variable; the programs that npusim starts get another value."""
    if folder := os.environ.get("ASCEND_HOME_PATH"):
        return f"{folder}, which simulated devices do not use"
    return f"none, and none is needed: ASCEND_HOME_PATH is not set; the simulated runtime says {CANN_VERSION}"


FINDERS: dict[str, Callable[[], str]] = {
    "machine": lambda: f"{platform.system()} {platform.machine()}",
    "Python": platform.python_version,
    "torch": _distribution("torch"),
    "torch_npu": _distribution("torch-npu"),
    "tensordict": _distribution("tensordict"),
    "compiler": lambda: shlex.join(find_compiler()),
    "cache": lambda: str(library_folder()),
    "CANN": _cann,
}
