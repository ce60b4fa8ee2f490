"""The project as a whole: what stands at the top level, and that CI runs the documented commands."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TOP = {"docs", "tests", "conf.py", "noxfile.py", "pyproject.toml", "README.md", "LICENSE"}
HIDDEN = {".ci", ".github", ".gitignore", ".readthedocs.yaml"}


def tracked_files() -> list[str]:
    """The files that git has, or would add."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.splitlines()


def test_the_top_level_has_only_what_the_design_says() -> None:
    assert {path.partition("/")[0] for path in tracked_files()} == TOP | HIDDEN


def test_ci_runs_the_commands_of_the_readme() -> None:
    patterns = re.search(r"grep '([^']+)' README\.md", (ROOT / ".ci/run").read_text())
    assert patterns
    lines = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    commands = [line for line in lines if re.match(patterns[1], line)]
    assert len(commands) == 2
    assert [command.rpartition(" ")[2] for command in commands] == ["docs", "tests"]
    assert os.access(ROOT / ".ci/run", os.X_OK)


def test_the_readme_names_only_files_that_exist() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    names = re.findall(r"\]\((?!http)([^)#]+)\)|`(docs/[^`]*)`", text)
    assert names
    assert [name for pair in names for name in pair if name and not (ROOT / name).exists()] == []


@pytest.mark.parametrize(("found", "kept"), [("python3.9", False), (f"python3.{sys.version_info.minor}", True)])
def test_the_environment_of_another_python_is_made_anew(tmp_path: Path, found: str, kept: bool) -> None:
    for name in ("noxfile.py", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path)
    old = tmp_path / ".nox/environment/lib" / found / "old"
    old.mkdir(parents=True)
    offline = {**os.environ, "PIP_CONFIG_FILE": os.devnull, "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": ""}
    nox = [sys.executable, "-m", "nox", "-s", "environment"]
    done = subprocess.run(nox, cwd=tmp_path, env=offline, capture_output=True, text=True, check=False)
    assert done.returncode, "torch was installed without an index"
    assert old.exists() == kept, done.stderr
