"""What is captured: output, consoles, warnings."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest
from running import block, gone, output, results, unit


def test_console_commands_have_output_and_status() -> None:
    commands = [
        "echo a; echo b >&2; exit 3",
        "cat nothing",
        "kill -9 $$",
        "read x; echo got $x",
        "python -c 'print(1)'",
    ]
    path = {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    [result] = results(block(*(unit(command, mode="shell") for command in commands)), env=path)
    assert [each["status"] for each in result["units"]] == [3, 1, 137, 0, 0]
    assert [each["output"] for each in result["units"]] == [
        "a\nb\n",
        "cat: nothing: No such file or directory\n",
        "",
        "got\n",
        "1\n",
    ]


def test_console_and_python_share_folder_and_environment() -> None:
    start = "import os\nos.mkdir('sub')\nos.environ['A'] = 'from python'\nos.environ['C'] = 'c'"
    shell = block(
        *(unit(command, mode="shell") for command in ["echo $A; cd sub", "export A=1 B='2\n3'; unset C", "pwd"])
    )
    found = results(
        start, shell, "print(os.getcwd().rpartition('/')[2], os.environ['A'], [os.environ['B']], 'C' in os.environ)"
    )
    assert found[1]["units"][0]["output"] == "from python\n"
    assert found[1]["units"][2]["output"].endswith("/work/sub\n")
    assert found[2]["units"][0]["output"] == "sub 1 ['2\\n3'] False\n"


def test_a_console_command_may_leave_a_process_in_the_background() -> None:
    started = time.monotonic()
    [result] = results(block(unit("sleep 60 & echo $!", mode="shell")))
    assert time.monotonic() - started < 10
    assert gone([int(result["units"][0]["output"])])


def test_output_of_c_code_and_children_stays_in_order() -> None:
    code = (
        "import ctypes, os, subprocess, sys\nlibc = ctypes.CDLL(None)\n"
        "print('a')\nlibc.puts(b'b')\nos.write(1, b'c\\n')\nsubprocess.run(['echo', 'd'])\nprint('e', end='')\n"
        "libc.printf(b'f')\n"
    )
    assert output(code) == "a\nb\nc\nd\nef"


def test_bytes_that_are_no_text_are_shown_escaped() -> None:
    assert output("import os\nos.write(1, b'\\xff\\n')\nprint('\\udc80é')") == "\\xff\n\\udc80é\n"


@pytest.mark.parametrize(
    "harm",
    [
        "import os; os.close(1); os.close(2)",
        "import sys; sys.stdout.close(); sys.stderr.close()",
        "import sys, io; sys.stdout = sys.stderr = io.StringIO()",
        "import sys; sys.stdout = sys.stderr = None",
        "import os; os.dup2(os.open('elsewhere', os.O_CREAT | os.O_WRONLY), 1)",
        "import os; os.closerange(3, 100)",
        "import os; os.chdir('/'); os.environ.clear()",
    ],
)
def test_the_next_block_is_captured_whatever_a_block_did(harm: str) -> None:
    assert output(harm, "print('here')") == "here\n"


def test_printing_to_a_closed_descriptor_fails_in_its_block() -> None:
    first, second = results("import os\nos.close(1)\nprint('lost')", "print('here')")
    assert first["units"][0]["exception"]["text"] == "OSError: [Errno 9] Bad file descriptor"
    assert second["units"][0]["output"] == "here\n"


def test_warnings_are_recorded_and_each_block_gives_its_own() -> None:
    code = "import warnings\nfor i in range(2):\n    warnings.warn('careful')\nwarnings.warn('old', FutureWarning)"
    for result in results(block(code, line=10), block(code, line=20)):
        assert result["log"] == ""
        assert [(each["category"], each["text"]) for each in result["warnings"]] == [
            ("UserWarning", "careful"),
            ("FutureWarning", "old"),
        ]
    assert [each["line"] for each in result["warnings"]] == [22, 23]


def test_warnings_that_are_no_text_are_shown_escaped() -> None:
    code = "import warnings\nwarnings.warn('\\ud800é')"
    assert [each["text"] for each in results(code)[0]["warnings"]] == ["\\ud800é"]


def test_filters_are_those_of_a_script_and_stay_as_the_page_sets_them() -> None:
    old = "import warnings\nwarnings.warn('old', DeprecationWarning)"
    hidden = "import asyncio\nwarnings.warn_explicit('old', DeprecationWarning, 'x.py', 1, 'some.module')"
    found = results(old, hidden, "warnings.simplefilter('ignore')", old, env={"PYTHONWARNINGS": "error"})
    assert [len(result["warnings"]) for result in found] == [1, 0, 0, 0]


def test_a_warning_from_a_library_has_the_line_of_the_call() -> None:
    library = block(unit("import warnings\ndef f():\n    warnings.warn('in here')", mode="file", name="library.py"))
    result = results(library, block("import library\nlibrary.f()", line=30))[-1]
    assert result["warnings"] == [{"category": "UserWarning", "text": "in here", "line": 31}]


def test_page_code_can_record_warnings_itself() -> None:
    code = (
        "import warnings\nwith warnings.catch_warnings(record=True) as seen:\n    warnings.warn('a')\nprint(len(seen))"
    )
    [result] = results(code)
    assert result["units"][0]["output"] == "1\n"
    assert result["warnings"] == []


def test_syntax_warnings_have_their_line() -> None:
    [result] = results(block("x = 1\nx is 1", line=10))
    assert [(each["category"], each["line"]) for each in result["warnings"]] == [("SyntaxWarning", 11)]


COUNTERS = (
    "import itertools\n_calls = itertools.count(1)\ndef counters():\n    return {'h2d': 10 * next(_calls), 'sync': 1}\n"
)


def test_counters_are_read_around_the_blocks_that_ask(tmp_path: Path) -> None:
    (tmp_path / "npusim.py").write_text(COUNTERS)
    blocks = [block("x = 1", count=True), block("x = 2")]
    env = {"PYTHONPATH": str(tmp_path)}
    assert [result["moves"] for result in results(*blocks, env=env | {"NPUSIM": "1"})] == [{"h2d": 10, "sync": 0}, None]
    assert [result["moves"] for result in results(*blocks, env=env)] == [None, None]
