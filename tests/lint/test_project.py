"""The project as a whole: what stands at the top level, and that CI runs the documented commands."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

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
