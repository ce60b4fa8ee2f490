"""The ways in which a page's process can end before its time."""

from __future__ import annotations

import time

import pytest
from running import block, events, output, page, results, unit


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("os._exit(3)", "exit status 3"),
        ("os._exit(0)", "exit status 0"),
        ("os.kill(os.getpid(), 9)", "SIGKILL"),
        ("ctypes.string_at(0)", "SIGSEGV"),
        ("os.abort()", "SIGABRT"),
        ("os.execvp('true', ['true'])", "exit status 0"),
        ("os.closerange(0, 1000); os.abort()", "SIGABRT"),
    ],
)
def test_a_page_whose_process_dies(code: str, text: str) -> None:
    start = "import ctypes, os\nprint('so far')\nx = 1"
    first, second, third = results(
        block("x = 1", line=2), block(f"{start}\n{code}\ny = 2", line=10), block("x", line=30)
    )
    assert first["fault"] is None
    assert second["fault"]["kind"] == "died"
    assert second["fault"]["line"] == 13
    assert text in second["fault"]["text"]
    assert second["units"][-1]["output"] == "so far\n"
    assert third["fault"]["kind"] == "lost"
    assert third["fault"]["line"] == 30
    assert "line 13" in third["fault"]["text"]


def test_a_page_that_closes_the_descriptors_of_the_runner_dies() -> None:
    [result] = results("import os\nos.closerange(0, 1000)")
    assert result["fault"]["kind"] == "died"
    assert "exit status 70" in result["fault"]["text"]


def test_a_page_that_breaks_the_runner_is_told_how() -> None:
    [result] = results(block("import sys\nsys.settrace(lambda *a: 1 / 0)"))
    assert result["fault"]["text"].startswith("ended its process (exit status 70): ZeroDivisionError: division by zero")


def test_endless_messages_are_cut() -> None:
    warn = "import warnings\nfor i in range(200):\n    warnings.warn(f'{i:09}' * 9_000)"
    raised, warned = results("raise ValueError('x' * 10**7)", warn)
    assert raised["units"][0]["exception"]["text"].startswith("ValueError: xxx")
    assert raised["units"][0]["exception"]["text"].endswith("x... (9,980,012 more characters)")
    assert len(raised["units"][0]["exception"]["traceback"]) < 30_000
    assert len(warned["warnings"]) == 100
    assert max(len(each["text"]) for each in warned["warnings"]) < 30_000


def test_a_crash_shows_where_python_was() -> None:
    [result] = results(block("import ctypes\ndef f():\n    ctypes.string_at(0)\nif True:\n    f()", line=10))
    assert result["fault"]["line"] == 14
    assert 'File "docs/page.md", line 12 in f' in result["fault"]["text"]
    assert "livedoctest/page.py" not in result["fault"]["text"]


def test_the_examples_before_a_death_keep_their_results() -> None:
    [result] = results(
        block(*(unit(code, i, "single") for i, code in enumerate(["1", "2", "import os; os._exit(1)"], 5)))
    )
    assert [each["output"] for each in result["units"]] == ["1\n", "2\n", ""]
    assert result["fault"]["line"] == 7


@pytest.mark.parametrize(
    "hang",
    ["while True: pass", "import time; time.sleep(100)", "import threading; threading.Event().wait()"],
)
def test_a_hang_ends_at_the_time_limit_and_shows_the_stack(hang: str) -> None:
    code = f"print('so far')\ndef f():\n    {hang}\nx = 1\nf()"
    first, second = results(block(code, line=10, timeout=0.5), block("x", line=30))
    assert first["fault"]["kind"] == "timeout"
    assert first["fault"]["line"] == 14
    assert first["fault"]["text"].startswith("did not finish within 0.5 s\n")
    assert 'File "docs/page.md", line 12 in f' in first["fault"]["text"]
    assert first["units"][-1]["output"] == "so far\n"
    assert second["fault"]["kind"] == "lost"


def test_a_hanging_command_and_a_stopped_process_end_too() -> None:
    first, _ = results(block(unit("echo a; sleep 100", 5, "shell"), timeout=0.5), "x")
    assert (first["fault"]["kind"], first["fault"]["line"]) == ("timeout", 5)
    assert first["units"][-1]["output"] == "a\n"
    [stopped] = results(block("import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)", timeout=0.5))
    assert stopped["fault"]["kind"] == "timeout"


def test_the_time_limit_is_a_blocks_own() -> None:
    sleep = block("import time; time.sleep(0.4)", timeout=1)
    assert all(result["fault"] is None for result in results(sleep, sleep, sleep, sleep))


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
@pytest.mark.parametrize("code", ["while True: sys.{}.write('x' * 1000)", "sys.{}.write('x' * 3_000_000)"])
def test_endless_output_ends_the_page(code: str, stream: str) -> None:
    first, second = results(block("import sys\nprint('a')\n" + code.format(stream), line=10), "x")
    assert first["fault"]["kind"] == "output"
    assert first["fault"]["line"] == 12
    assert first["units"][-1]["output"].startswith("a\n")
    assert len(first["units"][-1]["output"]) <= 10_000
    assert second["fault"]["kind"] == "lost"


def test_other_pages_go_on_when_one_dies() -> None:
    bad = page("import os; os._exit(1)", docname="bad")
    good = [page("import time; time.sleep(0.1); print('fine')", docname=f"good{i}") for i in range(3)]
    found = events(bad, *good)
    fine = [
        event["docname"] for event in found if event.get("result", {}).get("units", [{}])[0].get("output") == "fine\n"
    ]
    assert sorted(fine) == ["good0", "good1", "good2"]


def test_threads_and_exit_handlers_do_not_keep_a_page() -> None:
    started = time.monotonic()
    threads = (
        "import threading, time\nfor daemon in True, False:\n"
        "    threading.Thread(target=time.sleep, args=[60], daemon=daemon).start()"
    )
    assert output(threads, "import atexit; atexit.register(print, 'bye')\nprint('end')") == "end\n"
    assert time.monotonic() - started < 10
