"""What may happen to files while outputs are accepted: changes, crashes, links, includes, several pages."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys

import pytest

from livedoctest.__main__ import INTERRUPTED, main

PASS = "# Title\n\n```{doctest}\n>>> 1\n1\n```\n"
FAIL = PASS.replace("1\n```", "2\n```")
RAISES = FAIL + "\n```{doctest}\n>>> 1 / 0\n```\n"


@pytest.fixture(autouse=True)
def _no_ci(monkeypatch):
    monkeypatch.delenv("CI", raising=False)


def accept(made, *names: str) -> int:
    return main(["accept", str(made.source), *names])


def test_a_page_that_fails_otherwise_is_left_alone_and_the_others_are_not(site, capsys):
    made = site({"index.md": FAIL, "bad.md": RAISES, "good.md": PASS})
    assert accept(made) == 1
    assert (made.source / "index.md").read_text() == PASS
    assert (made.source / "bad.md").read_text() == RAISES
    out = capsys.readouterr().out
    assert "bad.md: refused, nothing written" in out
    assert "bad.md:9: doctest: raised ZeroDivisionError" in out
    assert "index.md: 1 output rewritten" in out
    assert "good.md" not in out


def test_a_file_that_changes_meanwhile_is_left_alone(site, capsys):
    change = (
        "```{testsetup}\nimport pathlib\npath = pathlib.Path(PATH)\npath.write_text(path.read_text() + 'More.')\n```\n"
    )
    made = site()
    page = made.write("index.md", change.replace("PATH", repr(str(made.source / "index.md"))) + FAIL)
    before = page.read_text()
    assert accept(made) == 1
    assert page.read_text() == before + "More."
    assert "was changed while its blocks ran" in capsys.readouterr().out


def test_text_that_an_extension_changes_is_left_alone(site, capsys):
    change = "lambda app, name, text: text.insert(0, text.pop().replace('6', '7'))"
    conf = f"def setup(app):\n    app.connect('source-read', {change})\n"
    made = site(index="# T\n\n```{doctest}\n>>> 6\n>>> 1\n```\n", conf=conf)
    assert accept(made) == 1
    assert "is not as it was read" in capsys.readouterr().out


@pytest.mark.parametrize("text", [r"a\tb", r"\t1", r"   1"])
def test_output_that_does_not_survive_parsing_is_refused(site, capsys, text):
    """docutils expands tabs and takes common indentation away."""
    page = f"Title\n=====\n\n.. testcode::\n\n   print('{text}')\n\n.. testoutput::\n\n   2\n"
    made = site({"index.rst": page})
    assert accept(made) == 1
    assert (made.source / "index.rst").read_text() == page
    out = capsys.readouterr().out
    assert "index.rst:6: " in out
    assert "make the block print" in out


# ---- included files


def test_an_included_file_is_rewritten(site, capsys):
    made = site({"index.md": "# T\n\n```{include} parts/a.txt\n```\n", "parts/a.txt": "Text.\r\n\r\n" + FAIL[9:]})
    assert accept(made) == 0, capsys.readouterr()
    assert (made.source / "parts/a.txt").read_bytes() == b"Text.\r\n\r\n" + PASS[9:].encode()
    assert "parts/a.txt: 1 output rewritten" in capsys.readouterr().out
    assert accept(made) == 0


def test_a_file_included_from_restructured_text_is_rewritten(site):
    made = site({"index.rst": "T\n=\n\n.. include:: a.txt\n", "a.txt": "Text.\n\n>>> 1\n2\n"})
    assert accept(made) == 0
    assert (made.source / "a.txt").read_text() == "Text.\n\n>>> 1\n1\n"


@pytest.mark.parametrize("part", ["start-line: 2", "start-after: BEGIN", "end-before: END", "end-line: 7"])
def test_a_part_of_an_included_file_is_rewritten(site, capsys, part):
    text = "Text.\n\n.. BEGIN\n\n>>> 1\n2\n\n.. END\n\nMore.\n"
    pages = {"index.rst": f"T\n=\n\n.. include:: a.txt\n   :{part}\n"}
    fence = "```{doctest}\n>>> 1\n2\n```"
    pages["b.md"] = f"# T\n\n```{{include}} b.txt\n:{part}\n```\n"
    made = site({**pages, "a.txt": text, "b.txt": text.replace(">>> 1\n2", fence).replace("..", "%")})
    assert accept(made) == 0, capsys.readouterr()
    assert (made.source / "a.txt").read_text() == text.replace("\n2\n", "\n1\n")
    assert (made.source / "b.txt").read_text().count(fence.replace("2", "1")) == 1
    assert accept(made) == 0


def test_an_output_that_moves_what_a_page_includes_is_refused(site, capsys):
    text = ">>> print(1, 2, 3, sep='\\n')\n1\n\n>>> 3\n3\n"
    part = "T\n=\n\n.. include:: a.txt\n   :start-line: 3\n"
    made = site({"index.rst": "T\n=\n\n.. include:: a.txt\n", "b.rst": part, "a.txt": text})
    assert accept(made) == 1
    assert "a.txt: refused" in capsys.readouterr().out
    assert (made.source / "a.txt").read_text() == text


def test_pages_that_include_a_file_must_agree(site, capsys):
    page = "# T\n\n```{testsetup}\nx = N\n```\n\n```{include} part.txt\n```\n"
    part = "```{doctest}\n>>> x\n1\n```\n"
    made = site({"index.md": page.replace("N", "1"), "two.md": page.replace("N", "2"), "part.txt": part})
    assert accept(made) == 1  # right for one page, wrong for the other
    assert (made.source / "part.txt").read_text() == part
    assert "part.txt:2: with the new output, on the page index, the output differs" in capsys.readouterr().out
    made.write("part.txt", part.replace("1", "3"))
    assert accept(made) == 1
    assert "want different outputs there" in capsys.readouterr().out


# ---- writing


def test_mode_and_links_stay(site):
    made = site(other=FAIL)
    page = made.source / "index.md"
    page.symlink_to("other.md")
    page.chmod(0o640)
    assert accept(made, "index") == 0
    assert page.is_symlink()
    assert (made.source / "other.md").stat().st_mode & 0o777 == 0o640
    assert page.read_text() == PASS


@pytest.mark.parametrize("step", ["os.fdopen", "os.fsync", "shutil.copymode", "os.replace"])
def test_interrupted_anywhere_the_file_is_whole_and_nothing_is_left(site, monkeypatch, step):
    def interrupt(*_):
        raise KeyboardInterrupt

    made = site(index=FAIL)
    monkeypatch.setattr({"os": os, "shutil": shutil}[step.partition(".")[0]], step.partition(".")[2], interrupt)
    assert accept(made) == INTERRUPTED
    assert (made.source / "index.md").read_text() == FAIL
    assert sorted(path.name for path in made.source.iterdir()) == ["conf.py", "index.md"]


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_killed_while_it_writes_the_file_is_whole(site, step):
    made = site(index=FAIL)
    code = (
        "import os, signal, sys\n"
        "from livedoctest.__main__ import main\n"
        "from livedoctest import atomic\n"
        "class Deadly:\n"
        "    def __getattr__(self, name): return getattr(os, name)\n"
        f"    def {step}(self, *_): os.kill(os.getpid(), signal.SIGKILL)\n"
        "atomic.os = Deadly()\n"
        "main(['accept', sys.argv[1]])\n"
    )
    command = [sys.executable, "-c", code, str(made.source)]
    run = subprocess.run(command, env={**os.environ, "TMPDIR": str(made.folder)}, capture_output=True)
    assert run.returncode == -signal.SIGKILL, run.stderr
    assert (made.source / "index.md").read_text() == FAIL
    assert accept(made) == 0  # what the dead one left is no page
    assert (made.source / "index.md").read_text() == PASS


def test_killed_between_two_files_each_is_whole(site):
    names = ["index", "a", "b", "c"]
    made = site({f"{name}.md": FAIL for name in names})
    code = (
        "import os, signal, sys\n"
        "from livedoctest import atomic\n"
        "from livedoctest.__main__ import main\n"
        "left, replace = [2], atomic.replace\n"
        "def some(path, content):\n"
        "    if not left[0]: os.kill(os.getpid(), signal.SIGKILL)\n"
        "    left[0] -= 1\n"
        "    replace(path, content)\n"
        "atomic.replace = some\n"
        "main(['accept', sys.argv[1]])\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", code, str(made.source)],
        env={**os.environ, "TMPDIR": str(made.folder)},
        capture_output=True,
    )
    assert run.returncode == -signal.SIGKILL, run.stderr
    assert sorted((made.source / f"{name}.md").read_text() for name in names) == sorted([PASS, PASS, FAIL, FAIL])
    assert accept(made) == 0
    assert {(made.source / f"{name}.md").read_text() for name in names} == {PASS}
