"""Other ways to run the code of pages."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

PACKAGES = Path(__file__).parents[2] / "build" / "bench"  # MyST-NB and ipykernel: see the session `bench`
WARM = Path(__file__).with_name("warm.py")
SAMPLE = 3
"""Pages that the slow ones run; their time is extrapolated by the number of blocks."""

NOTEBOOK = "---\nkernelspec:\n  name: python3\n---\n\n# {name}\n"
CONF = "extensions = ['myst_nb']\nnb_execution_timeout = 300\nnb_execution_allow_errors = True\n"


def warm(code: Path, environment: dict[str, str], *arguments: str) -> None:
    """All pages in one process."""
    command = [sys.executable, "-P", str(WARM), str(code), *arguments]
    streams = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "stdin": subprocess.DEVNULL}
    subprocess.run(command, env=environment, check=True, **streams)


def sampled(pages: list[dict[str, Any]], code: Path, environment: dict[str, str]) -> dict[str, float]:
    """Seconds for all pages, from a sample in the middle of them by number of blocks."""
    middle = sorted((page for page in pages if page["blocks"]), key=lambda page: len(page["blocks"]))
    start = max(0, (len(middle) - SAMPLE) // 2)
    sample = middle[start : start + SAMPLE]
    factor = sum(len(page["blocks"]) for page in pages) / sum(len(page["blocks"]) for page in sample)
    started = time.perf_counter()
    process_per_block(sample, code, environment)
    blocks_done = time.perf_counter()
    myst_nb(sample, environment)
    return {
        "a process per block (sample)": factor * (blocks_done - started),
        "MyST-NB (sample)": factor * (time.perf_counter() - blocks_done),
    }


def process_per_block(sample: list[dict[str, Any]], code: Path, environment: dict[str, str]) -> None:
    """Each block in a process of its own, after the blocks above it, on which it depends."""
    for page in sample:
        alone = code.with_name("page.json")
        alone.write_text(json.dumps([page]))
        for number in range(len(page["blocks"])):
            warm(alone, environment, str(number + 1))


def myst_nb(sample: list[dict[str, Any]], environment: dict[str, str]) -> None:
    """The pages as notebooks, a kernel each."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder)
        (source / "conf.py").write_text(CONF)
        for number, page in enumerate(sample):
            name = "index" if number == 0 else f"p{number}"
            cells = [cell(unit) for block in page["blocks"] for unit in block["units"]]
            (source / f"{name}.md").write_text(NOTEBOOK.format(name=name) + "".join(cells))
        command = [sys.executable, "-m", "sphinx", "-q", "-b", "html", folder, str(source / "out")]
        path = os.pathsep.join(filter(None, [str(PACKAGES), environment.get("PYTHONPATH")]))
        subprocess.run(command, env={**environment, "PYTHONPATH": path}, check=True, stderr=subprocess.DEVNULL)


def cell(unit: dict[str, Any]) -> str:
    """A cell that does what a unit of a block does."""
    magic = {"shell": "%%bash --no-raise-error\n", "file": f"%%writefile {unit['name']}\n"}.get(unit["mode"], "")
    return f"\n`````{{code-cell}} python\n{magic}{unit['code'].rstrip()}\n`````\n"
