"""What a page does after its last block, where no block can show it."""

from __future__ import annotations

import pytest
from running import block, events, page
from test_hardware import PROBE, fake  # noqa: F401  a fixture

from livedoctest.__main__ import main

NOTHING = {"output": "", "warnings": [], "fault": None}


def end(*codes: str, **options):
    return events(page(*codes), **options)[-1]["end"]


@pytest.mark.parametrize(
    "code",
    [
        "x = 1",
        "import atexit, os\nos.write(2, b'harmless')\n_ = atexit.register(os.write, 2, b'harmless')",
        "import atexit\natexit._clear()",
        "import os, sys\nsys.stdout.close()\nos.closerange(0, 3)",
        "from concurrent.futures import ThreadPoolExecutor\n_ = ThreadPoolExecutor(2).submit(print, end='')",
        "import threading, time\nthreading.Thread(target=time.sleep, args=[60], daemon=True).start()",
        "import multiprocessing\nprocess = multiprocessing.get_context('fork').Process(target=int)\nprocess.start()",
        "import os\nif os.fork() == 0:\n    raise SystemExit(3)",
    ],
)
def test_a_page_that_ends_well_leaves_nothing_to_say(code: str) -> None:
    assert end(code, "y = 2") == NOTHING


def test_what_a_handler_does_is_told_apart_from_the_last_block() -> None:
    code = "import atexit, warnings\n_ = atexit.register(warnings.warn, 'late')\n_ = atexit.register(print, 'late')"
    found = events(page(code, "print('block')"))
    assert found[1]["result"]["units"][0]["output"] == "block\n"
    assert found[1]["result"]["warnings"] == []
    assert found[2]["end"] == {
        "output": "late\n", "fault": None, "warnings": [{"category": "UserWarning", "text": "late", "line": None}],
    }  # fmt: skip


def test_an_exception_has_the_line_that_raised_it() -> None:
    code = "import atexit, threading\ndef fail(main=threading.main_thread()):\n    main.join(), {}['a']\n"
    for start in ("atexit.register(fail)", "threading.Thread(target=fail).start()"):
        assert [each["line"] for each in end(block(code + start, line=10))["warnings"]] == [12]


def test_a_page_without_its_last_block_has_no_end() -> None:
    assert end("import atexit, os\n_ = atexit.register(print, 'late')\nos._exit(3)", "x") is None


@pytest.mark.parametrize("code", ["os._exit(0)", "os.kill(os.getpid(), 9)", "sys.stdout.write('x' * 3_000_000)"])
def test_other_pages_go_on_when_one_dies_at_its_end(code: str) -> None:
    bad = page(f"import atexit, os, sys\n_ = atexit.register(lambda: {code})", docname="bad")
    good = [page("import time; time.sleep(0.1); print('fine')", docname=f"good{i}") for i in range(3)]
    found = {event["docname"]: event["end"] for event in events(bad, *good) if event.get("done")}
    assert "after its last block" in found.pop("bad")["fault"]["text"]
    assert list(found.values()) == [NOTHING] * 3


def test_what_modules_registered_before_the_page_is_not_its_doing(fake, tmp_path):  # noqa: F811
    env = fake(True)
    with (tmp_path / "modules" / "fakenpu.py").open("a") as module:
        module.write("import atexit\natexit.register(print, 'the device is gone')\natexit.register(os._exit, 3)\n")
    options = {"env": env, "preload": ["fakenpu"], "cards": ["4"], "probe": PROBE}
    assert end("import fakenpu", **options) == NOTHING
    assert end("import atexit\n_ = atexit.register(print, 'late')", **options)["output"] == "late\n"


LATE = "# T\n\n```{testcode}\nimport atexit, threading, time\nCODE\n```\n\n```{doctest}\n>>> 1\n1\n```\n"


def test_what_no_block_shows_cannot_be_accepted(site, capsys, monkeypatch):
    monkeypatch.delenv("CI", raising=False)
    made = site(index=LATE.replace("CODE", "_ = atexit.register(print, 'late')"))
    assert made.build().status == 1
    words = "doctest: printed something after the last block of the page"
    assert f"index.md:9: WARNING: {words}\n  got:\n      late" in made.log
    assert main(["accept", str(made.source)]) == 1
    assert f"source/index.md:9: {words}" in capsys.readouterr().out


def test_what_does_not_end_is_told_in_every_build(site):
    made = site(index=LATE.replace("CODE", "def wait():\n    time.sleep(60)\nthreading.Thread(target=wait).start()"))
    for _ in range(2):
        assert made.build().status == 0
        assert "index.md:11: WARNING: The page did not end within 5 s after its last block" in made.log
        assert 'File "index.md", line 6 in wait' in made.log
