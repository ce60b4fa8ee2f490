"""What readers get: the outputs of this run, marks, and a program that a copy button can take."""

from __future__ import annotations

import re
from html import unescape

import pytest

DOCTEST = '''# Title

```{doctest}
>>> total = sum(
...     [1, 2]
... )
>>> for i in range(2):
...     print("<", i)
...
< 0
< 1
>>> text = """
... lines
...
... end"""
>>> print(text)
<BLANKLINE>
lines
<BLANKLINE>
end
>>>
>>> # only a comment
>>> 0.123456  # doctest: +NUMBER
0.12
>>> object()
<object object at 0x...>
>>> 1 / 0
Traceback (most recent call last):
    ...
ZeroDivisionError: division by zero
```
'''
PROGRAM = '''total = sum(
    [1, 2]
)
for i in range(2):
    print("<", i)

text = """
lines

end"""
print(text)

# only a comment
0.123456
object()
1 / 0
'''


def program(html: str, language: str = "pycon") -> str:
    """What remains of a block without prompts and outputs."""
    block = re.search(rf'<div class="highlight-{language}[^"]*livedoctest-program.*?<pre>(.*?)</pre>', html, re.DOTALL)
    text = re.sub(r'<span class="g[po]">.*?</span>', "", block[1], flags=re.DOTALL)
    return unescape(re.sub(r"<[^>]+>", "", text))


def outputs(html: str) -> list[str]:
    return [unescape(text) for text in re.findall(r'<span class="go">(.*?)</span>', html, re.DOTALL)]


def test_program_of_a_doctest(site):
    built = site(index=DOCTEST).build()
    assert built.status == 0, built.log
    assert program(built.html()) == PROGRAM
    exec(compile(PROGRAM.replace("1 / 0", ""), "page", "exec"), {})  # noqa: S102  a copied program runs


def test_outputs_are_those_of_the_run(site):
    shown = outputs(site(index=DOCTEST).build().html())
    assert "0.123456\n" in shown
    assert "<object object at 0x…>\n" in shown
    assert "\nlines\n\nend\n" in shown
    assert any("ZeroDivisionError: division by zero" in text for text in shown)
    assert not any("doctest:" in text for text in shown)


def test_patterns_of_testoutput_are_filled_in(site):
    page = "# T\n\n```{testcode}\nprint('<b>', list(range(5)))\n```\n\n```{testoutput}\n<b> [0, ..., 4]\n```\n"
    html = site(index=page).build().html()
    assert "&lt;b&gt; [0, 1, 2, 3, 4]" in html
    assert "<b>" not in html


def test_colours_are_removed(site):
    page = "# T\n\n```{testcode}\nprint('\\033[31mred\\033[0m')\n```\n\n```{testoutput}\nred\n```\n"
    built = site(index=page).build()
    assert built.status == 0
    assert "\x1b" not in built.html()


def test_console_program(site):
    page = "# T\n\n```{testconsole}\n$ echo one\none\n$ echo two \\\n> three\ntwo three\n```\n"
    built = site(index=page).build()
    assert built.status == 0, built.log
    assert program(built.html(), "console") == "echo one\necho two \\\nthree\n"


def test_the_name_of_a_file_is_shown(site):
    page = "# T\n\n```{testfile} sub/part.py\nx = 1\n```\n\n```{testconsole}\n$ cat sub/part.py\nx = 1\n```\n"
    built = site(index=page).build("-W")
    assert built.status == 0, built.log
    assert re.search(r"code-block-caption.*?sub/part\.py", built.html(), re.DOTALL)
    assert "written to the page&#x27;s folder" in built.html()


@pytest.mark.parametrize(
    "line",
    [
        "[W1130 00:33:04.528597082 Allocator.cpp:168] Warning: x (f)",
        "[rank1]:[W1130 00:33:04.528597082 Allocator.cpp:168] Warning: x (f)",
        "I1130 02:38:20.070352 24114 ../csrc/core/Queue.cpp:768] [rank:1] Queue.cpp:Dequeue: empty",
        "[rank0]: E1130 02:38:20.070352 7 Queue.cpp:768] failed",
    ],
)
def test_log_lines_of_consoles_are_not_output(site, line):
    page = (
        f"# T\n\n```{{testconsole}}\n$ echo '{line}' >&2; echo '[W1130] y'; echo 'I1130 z'\n[W1130] y\nI1130 z\n```\n"
    )
    built = site(index=page).build()
    assert built.status == 0, built.log
    assert ".cpp" not in "".join(outputs(built.html()))


def test_hidden_blocks_are_hidden(site):
    page = "# T\n\n```{testsetup}\nsecret = 1\n```\n\n```{testcode}\n:hide:\n\nsecret += 1\n```\n"
    page += "\n```{doctest}\n>>> secret\n2\n```\n"
    built = site(index=page).build()
    assert built.status == 0, built.log
    assert "secret = 1" not in built.html()
    assert built.html().count("livedoctest-mark-passed") == 1


@pytest.mark.parametrize(("code", "status"), [("1", "passed"), ("2", "failed")])
def test_mark_and_foot(site, code, status):
    html = site(index=f"# T\n\n```{{doctest}}\n>>> {code}\n1\n```\n").build().html()
    assert f"livedoctest-mark-{status}" in html
    assert f"livedoctest-foot-{status}" in html
    assert f"{int(status == 'passed')} of 1 code blocks on this page were verified on 20" in html
    assert "Device: Python without a device." in html


def test_machine_folders_are_not_published(site):
    page = (
        "# T\n\n```{testcode}\nimport os, pathlib, tempfile\nprint(os.getcwd(), pathlib.Path.home() / 'x')\n"
        "print(tempfile.mkdtemp())\n```\n\n```{testoutput}\n/... /...\n/...\n```\n"
    )
    built = site(index=page).build()
    assert built.status == 0, built.log
    shown = re.search(r"livedoctest-output.*?<pre>(.*?)</pre>", built.html(), re.DOTALL)[1]
    assert shown.removeprefix("<span></span>").startswith("/tmp/page ~/x\n/tmp/tmp")


def test_the_folder_of_the_environment_is_not_published(site):
    page = "# T\n\n```{doctest}\n>>> import sys\n>>> print(f'{sys.prefix}/lib/module.py')\n/...module.py\n```\n"
    built = site(index=page).build("-W")
    assert built.status == 0, built.log
    assert "/environment/lib/module.py" in "".join(outputs(built.html()))
