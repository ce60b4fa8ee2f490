"""Compiling the runtime: once, whole or not at all, with a message that helps."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import npusim
from npusim.build import find_compiler, library_folder

ASK = "from npusim.build import library_folder; print(library_folder())"


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch) -> Path:
    """An empty cache, and no CC."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("CC", raising=False)
    return tmp_path / "cache" / "npusim"


@pytest.fixture
def compiler(tmp_path, monkeypatch):
    """Make a script the C compiler; it logs its calls, and "$@" are its arguments."""

    def make(body: str) -> Path:
        log, script = tmp_path / "calls", tmp_path / "compiler"
        script.write_text(f'#!/bin/sh\necho "$@" >> {log}\n{body}\n')
        script.chmod(0o755)
        monkeypatch.setenv("CC", str(script))
        return log

    return make


def leftovers(cache: Path) -> list[str]:
    return sorted(path.name for path in cache.iterdir() if path.name != "lock") if cache.exists() else []


def test_compiles_once(cache):
    folder = library_folder()
    library = folder / "libascendcl.so"
    compiled = library.stat().st_mtime_ns
    assert library_folder() == folder
    assert library.stat().st_mtime_ns == compiled
    assert leftovers(cache) == [folder.name]


def test_compiles_again_what_is_damaged(cache):
    library = library_folder() / "libascendcl.so"
    size = library.stat().st_size
    for damaged in (b"", b"\0" * size):
        library.write_bytes(damaged)
        folder = library_folder()
        assert library.stat().st_size == size
        assert library.read_bytes() != damaged
        assert leftovers(cache) == [folder.name]


@pytest.mark.parametrize("name", ["libascendcl.so", "libhccl.so", "compiler", "sha256"])
def test_compiles_again_what_was_removed(name):
    folder = library_folder()
    path = folder / name
    path.rmdir() if path.is_dir() else path.unlink()
    assert library_folder() == folder
    assert path.exists()


def test_other_sources_have_another_folder(tmp_path, monkeypatch):
    from npusim import build

    folder = library_folder()
    other = shutil.copytree(build.SOURCES, tmp_path / "sources")
    monkeypatch.setattr(build, "SOURCES", other)
    assert library_folder() == folder  # the same sources elsewhere
    with (other / "names.h").open("a") as header:
        header.write("/* another version */\n")
    assert library_folder() != folder
    assert folder.exists()  # for programs of the other version


@pytest.mark.parametrize("constant", ["SOC_NAME", "CANN_VERSION"])
def test_another_version_has_another_folder(monkeypatch, constant):
    from npusim import build

    folder = library_folder()
    flags = tuple(flag.replace(getattr(build, constant), "another") for flag in build.FLAGS)
    monkeypatch.setattr(build, "FLAGS", flags)
    assert library_folder() != folder


def test_another_compiler_has_another_folder(compiler):
    folder = library_folder()
    compiler('exec cc "$@"')
    assert library_folder() != folder


def test_processes_that_race_compile_once(cache, compiler):
    log = compiler('case "$*" in *-shared*) sleep 1;; esac; exec cc "$@"')
    racers = [subprocess.Popen([sys.executable, "-c", ASK], stdout=subprocess.PIPE, text=True) for _ in range(2)]
    folders = {racer.communicate(timeout=120)[0] for racer in racers}
    assert [racer.returncode for racer in racers] == [0, 0]
    assert len(folders) == 1
    assert sum("-shared" in call for call in log.read_text().splitlines()) == 1
    assert len(leftovers(cache)) == 1


def test_ziglang_compiles_where_there_is_no_cc(cache, monkeypatch):
    monkeypatch.setenv("PATH", "/nonexistent")
    assert find_compiler() == [sys.executable, "-m", "ziglang", "cc"]
    folder = library_folder()
    assert leftovers(cache) == [folder.name]
    command = [sys.executable, "-c", "import ctypes, sys; ctypes.CDLL(sys.argv[1]).aclrtGetSocName"]
    subprocess.run([*command, str(folder / "libascendcl.so")], check=True)


def test_no_compiler_at_all(cache, monkeypatch):
    monkeypatch.setenv("PATH", "/nonexistent")
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(npusim.SetupError) as error:
        library_folder()
    assert "there is no C compiler: install one (Debian, Ubuntu: apt-get install gcc" in str(error.value)
    assert f"{sys.executable} -m pip install ziglang" in str(error.value)
    assert leftovers(cache) == []


def test_a_wrong_cc(monkeypatch):
    monkeypatch.setenv("CC", "no-such-compiler -O1")
    with pytest.raises(npusim.SetupError, match="CC=no-such-compiler -O1, but there is no command no-such-compiler"):
        library_folder()


def test_a_compiler_that_fails(cache, compiler):
    compiler('case "$*" in *-shared*) echo "stdio.h: no such file" >&2; exit 1;; esac; echo 1.0')
    with pytest.raises(
        npusim.SetupError, match=r"(?s)failed with status 1.*pip install ziglang.*stdio.h: no such file"
    ):
        library_folder()
    assert leftovers(cache) == []


def test_a_cache_that_cannot_be_written(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with pytest.raises(npusim.SetupError, match=r"cannot write the compiled runtime.*set XDG_CACHE_HOME"):
        library_folder()


@pytest.mark.parametrize("mode", [0o555, 0o000])
def test_a_cache_that_may_not_be_written(cache, mode):
    ask = "import os, npusim.build; os.getuid() or os.setuid(65534); npusim.build.library_folder()"  # not as root
    cache.parent.mkdir()
    cache.parent.chmod(mode)
    done = subprocess.run([sys.executable, "-c", ask], capture_output=True, text=True, check=False)
    cache.parent.chmod(0o755)
    assert done.returncode == 1
    assert "SetupError: cannot write the compiled runtime" in done.stderr
    assert "set XDG_CACHE_HOME to a folder that you may write to" in done.stderr


def test_what_a_killed_build_left_is_swept(cache):
    (cache / "build-killed").mkdir(parents=True)
    folder = library_folder()
    assert leftovers(cache) == [folder.name]


def test_the_runtime_has_no_warnings(tmp_path):
    from npusim.build import FLAGS, SOURCES

    sources = map(str, sorted(SOURCES.glob("*.c")))
    strict = (
        "-Wextra",
        "-Wno-unused-parameter",
        "-Werror",
    )  # its functions have the parameters of Ascend's headers
    subprocess.run([*find_compiler(), *FLAGS, *strict, *sources, "-o", os.devnull], check=True)
