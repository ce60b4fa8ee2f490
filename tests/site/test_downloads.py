"""The scripts and notebooks of all pages, run on the device that the site was built for."""

from __future__ import annotations

import ast
import os
from pathlib import Path
from typing import Any

import nbformat
import notebooks
import pytest

from livedoctest.client import Order, run
from livedoctest.device import detect

QUICK = 15.0  # seconds of a page's run: of slower ones, which start processes, the notebook has the code of the script
TESTS = Path(notebooks.__file__).parent
SCRIPT = "import runpy\nrunpy.run_path({path!r}, run_name='__main__')\n"
NOTEBOOK = "import sys\nsys.path.insert(1, {tests!r})\nimport notebooks\nnotebooks.run({path!r})\n"


@pytest.fixture(scope="module")
def folders(html: Path) -> dict[str, Path]:
    """The downloads of each language."""
    return {language: html / language / "_downloads" for language in ("en", "zh_CN")}


@pytest.fixture(scope="module")
def names(report: dict[str, Any]) -> list[str]:
    """The pages with blocks."""
    return [page["docname"] for page in report["pages"] if page["blocks"]]


def test_every_page_has_them_in_both_languages_with_the_same_code(folders: dict[str, Path], names: list[str]) -> None:
    for name in names:
        trees = [ast.dump(ast.parse(download(folder, name, ".py").read_text("utf-8"))) for folder in folders.values()]
        assert trees[0] == trees[1], name
        for folder in folders.values():
            nbformat.validate(nbformat.read(download(folder, name, ".ipynb"), as_version=4))


def test_they_run(folders: dict[str, Path], names: list[str], report: dict[str, Any]) -> None:
    device = detect(report["device"]["kind"])
    seconds = {page["docname"]: page["seconds"] for page in report["pages"]}
    jobs = [
        {"docname": f"{name}{suffix}", "blocks": [block(code.format(path=str(path), tests=str(TESTS)))]}
        for name in sorted(names, key=seconds.__getitem__, reverse=True)  # the longest first: none is left alone
        for suffix, code in ((".py", SCRIPT), (".ipynb", NOTEBOOK))
        if suffix == ".py" or seconds[name] < QUICK
        for path in [download(folders["en"], name, suffix)]
    ]
    parallel = 1 if device.kind == "hardware" else os.cpu_count() or 1
    environment = {**device.environment, "PATH": os.environ["PATH"]}
    failed, ran = {}, 0
    for event in run(jobs, Order(environment, list(device.preload), parallel)):
        if "result" in event:
            ran += 1
            result = event["result"]
            problem = result["fault"] or next(
                (unit["exception"] for unit in result["units"] if unit["exception"]), None
            )
            if problem:
                failed[event["docname"]] = problem.get("traceback") or problem["text"]
    assert ran == len(jobs)
    assert not failed, "\n\n".join(f"{name}: {text}" for name, text in failed.items())


def download(folder: Path, name: str, suffix: str) -> Path:
    """A download of a page; those of sphinx-gallery lie where Sphinx puts files that pages link."""
    path = folder / f"{name}{suffix}"
    return path if path.is_file() else next(folder.glob(f"*/{path.name}"))


def block(code: str) -> dict[str, Any]:
    """A block as the runner takes it."""
    unit = {"mode": "exec", "code": code, "line": 1, "name": ""}
    return {"kind": "testcode", "source": "download", "timeout": 1800.0, "count": False, "units": [unit]}
