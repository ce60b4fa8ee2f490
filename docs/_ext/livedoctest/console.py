"""Console commands of a page, run one by one and yet, to the page, in one shell session."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

_OF_THE_SHELL = {"_", "SHLVL", "PWD", "OLDPWD"}


def run(command: str, output: int) -> int:
    """Run a command in the page's folder and environment, which `cd` and `export` change for what follows.

    Args:
        command: Shell code, for bash where there is one.
        output: Descriptor that takes standard output and standard error.

    Returns:
        The exit status, 128 + n after signal n.
    """
    shell = shutil.which("bash") or "/bin/sh"
    with tempfile.TemporaryFile() as state:
        # on the command's own line, so that the shell's messages name the command's lines
        save = f"trap '{{ pwd; env -0; }} >&{state.fileno()}' EXIT; "
        status = subprocess.run(
            [Path(shell).name, "-c", save + command],  # its messages begin with this name
            executable=shell,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            pass_fds=[state.fileno()],
        ).returncode
        state.seek(0)
        _adopt(state.read())
    return status if status >= 0 else 128 - status


def _adopt(state: bytes) -> None:
    """Make the shell's last folder and exported variables this process's own."""
    folder, _, variables = state.partition(b"\n")
    if not folder:
        return  # the shell was killed, or the command replaced it or its trap
    with contextlib.suppress(OSError):  # the command may have removed it
        os.chdir(folder)
    pairs = (os.fsdecode(pair).partition("=") for pair in variables.split(b"\0") if pair)
    exported = {name: value for name, _, value in pairs if name not in _OF_THE_SHELL}
    for name in os.environ.keys() - exported.keys() - _OF_THE_SHELL:
        del os.environ[name]
    os.environ.update(exported)
