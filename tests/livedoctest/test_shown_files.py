"""Programs that a page shows from files of their own."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

WORK = "def double(x):\n    return 2 * x\n\n\ndef half(x):\n    return x // 2\n"
USE = "```{doctest}\n>>> import work\n>>> work.double(2), work.half(2)\n(4, 1)\n```\n"
WAYS = {
    "literalinclude": "```{literalinclude} code/work.py\n:lines: 1-2\n:linenos:\n```\n",
    "caption": "```{literalinclude} code/work.py\n:pyobject: double\n:caption: Twice\n```\n",
    "literal": "```{include} code/work.py\n:literal:\n```\n",
    "code": "```{include} code/work.py\n:code: python\n```\n",
    "rst": "```{eval-rst}\n.. literalinclude:: code/work.py\n   :end-at: return\n```\n",
}


@pytest.mark.parametrize("way", WAYS)
def test_a_later_block_runs_the_whole_file(site, way):
    made = site({"index.md": f"# T\n\n{WAYS[way]}\n{USE}", "code/work.py": WORK}).build("-W")
    assert made.status == 0, made.log
    assert [(each["source"], each["kind"], each["status"]) for each in made.blocks()] == [
        ("code/work.py" if way == "literal" else "index.md", "testfile", "passed"),
        ("index.md", "doctest", "passed"),
    ]
    shown = re.sub(r"<[^>]+>", "", made.html())
    assert "return 2 * x" in shown
    assert ("return x // 2" in shown) == (way in ("literal", "code"))
    assert "written to the page" in shown


def test_another_text_of_the_file_runs_the_page_again(site):
    made = site({"index.md": f"# T\n\n{WAYS['literalinclude']}\n{USE}", "code/work.py": WORK}).build()
    assert made.status == 0
    made.write("code/work.py", WORK.replace("x // 2", "x // 3"))  # a part that the page does not show
    assert made.build().status == 1
    assert "(4, 0)" in made.log


def test_several_parts_are_one_file(site, tmp_path):
    parts = WAYS["literalinclude"] + "\n" + USE + "\n" + WAYS["literal"]
    made = site({"index.md": f"# T\n\n{parts}", "code/work.py": WORK}).build("-W")
    assert made.status == 0, made.log
    assert [each["kind"] for each in made.blocks()] == ["testfile", "doctest"]
    assert made.html().count("livedoctest-mark ") == 2
    script = made.out / "_downloads" / "index.py"
    assert script.read_text().count("def half") == 1
    subprocess.run([sys.executable, str(script)], cwd=tmp_path, check=True)


@pytest.mark.parametrize("way", WAYS)
def test_what_no_block_uses_stops_the_build(site, way):
    made = site({"index.md": f"# T\n\n```{{doctest}}\n>>> 1\n1\n```\n\n{WAYS[way]}", "code/work.py": WORK}).build()
    assert made.status == 2
    place = "code/work.py:1" if way == "literal" else f"index.md:{9 if way == 'rst' else 8}"
    assert f"{made.source / place}: WARNING: No later block of index.md uses work.py" in made.log


def test_as_text_it_is_no_program(site):
    page = f"# T\n\n```{{doctest}}\n>>> 1\n1\n```\n\n{WAYS['literalinclude']}".replace(":linenos:", ":language: text")
    made = site({"index.md": page, "code/work.py": WORK}).build("-W")
    assert made.status == 0, made.log
    assert [each["kind"] for each in made.blocks()] == ["doctest"]


def test_a_shell_script_is_run_by_a_console_block(site):
    page = "# T\n\n```{literalinclude} greet.sh\n```\n\n```{testconsole}\n$ sh greet.sh\nhello\n```\n"
    made = site({"index.md": page, "greet.sh": "echo hello\n"}).build("-W")
    assert made.status == 0, made.log


RUN = "```{testconsole}\n$ python x.py\n1\n```\n"
X = "```{testfile} x.py\nprint(1)\n```\n"


@pytest.mark.parametrize(
    ("page", "line"),
    [
        pytest.param(X.replace("print(1)", "1 / 0") + "\n" + X + "\n" + RUN, 3, id="written again before it is used"),
        pytest.param(X + "\n```{testcode}\nmax(1, 2)\n```\n", 3, id="a letter of another word"),
        pytest.param(X + "\n```{doctest}\n>>> 1\n1\n```\n\n" + RUN.replace("$", ":norun: Why.\n\n$"), 3, id="norun"),
        pytest.param("```{literalinclude} a/x.py\n```\n\n```{literalinclude} b/x.py\n```\n\n" + RUN, 3, id="same name"),
    ],
)
def test_a_file_that_nothing_runs_stops_the_build(site, page, line):
    made = site({"index.md": f"# T\n\n{page}", "a/x.py": "1 / 0\n", "b/x.py": "print(1)\n"}).build()
    assert made.status == 2, made.log
    found = re.findall(r"index.md:(\d+): WARNING: No later block of index.md uses x.py", made.log)
    assert found == [str(line + ("{testfile}" in page))]


def test_a_package_is_used_by_its_name(site):
    files = "".join(f"```{{testfile}} pkg/{name}.py\nprint(1)\n```\n\n" for name in ("__init__", "__main__"))
    page = f"# T\n\n{files}```{{testconsole}}\n$ python -m pkg\n1\n1\n```\n"
    made = site({"index.md": page}).build("-W")
    assert made.status == 0, made.log


def test_a_file_in_another_encoding_stops_the_build(site):
    """What runs would be another text than the page shows."""
    page = "T\n=\n\n.. literalinclude:: x.py\n   :encoding: latin-1\n\n>>> import x\n"
    made = site({"index.rst": page, "x.py": ""})
    (made.source / "x.py").write_bytes("# coding: latin-1\nx = 'd\u00e9j\u00e0'\n".encode("latin-1"))
    assert made.build().status == 2
    found = re.findall(r"index.rst:(\d+): WARNING: (x.py is no text in UTF-8)?", made.log)
    assert found == [("4", "x.py is no text in UTF-8")], made.log


def test_a_byte_order_mark_is_none_of_the_text(site):
    page = "# T\n\n```{literalinclude} x.sh\n```\n\n```{testconsole}\n$ sh x.sh\nhello\n```\n"
    made = site({"index.md": page, "x.sh": "\ufeffecho hello\n"}).build("-W")
    assert made.status == 0, made.log
