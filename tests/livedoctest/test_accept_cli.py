"""The command line: which pages, which configuration, what is printed, which status."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from livedoctest.__main__ import COMMANDS, main

PASS = "# Title\n\n```{doctest}\n>>> 1\n1\n```\n"
FAIL = PASS.replace("1\n```", "2\n```")


@pytest.fixture(autouse=True)
def _no_ci(monkeypatch):
    monkeypatch.delenv("CI", raising=False)


@pytest.mark.parametrize(("page", "status"), [(PASS, 0), (FAIL, 1), ("# Bad\n\n```python\nx\n```\n", 2)])
def test_verify_has_the_status_of_its_pages_and_writes_nothing(site, capsys, page, status):
    made = site(index=page, conf="livedoctest_report = '../report.json'\n")
    assert main(["verify", str(made.source)]) == status
    assert sorted(path.name for path in made.folder.rglob("*")) == ["conf.py", "index.md", "source"]
    printed = capsys.readouterr()
    assert ("index: 1 passed in " in printed.out) == (status == 0)
    assert ("index.md:" in printed.err) == (status != 0)


def test_only_named_pages_run(site, capsys, tmp_path):
    touch = f"\n```{{testcode}}\nopen({str(tmp_path / 'ran')!r}, 'w').close()\n```\n"
    made = site({"index.md": FAIL + touch, "sub/page.md": PASS, "other.md": FAIL})
    assert main(["verify", str(made.source), "sub/page"]) == 0
    assert main(["accept", str(made.source), str(made.source / "other.md")]) == 0
    assert not (tmp_path / "ran").exists()
    assert (made.source / "index.md").read_text() == FAIL + touch
    assert (made.source / "other.md").read_text() == PASS
    assert capsys.readouterr().out.startswith("sub/page: 1 passed in ")


def test_a_fault_on_another_page_does_not_matter(site):
    made = site({"index.md": PASS, "faulty.md": "# F\n\n```python\nx\n```\n"})
    assert main(["verify", str(made.source), "index"]) == 0


@pytest.mark.parametrize("extensions", ["'myst_parser'", "'myst_parser', 'sphinx.ext.doctest'"])
def test_a_project_without_the_extension_is_told_so(site, capsys, extensions):
    assert main(["verify", str(site(index=PASS, conf=f"extensions = [{extensions}]\n").source)]) == 2
    assert "does not name livedoctest among its extensions" in (error := capsys.readouterr().err)
    assert "Traceback" not in error


def test_an_unknown_page_is_named(site, capsys):
    assert main(["verify", str(site(index=PASS).source), "indx"]) == 2
    assert "there is no page 'indx'" in (error := capsys.readouterr().err)
    assert "did you mean index?" in error


def test_configuration_elsewhere_and_values(site, capsys, tmp_path):
    made = site(index=FAIL)
    (tmp_path / "conf").mkdir()
    (made.source / "conf.py").rename(tmp_path / "conf/conf.py")
    folder = str(tmp_path / "conf")
    assert main(["verify", str(made.source)]) == 2
    assert main(["verify", "-c", folder, "-D", "livedoctest_device=quantum", str(made.source)]) == 2
    assert "livedoctest_device = 'quantum'" in capsys.readouterr().err
    assert main(["verify", "--conf-dir", folder, str(made.source)]) == 1
    assert f"python -m livedoctest accept -c {folder} {made.source} index" in capsys.readouterr().err
    assert main(["accept", "-c", folder, str(made.source)]) == 0
    assert (made.source / "index.md").read_text() == PASS


@pytest.mark.parametrize("command", ["verify", "accept", "record"])
def test_options_may_stand_anywhere(site, command):
    """Between command, folder and pages; argparse takes options there only if it is told to."""
    made = site({"index.md": FAIL, "other.md": PASS})
    define = ["-D", f"livedoctest_device={'none' if command != 'record' else 'hardware'}", "-D", "nitpicky=1"]
    words = [command, str(made.source), "other", "index"]
    statuses = set()
    for at in range(len(words) + 1):
        made.write("index.md", FAIL)
        statuses.add(main([*words[:at], *define[:2], *words[at : at + 1], *define[2:], *words[at + 1 :]]))
    assert statuses == {{"verify": 1, "accept": 0, "record": 2}[command]}


def test_help_names_the_commands(capsys):
    for arguments in (["--help"], ["accept", "--help"]):
        with pytest.raises(SystemExit) as stop:
            main(arguments)
        assert stop.value.code == 0
        printed = capsys.readouterr().out
        assert all(f"{name} " in printed and " ".join(help.split()[:3]) in printed for name, help in COMMANDS.items())


@pytest.mark.parametrize("arguments", [[], ["verify"], ["mend", "x"], ["verify", "x", "-D", "name"]])
def test_wrong_usage(arguments, capsys):
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    assert stop.value.code == 2
    assert "usage: " in capsys.readouterr().err


def test_a_page_in_the_place_of_its_folder_is_told_what_to_write(site, capsys):
    made = site(index=PASS)
    assert main(["verify", str(made.source / "index.md")]) == 2
    assert f"write `{made.source} index.md`" in capsys.readouterr().err


def test_an_error_of_an_extension_is_no_failure_of_a_page(site, capsys):
    made = site(index=PASS, conf="def setup(app):\n    app.connect('source-read', lambda *_: 1 / 0)\n")
    assert main(["verify", str(made.source)]) == 2
    assert "division by zero" in capsys.readouterr().err


def test_accept_never_runs_in_ci(site, tmp_path):
    """In a process of its own, as CI starts it."""
    made = site(index=f"{FAIL}\n```{{testcode}}\nopen({str(tmp_path / 'ran')!r}, 'w').close()\n```\n")
    command = [sys.executable, "-m", "livedoctest", "accept", str(made.source)]
    run = subprocess.run(command, env={**os.environ, "CI": "true"}, capture_output=True, text=True)
    assert run.returncode == 2
    assert "accept does not run where the variable CI is set" in run.stderr
    assert not (tmp_path / "ran").exists()
    run = subprocess.run(command, env={**os.environ, "CI": ""}, capture_output=True, text=True)
    assert (run.returncode, run.stdout) == (0, "index.md: 1 output rewritten\n"), run.stderr
    assert run.stderr == ""


def test_machine_dependent_text(site, capsys):
    code = (
        "import os, pathlib\nprint(os.getcwd())\nprint(pathlib.Path.home() / 'x')\nprint('took 12 s')\nprint(object())"
    )
    made = site(index=f"# T\n\n```{{testcode}}\n{code}\n```\n", conf="livedoctest_normalizers = [(r'\\d+ s', 'N s')]\n")
    assert main(["accept", str(made.source)]) == 0
    output = (made.source / "index.md").read_text().partition("{testoutput}\n")[2]
    assert output == ".../work\n.../x\ntook N s\n<object object at 0x...>\n```\n"
    assert main(["verify", str(made.source)]) == 0


def test_failures_end_with_the_command_that_accepts(site, monkeypatch):
    made = site({"index.md": FAIL, "two.md": FAIL + "\n```{doctest}\n>>> 1 / 0\n```\n"})
    monkeypatch.chdir(made.folder)
    log = made.build().log
    assert "accept:\n      python -m livedoctest accept source index\n" in log
    assert "accept source two\n      (once line 9 is mended, which cannot be accepted)\n" in log
    assert "accept:\n      not possible: an exception is never accepted: mend the code" in log


def test_the_cache_of_the_project_serves(site, capsys):
    made = site(index=PASS, conf="livedoctest_cache = '../cache'\n")
    assert main(["verify", str(made.source)]) == 0
    assert main(["verify", str(made.source)]) == 0
    assert "index: 1 passed (stored)" in capsys.readouterr().out


def test_moves_are_accepted_on_the_simulator(site, capsys):
    page = """# Moves

- item

  ```{testcode}
  :moves: h2d=0/4B sync=0  d2h=1
  :timeout: 50

  import torch
  x = torch.ones(3).to("npu:0")
  y = x.cpu()
  ```

```{doctest}
---
moves: "h2d=5"
---
>>> torch.ones(2).int().to("npu:0")
```
"""
    made = site(index=page, conf="livedoctest_device = 'simulated'\n")
    assert main(["accept", str(made.source)]) == 0, capsys.readouterr()
    after = page.replace("h2d=0/4B sync=0", "h2d=1/12B sync=1").replace("h2d=5", "h2d=1")
    after = after.replace('.to("npu:0")\n```', ".to(\"npu:0\")\ntensor([1, 1], device='npu:0', dtype=torch.int32)\n```")
    assert (made.source / "index.md").read_text() == after


def test_a_terminated_command_leaves_no_folders(site, tmp_path):
    (tmp_path / "tmp").mkdir()
    with waiting(site(index=WAITING).source, tmp_path / "tmp", tmp_path / "begun") as process:
        process.terminate()
        assert process.wait() == 143
    assert not list((tmp_path / "tmp").iterdir())


WAITING = """# T

```{testcode}
:timeout: 3600

import os, pathlib, time
if begun := os.environ.get("BEGUN"):
    pathlib.Path(begun).touch()
    time.sleep(3600)
```
"""


def test_the_next_command_removes_what_a_killed_one_has_left_and_nothing_else(site, tmp_path):
    temporary, source = tmp_path / "tmp", site(index=WAITING).source
    (temporary / "livedoctest-examples").mkdir(parents=True)  # of the user
    with waiting(source, temporary, tmp_path / "one") as living:
        used = set(temporary.iterdir())
        with waiting(source, temporary, tmp_path / "two") as killed:
            left = set(temporary.iterdir()) - used
            killed.kill()
        assert any(folder.exists() for folder in left)
        verify = [sys.executable, "-m", "livedoctest", "verify", str(source)]
        subprocess.run(verify, env={**os.environ, "TMPDIR": str(temporary)}, check=True)
        assert not any(folder.exists() for folder in left)
        assert all(folder.exists() for folder in used)
        living.terminate()
    assert [folder.name for folder in temporary.iterdir()] == ["livedoctest-examples"]


@contextlib.contextmanager
def waiting(source: Path, temporary: Path, begun: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A command whose page has begun and waits."""
    command = [sys.executable, "-m", "livedoctest", "verify", str(source)]
    environment = {**os.environ, "TMPDIR": str(temporary), "BEGUN": str(begun)}
    with subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL) as process:
        while not begun.exists():
            assert process.poll() is None
            time.sleep(0.05)
        yield process
