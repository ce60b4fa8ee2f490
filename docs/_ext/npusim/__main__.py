"""python -m npusim [--devices N] [--async] (script.py | -m module | -c code) [argument ...]"""

import os
import sys
from typing import NoReturn

from .check import check
from .environment import environment
from .errors import SetupError

USAGE = "usage: python -m npusim [--devices N] [--async] (script.py | -m module | -c code) [argument ...]"
HELP = f"""{USAGE}

Run a Python program on simulated Ascend NPUs: the real torch_npu on a runtime that needs no hardware.

  --devices N  how many NPUs the program sees, 1 to 16 (2)
  --async      do asynchronous copies as late as they may happen; until then their target
               holds poison, so that a missing synchronisation shows
  --check      say what is found here: versions, compiler, cache, CANN; exit 1 if the device cannot run
  -h, --help   show this and exit

Environment: NPUSIM_TIMEOUT, seconds that a communication may wait for its peers (60);
NPUSIM_SHM, folder for messages between processes (/dev/shm)."""


class UsageError(Exception):
    """The command line is wrong."""


def parse(arguments: list[str]) -> tuple[int, bool, list[str]]:
    """(number of devices, hazards, the rest: what Python shall run)."""
    devices, hazards, rest = 2, False, list(arguments)
    while rest and rest[0].startswith("-"):
        option = rest.pop(0)
        if option in ("-m", "-c"):
            if not rest:
                raise UsageError(f"{option} wants an argument")
            return devices, hazards, [option, *rest]
        if option == "--async":
            hazards = True
        elif option == "--devices" or option.startswith("--devices="):
            devices = _number(option.partition("=")[2] or (rest.pop(0) if rest else ""))
        elif option == "--check":
            raise UsageError("--check goes without other arguments")
        else:
            raise UsageError(f"unknown option {option}")
    if not rest:
        raise UsageError("nothing to run: name a script, -m module or -c code")
    return devices, hazards, rest


def _number(text: str) -> int:
    if not text.isdecimal():
        raise UsageError(f"--devices wants a number, not {text!r}")
    return int(text)


def interpreter_options() -> list[str]:
    """The options that this Python was started with (-W error, -X dev, …), to start the next one alike."""
    own = len(sys.argv) - 1
    before = sys.orig_argv[1 : len(sys.orig_argv) - own]
    return before[:-2] if before[-1:] == ["npusim"] else before[:-1]  # `-m npusim`, or `-mnpusim`


def main() -> NoReturn:
    """Replace this process by Python with the environment of the simulated device.

    A new program image is needed: the loader reads LD_LIBRARY_PATH at the start of a process only. It keeps the
    process id, so signals and exit codes pass.
    """
    if sys.argv[1:] and sys.argv[1] in ("-h", "--help"):
        print(HELP)
        sys.exit(0)
    if sys.argv[1:] == ["--check"]:
        sys.exit(check())
    try:
        devices, hazards, target = parse(sys.argv[1:])
        variables = environment(devices, hazards)
    except UsageError as error:
        sys.exit(_complain(f"{error}\n{USAGE}"))
    except SetupError as error:
        sys.exit(_complain(str(error)))
    os.execve(sys.executable, [sys.executable, *interpreter_options(), *target], {**os.environ, **variables})


def _complain(message: str) -> int:
    print(f"npusim: {message}", file=sys.stderr)
    return 2


if __name__ == "__main__":
    main()
