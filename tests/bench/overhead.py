"""Measure what verification costs: `python tests/bench/overhead.py`.

Times differ from machine to machine and from minute to minute; only numbers of one run may be compared.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

PAGES = 20
PROGRAMS = {
    "host only": "x = 1",
    "device initialised": "import torch\n_ = torch.ones(1, device='npu:0')",
}


def main() -> None:
    """Print a table."""
    for name, seconds in page_times().items():
        print(f"a page with one line, {name:<26}{seconds * 1000:8.1f} ms")


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
