"""Compile the simulated runtime once into the user's cache folder.

The folder holds libascendcl.so, the names of the other Ascend libraries as links to it (the loader then takes
them for one library), and the two folders that torch_npu looks for at import.
"""

import hashlib
import importlib.metadata
import importlib.util
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from filelock import FileLock

from .errors import SetupError
from .facts import CANN_VERSION, MAX_DEVICES, SOC_NAME

SOURCES = Path(__file__).with_name("runtime")
LIBRARY = "libascendcl.so"
DIGEST = "sha256"  # of the library, to know one that was cut off or overwritten
# What torch_npu 2.13 links against or opens by name, beside libascendcl.so.
ALIASES = ("acl_op_compiler", "acl_tdt_channel", "ge_runner", "graph", "hccl", "hcomm", "mspti", "opapi")
# torch_npu prints a warning to stdout unless ASCEND_HOME_PATH and ASCEND_OPP_PATH have these.
FOLDERS = ("compiler", "runtime")
FLAGS = (
    *("-std=gnu11", "-O3", "-shared", "-fPIC", "-pthread", "-Wall", f"-Wl,-soname,{LIBRARY}"),
    "-fno-sanitize=undefined",  # zig's default, which wants a library of its own
    *(f'-DNPUSIM_SOC_NAME="{SOC_NAME}"', f'-DNPUSIM_CANN_VERSION="{CANN_VERSION}"'),
    f"-DNPUSIM_MAX_DEVICES={MAX_DEVICES}",
)
INSTALL = (
    "install one (Debian, Ubuntu: apt-get install gcc libc6-dev), "
    f"or its wheel: {sys.executable} -m pip install ziglang"
)


def library_folder() -> Path:
    """The folder with the compiled runtime, compiled now if it is not in the cache.

    Processes that ask at the same time compile once; a build that fails or is killed leaves nothing behind.
    Raises SetupError without a C compiler, if compiling fails, or if the cache cannot be written.
    """
    compiler = find_compiler()
    folder = cache_folder() / cache_key(compiler)
    try:
        if _complete(folder):
            return folder
        folder.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(folder.parent / "lock"):
            if not _complete(folder):
                _build(compiler, folder)
    except OSError as error:
        raise SetupError(
            f"cannot write the compiled runtime to {folder.parent} ({error}): "
            "set XDG_CACHE_HOME to a folder that you may write to"
        ) from error
    return folder


def cache_folder() -> Path:
    """npusim's folder in the user's cache."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "npusim"


def find_compiler() -> list[str]:
    """The command of a C compiler: $CC, else cc, else the one in the wheel ziglang."""
    if wanted := shlex.split(os.environ.get("CC", "")):
        if not shutil.which(wanted[0]):
            raise SetupError(f"CC={os.environ['CC']}, but there is no command {wanted[0]}: correct or unset CC")
        return wanted
    if compiler := shutil.which("cc"):
        return [compiler]
    if importlib.util.find_spec("ziglang"):
        return [sys.executable, "-m", "ziglang", "cc"]
    raise SetupError(f"npusim compiles its runtime at first use, and there is no C compiler: {INSTALL}")


def cache_key(compiler: list[str]) -> str:
    """A name that changes with the sources, the flags and the compiler."""
    digest = hashlib.sha256()
    for part in (*compiler, _identity(compiler), *FLAGS, *ALIASES):
        digest.update(part.encode() + b"\0")
    for source in sorted(SOURCES.glob("*.[ch]")):
        digest.update(source.name.encode() + b"\0" + source.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def _identity(compiler: list[str]) -> str:
    if "ziglang" in compiler:  # asking it takes a second
        return importlib.metadata.version("ziglang")
    return _run([*compiler, "--version"])


def _complete(folder: Path) -> bool:
    """The folder appears by a rename, whole; what somebody damaged since is compiled again."""
    try:
        intact = _digest(folder) == (folder / DIGEST).read_text()
    except FileNotFoundError:
        return False
    links, folders = (folder / f"lib{name}.so" for name in ALIASES), (folder / name for name in FOLDERS)
    return intact and all(path.exists() for path in (*links, *folders))


def _digest(folder: Path) -> str:
    return hashlib.sha256((folder / LIBRARY).read_bytes()).hexdigest()


def _build(compiler: list[str], folder: Path) -> None:
    """Compile in a folder of its own, then move it into place. The lock is held."""
    for left_by_a_killed_build in folder.parent.glob("build-*"):
        shutil.rmtree(left_by_a_killed_build, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix="build-", dir=folder.parent) as temporary:
        target = Path(temporary) / "library"
        target.mkdir()
        sources = map(str, sorted(SOURCES.glob("*.c")))
        _run([*compiler, *FLAGS, *sources, "-o", str(target / LIBRARY), "-lm"], zig_cache=temporary)
        (target / DIGEST).write_text(_digest(target))
        for name in ALIASES:
            (target / f"lib{name}.so").symlink_to(LIBRARY)
        for name in FOLDERS:
            (target / name).mkdir()
        shutil.rmtree(folder, ignore_errors=True)
        target.rename(folder)


def _run(command: list[str], zig_cache: str | None = None) -> str:
    """The output of a compiler's command; SetupError with the compiler's own message if it fails."""
    environment = {**os.environ, "LC_ALL": "C"}
    if zig_cache:
        environment |= {"ZIG_GLOBAL_CACHE_DIR": zig_cache, "ZIG_LOCAL_CACHE_DIR": zig_cache}
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", env=environment, check=False)
    if done.returncode:
        raise SetupError(
            f"{shlex.join(command[:4])} … failed with status {done.returncode}; without a working C compiler, "
            f"{INSTALL} and set CC='{sys.executable} -m ziglang cc'. It said:\n{done.stderr.strip()}"
        )
    return done.stdout
