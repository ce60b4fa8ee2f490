"""python -m npusim."""

import importlib.metadata
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

NPUSIM = [sys.executable, "-m", "npusim"]


def run(*arguments: str, python: tuple[str, ...] = (), **variables: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *python, "-m", "npusim", *arguments]
    environment = {**os.environ, **variables}
    return subprocess.run(command, capture_output=True, text=True, timeout=120, env=environment, check=False)


def test_runs_code():
    done = run("--devices", "3", "-c", "import torch, sys; print(torch.npu.device_count(), sys.argv[1:])", "-m", "x")
    assert (done.stdout, done.returncode) == ("3 ['-m', 'x']\n", 0)  # and nothing that torch_npu prints


@pytest.mark.parametrize(
    ("listed", "count"),
    [
        ("1", 1),
        ("0,2", 2),
        ("0,1,2,3", 3),
        ("1, 2", 1),
        ("1,x,2", 1),
        ("0,", 1),
        ("7", 0),
        ("", 0),
        ("1,1", 0),
        ("2,0", 0),
    ],
)
def test_the_list_of_visible_devices(listed, count):
    # As CANN documents ASCEND_RT_VISIBLE_DEVICES; the variable may also be set before the first use of the device.
    code = "import torch, os; os.environ['ASCEND_RT_VISIBLE_DEVICES'] = os.environ['LISTED']\n"
    code += "print(torch.npu.device_count(), torch.npu.is_available())"
    done = run("--devices", "3", "-c", code, LISTED=listed)
    assert done.stdout == f"{count} {count > 0}\n"
    leaves_none = f"ASCEND_RT_VISIBLE_DEVICES={listed} leaves no device: it takes numbers from 0 to 2"
    assert (leaves_none in done.stderr) == (count == 0)


def test_visible_devices_are_numbered_from_0():
    code = "import torch; print(torch.ones(1, device='npu:0')); torch.ones(1, device='npu:1')"
    done = run("-c", code, ASCEND_RT_VISIBLE_DEVICES="1")
    assert done.stdout == "tensor([1.], device='npu:0')\n"
    assert "error code is 107001" in done.stderr


def test_importing_prints_nothing():
    done = run("-c", "import torch")
    assert (done.stdout, done.stderr) == ("", "")


def test_runs_a_script_from_its_folder(tmp_path):
    (tmp_path / "neighbour.py").write_text("value = 7")
    (tmp_path / "script.py").write_text(
        "import sys, neighbour\nprint(__name__, sys.argv[1:])\nsys.exit(neighbour.value)"
    )
    done = run(str(tmp_path / "script.py"), "--async", "-c")
    assert (done.stdout, done.returncode) == ("__main__ ['--async', '-c']\n", 7)


def test_runs_a_module_with_the_options_of_this_python():
    done = run("-m", "this", python=("-W", "error", "-X", "utf8"))
    assert done.returncode == 0
    done = run("-c", "import sys; print(sys.warnoptions, sys.flags.utf8_mode)", python=("-W", "error", "-X", "utf8"))
    assert done.stdout == "['error'] 1\n"


def test_the_children_see_the_devices_too():
    child = "import os; print(os.environ['NPUSIM'])"
    code = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {child!r}])"
    assert run("-c", code).stdout == "1\n"


def test_signals_pass():
    process = subprocess.Popen(
        [*NPUSIM, "-c", "print(1, flush=True); import time; time.sleep(60)"], stdout=subprocess.PIPE
    )
    process.stdout.readline()
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=30) == -signal.SIGTERM
    process.stdout.close()


USAGE = "usage: python -m npusim [--devices N] [--async] (script.py | -m module | -c code) [argument ...]"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "nothing to run: name a script, -m module or -c code"),
        (["--async"], "nothing to run: name a script, -m module or -c code"),
        (["-m"], "-m wants an argument"),
        (["--devices", "two", "x.py"], "--devices wants a number, not 'two'"),
        (["--devices"], "--devices wants a number, not ''"),
        (["--device", "2", "x.py"], "unknown option --device"),
        (["--devices", "2", "--check"], "--check goes without other arguments"),
        (["--check", "x.py"], "--check goes without other arguments"),
    ],
)
def test_wrong_usage(arguments, message):
    done = run(*arguments)
    assert (done.stdout, done.stderr, done.returncode) == ("", f"npusim: {message}\n{USAGE}\n", 2)


def test_a_set_up_that_fails_is_one_line():
    done = run("--devices=99", "-c", "")
    assert (done.stdout, done.stderr) == ("", "npusim: 99 devices: their number must be 1 to 16\n")
    assert done.returncode == 2


def test_help():
    done = run("--help")
    assert done.returncode == 0
    assert done.stdout.startswith(USAGE)


def test_a_missing_script_is_pythons_error():
    done = run("no-such-script.py")
    assert "can't open file" in done.stderr
    assert done.returncode == 2


def test_npusim_without_its_runtime():
    # torch loads the two entry points in no particular order, so the message may be torch_npu's; never a crash.
    command = [
        sys.executable,
        "-c",
        "import os\nos.environ['NPUSIM'] = '1'\nfrom npusim.autoload import autoload\nautoload()",
    ]
    environment = {**os.environ, "LD_LIBRARY_PATH": ""}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=60, check=False)
    assert "start the program with `python -m npusim`, or unset NPUSIM" in done.stderr.splitlines()[-1]


def test_without_npusim_nothing_happens():
    code = "from npusim.autoload import autoload\nautoload()\nimport sys; print('torch' in sys.modules)"
    environment = {key: value for key, value in os.environ.items() if key != "NPUSIM"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=False)
    assert done.stdout == "False\n"


def test_importing_npusim_imports_no_torch():
    code = "import npusim, sys; print('torch' in sys.modules, 'torch_npu' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout == "False False\n"


def test_check_says_what_is_here():
    done = run("--check", ASCEND_HOME_PATH="/opt/cann")
    found = dict(line.split(maxsplit=1) for line in done.stdout.splitlines())
    assert (done.stderr, done.returncode) == ("", 0)
    for name in ("torch", "torch_npu", "tensordict"):
        assert found[name] == importlib.metadata.version(name.replace("_", "-"))
    assert (Path(found["cache"]) / "libascendcl.so").exists()
    assert found["compiler"].endswith("cc")
    assert found["CANN"].startswith("/opt/cann")
    assert found["devices"].startswith("2 simulated Ascend910B4")


def test_check_says_what_is_wrong(tmp_path):
    (tmp_path / "file").touch()
    done = run("--check", XDG_CACHE_HOME=str(tmp_path / "file"))
    found = dict(line.split(maxsplit=1) for line in done.stdout.splitlines())
    assert done.returncode == 1
    for name in ("cache", "device"):
        assert "set XDG_CACHE_HOME to a folder that you may write to" in found[name]
    assert found["torch"] == importlib.metadata.version("torch")
