"""Stored results: what they depend on, and what they must not outlive."""

from __future__ import annotations

import json
import signal
import subprocess
import sys

import pytest

from livedoctest import device, workshop
from livedoctest.device import Device

COUNTING = """# Counts its executions

```{testcode}
import pathlib
log = pathlib.Path(LOG)
with log.open("a") as file:
    _ = file.write("x")
```
"""
LINE = """# Prints its own line

```{testcode}
import traceback
try:
    1 / 0
except ZeroDivisionError:
    print(traceback.format_exc())
```

```{testoutput}
Traceback (most recent call last):
  File "index.md", line 6, in <module>
    1 / 0
    ~~^~~
ZeroDivisionError: division by zero
<BLANKLINE>
```
"""
VERSIONS = {"python": "3.11.0", "torch": "2.13.0", "torch_npu": "2.13.0", "tensordict": "0.15.3", "driver": "1"}


@pytest.fixture
def counted(site, tmp_path):
    """A site with one page, and the number of times that it was executed."""
    made = site(index=COUNTING.replace("LOG", repr(str(tmp_path / "log"))))
    return made, lambda: len((tmp_path / "log").read_text())


@pytest.mark.parametrize(
    "other",
    [
        {"versions": {**VERSIONS, "torch": "2.13.1"}},
        {"versions": {**VERSIONS, "torch_npu": "2.13.0.post1"}},
        {"versions": {**VERSIONS, "tensordict": "0.15.4"}},
        {"versions": {**VERSIONS, "driver": "2"}},
        {"versions": {**VERSIONS, "cann": "9.2.0"}},
        {"versions": {**VERSIONS, "python": "3.12.0"}},
        {"name": "another"},
        {"count": 2},
        {"kind": "simulated"},
    ],
)
def test_a_new_version_or_device_executes_all_pages(counted, monkeypatch, other):
    made, executions = counted
    facts = {"kind": "hardware", "name": "a fake for tests", "count": 1, "versions": VERSIONS}
    monkeypatch.setattr(workshop, "detect", lambda wanted: Device(**facts))
    assert made.build().status == 0, made.log
    assert made.build().status == 0
    assert executions() == 1
    monkeypatch.setattr(workshop, "detect", lambda wanted: Device(**facts | other))
    assert made.build().status == 0
    assert executions() == 2


@pytest.mark.parametrize("form", ["fake_library-{}.dist-info", "fake_library-{}-py3.11.egg-info"])
def test_another_version_of_any_library_executes_all_pages(counted, monkeypatch, tmp_path, form):
    made, executions = counted
    monkeypatch.syspath_prepend(str(tmp_path / "site-packages"))
    one, other = (tmp_path / "site-packages" / form.format(version) for version in ("1.0", "1.1"))
    for number, change in enumerate((lambda: one.mkdir(parents=True), lambda: one.rename(other), other.rmdir), 1):
        change()
        assert made.build().status == 0, made.log
        assert made.build().status == 0, made.log
        assert executions() == number


def test_new_sources_of_the_simulator_execute_all_pages(monkeypatch):
    one = Device("simulated").identity
    monkeypatch.setattr(device, "npusim_sources", lambda: "other")
    assert Device("simulated").identity != one


def test_an_output_that_names_its_line_moves_with_it(site):
    made = site(index=LINE)
    assert made.build().status == 0, made.log
    assert made.build().report["pages"][0]["cached"]
    made.write("index.md", LINE.replace("# Prints its own line", "# Prints its own line\n\nNew words."))
    assert made.build().status == 1
    assert "line 8, in <module>" in made.log
    made.write("index.md", LINE.replace("# Prints its own line", "# Prints it, still"))
    assert made.build().status == 0
    assert made.report["pages"][0]["cached"]


def test_builders_share_the_results(counted, tmp_path):
    made, executions = counted
    for builder in ("gettext", "dirhtml", "singlehtml", "latex", "linkcheck", "doctest", "html"):
        trees = ["-d", str(tmp_path / f"trees-{builder}"), "-D", f"livedoctest_cache={tmp_path / 'cache'}"]
        assert made.build("-j", "auto", *trees, builder=builder).status == 0, made.log
    assert executions() == 1


DAMAGES = {
    "half": lambda whole: b"{half",
    "a list": lambda whole: b"[]",
    "nothing in it": lambda whole: b"{}",
    "no text": lambda whole: b"\xff\xfe",
    "part": lambda whole: b'"key": ',
    "no block has a result": lambda whole: json.dumps(whole | {"results": []}).encode(),
    "a result of another shape": lambda whole: json.dumps(whole | {"results": [[{"units": 5}]]}).encode(),
    "another output": lambda whole: json.dumps(whole).replace('"output": ""', '"output": "x"').encode(),
    "another kind of value": lambda whole: json.dumps(whole | {"seconds": "long"}).encode(),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_corrupt_result_is_made_anew_with_one_warning(counted, damage):
    made, executions = counted
    made.build()
    stored = made.out / ".doctrees/livedoctest/index.json"
    whole = stored.read_bytes()
    stored.write_bytes(damaged := DAMAGES[damage](json.loads(whole)))
    assert damaged != whole
    assert made.build().status == 0
    assert made.log.count("[livedoctest.cache]") == 1
    assert executions() == 2
    assert "[livedoctest" not in made.build().log
    assert executions() == 2


def test_a_result_that_cannot_be_stored_is_no_failure(counted):
    made, _ = counted
    (made.out / ".doctrees/livedoctest/index.json/x").mkdir(parents=True)  # a folder, which no file can replace
    assert made.build().status == 0
    assert "WARNING: This result cannot be stored" in made.log
    assert [path.name for path in (made.out / ".doctrees/livedoctest").iterdir() if "tmp" in path.name] == []


def test_another_text_of_a_module_that_no_distribution_holds_runs_its_pages(site, tmp_path):
    """A project in development is imported from its folder; its version says nothing of what is in it."""
    folder = tmp_path / "project"
    (folder / "package").mkdir(parents=True)
    (folder / "package/__init__.py").write_text("")
    (folder / "package/inner.py").write_text("value = 1\n")
    (folder / "outer.py").write_text("from package.inner import value\n")
    conf = f"doctest_path = [{str(folder)!r}]\n"
    uses = "# T\n\n```{doctest}\n>>> import outer\n>>> outer.value\n1\n```\n"
    made = site({"index.md": "# T\n\n```{doctest}\n>>> 1\n1\n```\n", "uses.md": uses}, conf=conf)
    assert made.build().status == 0

    def cached() -> dict[str, bool]:
        made.build()
        return {page["docname"]: page["cached"] for page in made.report["pages"]}

    assert cached() == {"index": True, "uses": True}
    (folder / "package/inner.py").write_text("value = 2\n")
    assert cached() == {"index": True, "uses": False}
    assert made.status == 1
    (folder / "package/inner.py").write_text("value = 1\n")
    assert cached() == {"index": True, "uses": True}
    (folder / "outer.py").unlink()
    assert cached() == {"index": True, "uses": False}


def test_a_project_that_was_moved_executes_nothing(site):
    conf = "import pathlib\ndoctest_path = [pathlib.Path(__file__).parents[1] / 'package']\n"
    pages = {"index.md": "# T\n\n```{doctest}\n>>> import module\n>>> module.value\n1\n```\n"}
    made = site({**pages, "../package/module.py": "value = 1\n"}, conf=conf)
    assert made.build().status == 0
    made.folder = made.folder.rename(made.folder.with_name("elsewhere"))
    assert made.build().status == 0
    assert "index: 1 passed (stored)" in made.log
    made.write("../package/module.py", "value = 2\n")
    assert made.build().status == 1


def test_the_reason_of_a_block_that_is_not_run_is_prose(counted):
    made, executions = counted
    page = (made.source / "index.md").read_text() + "\n```{testcode}\n:norun: It is slow.\n\nx\n```\n"
    made.write("index.md", page)
    made.build()
    made.write("index.md", page.replace("slow", "too slow"))
    assert made.build().status == 0
    assert "too slow" in made.html()
    assert executions() == 1


def test_an_interrupted_build_keeps_what_has_passed(site, tmp_path):
    free = tmp_path / "free"
    waits = f"import os, time\nwhile not os.path.exists({str(free)!r}):\n    time.sleep(0.05)"
    made = site(a="# A\n\n```{testcode}\nx = 1\n```\n", index=f"# Waits\n\n```{{testcode}}\n{waits}\n```\n")
    command = [sys.executable, "-u", "-m", "sphinx", str(made.source), str(made.out)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        assert any("1 of 2 have run, a" in line for line in process.stdout)
        process.send_signal(signal.SIGINT)
        process.stdout.read()
    assert process.returncode != 0
    free.touch()
    assert made.build().status == 0
    assert {page["docname"]: page["cached"] for page in made.report["pages"]} == {"a": True, "index": False}
