"""Pages beside each other, and what they leave behind."""

from __future__ import annotations

import gc
from pathlib import Path

import pytest
from running import LEAVE, block, events, gone, output, page

from livedoctest.client import Order, run


def test_pages_do_not_see_each_other() -> None:
    change = (
        "import builtins, os, sys, json, warnings\nos.chdir('/')\nos.environ['LEFT'] = '1'\n"
        "sys.path.insert(0, '/left')\n"
        "builtins.left = json.left = 1\nwarnings.simplefilter('ignore')\nsys.modules['left'] = json\n"
    )
    look = (
        "import builtins, os, sys, json\nassert os.getcwd() != '/'\nassert 'LEFT' not in os.environ\n"
        "assert '/left' not in sys.path\nassert not hasattr(builtins, 'left')\nassert not hasattr(json, 'left')\n"
        "assert 'left' not in sys.modules\nassert os.listdir() == []\nopen('file', 'w').close()\nprint('clean')\n"
    )
    for parallel in (1, 3):
        found = events(*(page(look, change, docname=str(i)) for i in range(4)), parallel=parallel)
        outputs = [event["result"]["units"][0] for event in found if event.get("block") == 0]
        assert outputs == [{"output": "clean\n", "exception": None, "status": None}] * 4


def test_results_are_the_same_however_many_pages_run_at_once() -> None:
    pages = [page(f"print({i})", "import sys; print(len(sys.modules))", docname=str(i)) for i in range(12)]

    def texts(parallel: int) -> dict[tuple[str, int], str]:
        found = events(*pages, parallel=parallel)
        return {(e["docname"], e["block"]): e["result"]["units"][0]["output"] for e in found if "block" in e}

    assert texts(1) == texts(4) == texts(12)


def test_at_most_so_many_pages_run_at_once(tmp_path: Path) -> None:
    code = (
        f"import os, time\nmark = os.path.join({str(tmp_path)!r}, str(os.getpid()))\n"
        "open(mark, 'w').close()\nn = len(os.listdir(os.path.dirname(mark)))\n"
        "time.sleep(0.15)\nos.remove(mark)\nprint(n)"
    )
    found = events(*(page(code, docname=str(i)) for i in range(6)), parallel=2)
    assert {event["result"]["units"][0]["output"] for event in found if "block" in event} == {"1\n", "2\n"}


def test_a_page_that_removes_the_folders_of_all_pages_harms_none_that_follow() -> None:
    harm = page("import pathlib, shutil\nshutil.rmtree(pathlib.Path.cwd().parents[1])\nprint(1)", docname="harm")
    found = events(harm, page("open('file', 'w').close()\nprint(2)", docname="next"), parallel=1)
    assert [event["result"]["units"][0]["output"] for event in found if "block" in event] == ["1\n", "2\n"]


def test_folders_vanish_with_their_page() -> None:
    code = (
        "import os, tempfile\ntempfile.mkdtemp()\nopen('file', 'w').close()\nprint(os.getcwd(), tempfile.gettempdir())"
    )
    for end in ("", "\nos._exit(1)"):
        first, *_ = events(page(code + end))
        work, temporary = first["result"]["units"][0]["output"].split()
        assert (work, temporary) == (first["folder"] + "/work", first["folder"] + "/tmp")
        assert not Path(first["folder"]).exists()
        assert not Path(first["folder"]).parent.exists()


@pytest.mark.parametrize("end", ["", "os._exit(1)", "import time; time.sleep(60)"])
def test_nothing_that_a_page_started_outlives_it(end: str) -> None:
    other = page("import subprocess\nprint(subprocess.run(['sleep', '1.5']).returncode)", docname="other")
    pids: list[int] = []
    for event in run([page(block(LEAVE + end, timeout=2)), other], Order(env={}, preload=[], parallel=2)):
        if event["docname"] == "page" and "block" in event:
            pids = [int(pid) for pid in event["result"]["units"][0]["output"].split()]
        elif event["docname"] == "page":
            assert gone(pids)
        elif "block" in event:
            assert event["result"]["units"][0]["output"] == "0\n"
    assert len(pids) == 4


def test_pages_in_parallel_do_not_take_more_threads_than_cores() -> None:
    look = "import os\nprint(*(os.environ[f'{name}_NUM_THREADS'] for name in ('OMP', 'MKL', 'OPENBLAS')))"
    assert output(look, env={"OMP_NUM_THREADS": "64", "MKL_NUM_THREADS": "64"}) == "1 1 1\n"


def test_garbage_is_collected_on_pages_as_in_any_program() -> None:
    look = "import gc\nprint(gc.isenabled(), gc.get_threshold())"
    for preload in ([], ["json"]):
        assert output(look, preload=preload) == f"True {gc.get_threshold()}\n"
