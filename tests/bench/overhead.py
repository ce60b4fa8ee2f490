"""Measure what verification costs: `python tests/bench/overhead.py`.

Times differ from machine to machine and from minute to minute; only numbers of one run may be compared. The two imports
take turns, and of each the fastest counts, since a busy machine only adds time; of the pages the median counts.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import npusim

RUNS = 7
PAGES = 20
IMPORT = "from time import perf_counter as now; start = now(); import torch, torch_npu; print(now() - start)"
PROGRAMS = {
    "host only": "x = 1",
    "device initialised": "import torch\n_ = torch.ones(1, device='npu:0')",
}


def main() -> None:
    """Print a table."""
    plain, simulated = import_times()
    row("import torch, torch_npu on the empty runtime", plain)
    row("the same with the simulator's kernels", simulated)
    row("  the kernels alone", simulated - plain)
    for name, seconds in page_times().items():
        row(f"a page with one line, {name}", seconds)


def row(what: str, seconds: float) -> None:
    print(f"{what:<48}{seconds * 1000:8.1f} ms")


def import_times() -> tuple[float, float]:
    """Seconds that the imports take without and with the simulator's kernels."""
    simulated = {**os.environ, **npusim.environment()}
    plain = {name: value for name, value in simulated.items() if name != "NPUSIM"}
    times = [(import_time(plain), import_time(simulated)) for _ in range(RUNS)]
    return min(each[0] for each in times), min(each[1] for each in times)


def import_time(environment: dict[str, str]) -> float:
    """Seconds of one import in a new process."""
    command = [sys.executable, "-c", IMPORT]
    done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    return float(done.stdout.split()[-1])


def page_times() -> dict[str, float]:
    """Seconds of a page in a build of many, one for each of `PROGRAMS`."""
    with tempfile.TemporaryDirectory() as folder:
        source, output = Path(folder, "source"), Path(folder, "output")
        source.mkdir()
        (source / "conf.py").write_text("extensions = ['myst_parser', 'livedoctest']\n")
        (source / "index.md").write_text("---\nlivedoctest: none\n---\n\n# Pages\n\n```{toctree}\n:glob:\n\np*\n```\n")
        for number in range(PAGES):
            for kind, code in enumerate(PROGRAMS.values()):
                text = f"# Page\n\n```{{testcode}}\n{code}  # {number}\n```\n"
                (source / f"p{number:02}-{kind}.md").write_text(text)
        subprocess.run([sys.executable, "-m", "sphinx", "-q", "-b", "dummy", source, output], check=True)
        pages = json.loads((output / "verification.json").read_text())["pages"]
    return {
        name: statistics.median(page["seconds"] for page in pages if page["docname"].endswith(f"-{kind}"))
        for kind, name in enumerate(PROGRAMS)
    }


if __name__ == "__main__":
    main()
