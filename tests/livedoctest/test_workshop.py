"""The server starts as early as it can, in one of the builds that share results, and only where it is wanted."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from livedoctest import workshop
from livedoctest.__main__ import main
from livedoctest.device import Device

PAGE = "# T\n\n```{doctest}\n>>> 1\n1\n```\n"
NOTE = """
def note(event):
    with open(LOG, "a") as file:
        file.write(event + " ")

def setup(app):
    note("load")
    app.connect("source-read", lambda *_: note("read"))
"""


@pytest.fixture
def events(site, monkeypatch, tmp_path):
    """A site with one page, and what is done with it, in order: load conf.py as an extension, start, read the page."""
    log = tmp_path / "log"
    device = Device("simulated", "a fake for tests", 1, {"python": "3.11.0"}, preload=("json",))
    monkeypatch.setattr(workshop, "detect", lambda wanted: device)

    class Runner(workshop.Runner):
        def __init__(self, *arguments):
            with log.open("a") as file:
                file.write("start ")
            super().__init__(*arguments)

    monkeypatch.setattr(workshop, "Runner", Runner)
    return site(index=PAGE, conf=NOTE.replace("LOG", repr(str(log)))), lambda: log.read_text().split()


def test_imports_overlap_with_reading(events):
    made, seen = events
    assert made.build().status == 0, made.log
    assert seen() == ["load", "start", "read"]


def test_a_command_starts_it_before_extensions_are_loaded(events):
    made, seen = events
    assert main(["verify", str(made.source)]) == 0
    assert seen() == ["start", "load", "read"]


@pytest.mark.parametrize(
    "change",
    [
        "app.connect('config-inited', lambda app, config: setattr(config, 'doctest_path', [FOLDER]))",
        "import os; os.environ['PYTHONPATH'] = FOLDER + ':' + os.environ['PYTHONPATH']",
    ],
)
def test_what_an_extension_changes_counts(change, events, tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", os.environ.get("PYTHONPATH", ""))
    made, seen = events
    (tmp_path / "modules").mkdir()
    (tmp_path / "modules" / "paint.py").write_text("COLOUR = 'blue'\n")
    made.write("index.md", PAGE.replace(">>> 1\n1", ">>> import paint; paint.COLOUR\n'blue'"))
    conf = made.source / "conf.py"
    conf.write_text(f"{conf.read_text()}    {change.replace('FOLDER', repr(str(tmp_path / 'modules')))}\n")
    assert main(["verify", str(made.source)]) == 0
    assert seen() == ["start", "load", "start", "read"]


def test_a_command_starts_none_for_pages_that_are_stored(events):
    made, seen = events
    for _ in range(2):
        assert main(["verify", str(made.source), "index", "-D", "livedoctest_cache=../cache"]) == 0
    assert seen() == ["start", "load", "read", "load", "read"]


def test_prose_starts_no_server_and_code_starts_it_after_reading(events):
    made, seen = events
    made.build()
    made.write("index.md", PAGE + "\nProse.\n")
    assert made.build().status == 0
    assert seen()[3:] == ["load", "read"]
    made.write("index.md", PAGE.replace("1", "2"))
    assert made.build().status == 0
    assert seen()[5:] == ["load", "read", "start"]


def test_a_build_that_fails_while_reading_ends_the_server(events):
    made, seen = events
    made.write("index.md", "# T\n\n```python\nx\n```\n")
    assert made.build().status == 2
    assert seen() == ["load", "start", "read"]
    made.write("index.md", PAGE)
    assert made.build().status == 0  # the lock on the results is free


def test_builds_at_the_same_time_execute_each_page_once(site, tmp_path):
    code = f"import time\nwith open({str(tmp_path / 'log')!r}, 'a') as file:\n    _ = file.write('x')\ntime.sleep(0.5)"
    pages = {f"{name}.md": f"# {name}\n\n```{{testcode}}\n{code}\n```\n" for name in ("index", "other")}
    made = site(pages, conf="livedoctest_cache = '../cache'\n")
    options = [["-d", str(tmp_path / f"trees-{name}"), str(made.source), str(tmp_path / name)] for name in "abc"]
    builds = [subprocess.Popen([sys.executable, "-m", "sphinx", "-q", *each]) for each in options]
    assert [build.wait() for build in builds] == [0, 0, 0]
    assert (tmp_path / "log").read_text() == "xx"
    assert all("1 of 1 code blocks" in (tmp_path / name / "index.html").read_text() for name in "abc")


def test_a_page_that_has_run_shows_while_others_run(site, tmp_path):
    """The other page waits for a file, which is made only once the line of the first one has come through a pipe."""
    seen = tmp_path / "seen"
    wait = f"import pathlib, time\nwhile not pathlib.Path({str(seen)!r}).exists():\n    time.sleep(0.05)"
    page = "# T\n\n```{testcode}\npass\n```\n\n```{toctree}\nother\n```\n"
    made = site({"index.md": page, "other.md": f"# O\n\n```{{testcode}}\n{wait}\n```\n"})
    command = [sys.executable, "-u", "-m", "sphinx", "--no-color", str(made.source), str(made.out)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as build:
        lines = []
        for line in build.stdout:
            lines.append(line.strip())
            if line.startswith("livedoctest: 1 of 2 have run, index"):
                seen.touch()
    assert build.returncode == 0
    assert "livedoctest: 2 of 2 have run, other" in lines
    assert seen.exists()
