"""A change of the guide's own extension makes its pages anew; nothing else does."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
CONF = 'extensions = ["guide"]\nhtml_theme = "basic"\nhtml_context = {"diagram": "Diagram"}\n'


def build(folder: Path) -> None:
    """Build the site in `folder` with its own copy of the extension."""
    command = [sys.executable, "-m", "sphinx", "-q", "-b", "html", str(folder), str(folder / "out")]
    environment = os.environ | {"PYTHONPATH": str(folder / "_ext")}
    subprocess.run(command, env=environment, check=True, capture_output=True)


def test_pages_are_made_anew_when_the_extension_has_changed(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "docs" / "_ext" / "guide", tmp_path / "_ext" / "guide")
    (tmp_path / "conf.py").write_text(CONF, encoding="utf-8")
    (tmp_path / "index.rst").write_text("Title\n=====\n\nWords.\n", encoding="utf-8")
    build(tmp_path)
    page, mark = tmp_path / "out" / "index.html", "<!-- of the first build -->"
    page.write_text(page.read_text(encoding="utf-8") + mark, encoding="utf-8")
    build(tmp_path)
    assert mark in page.read_text(encoding="utf-8")
    with (tmp_path / "_ext" / "guide" / "head.py").open("a", encoding="utf-8") as source:
        source.write("# changed\n")
    build(tmp_path)
    assert mark not in page.read_text(encoding="utf-8")
