"""What page code sees while it runs, and how its exceptions are described."""

from __future__ import annotations

from pathlib import Path

import pytest
from running import block, output, results, unit


def test_blocks_share_one_main_module() -> None:
    assert output("x = 1", "print(x, __name__, '__file__' in globals(), __spec__)") == "1 __main__ False None\n"


def test_results_have_output_log_and_time() -> None:
    [result] = results("import sys, time\nprint('out')\nprint('err', file=sys.stderr)\ntime.sleep(0.1)")
    assert result["units"] == [{"output": "out\n", "exception": None, "status": None}]
    assert result["log"] == "err\n"
    assert 0.1 <= result["seconds"] < 5
    assert result["moves"] is None


def test_a_script_has_no_arguments_and_no_input() -> None:
    assert output("import sys\nprint(sys.argv, repr(sys.stdin.read()))") == "[''] ''\n"


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("PYTHONOPTIMIZE", "1"),
        ("PYTHONDEVMODE", "1"),
        ("PYTHONSAFEPATH", "1"),
        ("PYTHONVERBOSE", "1"),
        ("PYTHONPROFILEIMPORTTIME", "1"),
        ("BASH_ENV", "noise"),
        ("CDPATH", ".:sub"),
        ("SHELLOPTS", "xtrace"),
    ],
)
def test_habits_of_the_user_change_no_result(variable: str, value: str, tmp_path: Path) -> None:
    """Variables that make Python, or the shell, run or print something else."""
    (tmp_path / "noise").write_text("echo noise")
    value = value.replace("noise", str(tmp_path / "noise"))
    code = "import sys\nprint(__debug__, sys.flags.dev_mode)"
    shell = unit("mkdir -p sub/deep; cd deep 2> /dev/null; echo here", mode="shell")
    script = unit("print('x = 1', file=open('part.py', 'w')); print('import part', file=open('use.py', 'w'))")
    found = results(
        block(code), block(shell), block(script), block(unit("python use.py", mode="shell")), env={variable: value}
    )
    assert [each["units"][0]["output"] for each in found] == ["True False\n", "here\n", "", ""]
    assert [each["log"] for each in found] == ["", "", "", ""]


def test_examples_show_values_as_at_the_prompt() -> None:
    examples = ["1 + 1", "None", "for i in 'ab':\n    i", "x = 5", "# nothing", "x; _"]
    [result] = results(block(*(unit(code, mode="single") for code in examples)))
    assert [each["output"] for each in result["units"]] == ["2\n", "", "'a'\n'b'\n", "", "", "5\n5\n"]


def test_an_exception_ends_an_example_but_a_whole_testcode() -> None:
    examples = block(unit("1 / 0", 3, "single"), unit("print(2)", 4, "single"))
    first, second = results(examples, block("print(1)\nraise KeyError('a')\nprint(2)", "print(3)", line=7))
    assert first["units"][0]["exception"]["text"] == "ZeroDivisionError: division by zero"
    assert first["units"][1]["output"] == "2\n"
    assert len(second["units"]) == 1
    assert second["units"][0]["output"] == "1\n"
    assert second["units"][0]["exception"]["line"] == 8


@pytest.mark.parametrize(
    ("code", "name", "text"),
    [
        ("raise SystemExit(3)", "SystemExit", "SystemExit: 3"),
        ("raise KeyboardInterrupt", "KeyboardInterrupt", "KeyboardInterrupt"),
        ("import json; json.loads('{')", "json.decoder.JSONDecodeError", None),
        ("class Mine(Exception): pass\nraise Mine('a\\nb')", "Mine", "Mine: a\nb"),
        ("raise ValueError('\\udc80')", "ValueError", "ValueError: \\udc80"),
        ("error = ValueError('a')\nerror.add_note('b')\nraise error", "ValueError", "ValueError: a\nb"),
        ("raise RecursionError", "RecursionError", "RecursionError"),
    ],
)
def test_exceptions_are_named_as_python_prints_them(code: str, name: str, text: str | None) -> None:
    first, second = results(code, "print('goes on')")
    assert first["units"][0]["exception"]["name"] == name
    assert text is None or first["units"][0]["exception"]["text"] == text
    assert second["units"][0]["output"] == "goes on\n"


@pytest.mark.parametrize(
    ("code", "line"),
    [
        ("x = 1\n1 / 0", 11),
        ("if True:\n    x = 1\n    1 / 0", 12),
        ("with open('f', 'w'):\n    for i in range(3):\n        if i == 1:\n            1 / 0", 13),
        ("print(\n    1,\n    1 / 0,\n)", 10),
        ("for i in range(2):\n    print(\n        i,\n        1 / i,\n    )", 11),
        ("try:\n    x = 1\nexcept ValueError:\n    pass\nelse:\n    1 / 0", 15),
        ("try:\n    1 / 0\nexcept zero:\n    pass", 12),
        ("def f():\n    1 / 0\n\nf()", 13),
        ("def deco(f):\n    1 / 0\n\n@deco\ndef g():\n    pass", 13),
        ("class A:\n    x = 1\n    y = 1 / 0", 10),
        ("x = (\n  1 +\n", 10),
        ("x = 1\nfor", 11),
        ("x = 1\nreturn", 11),
        ("x = '''\n\n'''; 1 / 0", 12),
        ("import json\njson.loads(\n    '{'\n)", 11),
    ],
)
def test_an_exception_has_the_line_of_the_innermost_statement(code: str, line: int) -> None:
    [result] = results(block(code, line=10))
    assert result["units"][0]["exception"]["line"] == line


def test_tracebacks_show_page_code_only() -> None:
    define = block("def f(x):\n    return 1 / x", line=5)
    *_, result = results(define, block("for i in [0]:\n    f(i)", line=20))
    lines = result["units"][0]["exception"]["traceback"].splitlines()
    assert [line for line in lines if set(line) - set(" ^~")] == [
        "Traceback (most recent call last):",
        '  File "docs/page.md", line 21, in <module>',
        "    f(i)",
        '  File "docs/page.md", line 6, in f',
        "    return 1 / x",
        "ZeroDivisionError: division by zero",
    ]


def test_syntax_errors_stop_a_block_before_it_starts() -> None:
    [result] = results(block("print('no')\nx = = 1", line=10))
    assert result["units"][0]["output"] == ""
    assert result["units"][0]["exception"]["text"] == "SyntaxError: invalid syntax"


def test_future_imports_hold_for_the_rest_of_the_page() -> None:
    future = "from __future__ import annotations"
    assert output(future, "def f(x: nothing): pass\nprint(f.__annotations__)") == "{'x': 'nothing'}\n"


def test_inspect_finds_the_source_of_functions() -> None:
    outer = "def outer():\n    def inner():\n        return 1\n\n    return inner\n"
    show = "import inspect\nprint(inspect.getsource(outer), inspect.getsource(outer()), sep='', end='')"
    assert output(block(outer, line=3), block("x = 1", line=20), block(show, line=40)) == (
        "def outer():\n    def inner():\n        return 1\n\n    return inner\n    def inner():\n        return 1\n"
    )


def test_what_a_page_defines_pickles() -> None:
    define = "import dataclasses, pickle\n@dataclasses.dataclass\nclass A:\n    x: int\ndef f(): pass"
    assert output(define, "print(pickle.loads(pickle.dumps((f, A, A(3))))[1:])") == "(<class '__main__.A'>, A(x=3))\n"


def test_functions_from_file_blocks_go_to_spawned_processes() -> None:
    worker = block(unit("def double(x):\n    return 2 * x", mode="file", name="worker.py"))
    use = "import multiprocessing, worker\nwith multiprocessing.get_context('spawn').Pool(1) as pool:\n"
    assert output(worker, use + "    print(pool.map(worker.double, [1, 2]))") == "[2, 4]\n"


def test_file_blocks_may_use_folders_but_not_leave_theirs() -> None:
    inside = block(unit("x = 1", mode="file", name="package/a.py"))
    assert output(inside, "from package.a import x; print(x, repr(open('package/a.py').read()))") == "1 'x = 1\\n'\n"
    for name in ("../a.py", "/tmp/livedoctest-outside.py", ""):
        [result] = results(block(unit("x = 1", 7, mode="file", name=name)))
        assert result["units"][0]["exception"]["line"] == 7
        assert not Path("/tmp/livedoctest-outside.py").exists()


def test_a_forked_copy_of_the_page_runs_no_further_block() -> None:
    fork = "import os\nchild = os.fork()\nif child:\n    os.waitpid(child, 0)"
    assert output(fork, "print('once')") == "once\n"
