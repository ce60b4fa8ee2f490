"""Compare verification with other ways to run the same pages: `python tests/bench/engine.py [--peers] [docname …]`.

All numbers are of one run on one machine, and only their ratios mean something. L is what a reader of the numbers would
call free: a plain build of both languages, and all page code once in one warm process, imports included, one after the
other. With docnames only those pages (and the first page) take part.
"""

from __future__ import annotations

import argparse
import json
import os
import pickle
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import peers

import npusim

ROOT = Path(__file__).parents[2]
LANGUAGES = ("en", "zh_CN")
REPEATS = 5
BLOCKS = 5
CONF = """
from pathlib import Path
__file__ = {conf!r}
exec(compile(Path(__file__).read_text(), __file__, "exec"))
templates_path = [str(ROOT / path) for path in templates_path]
html_static_path = [str(ROOT / path) for path in html_static_path]
html_logo = html_favicon = str(ROOT / html_logo)
extensions = [name if name != "livedoctest" else {extension!r} for name in extensions]
include_patterns = {include!r}
suppress_warnings = ["toc", "ref", "myst"]
nitpicky = False
livedoctest_report, livedoctest_cache = None, {cache!r}
{more}
"""
# Without the sidebar, for which Sphinx's own time grows with the square of the pages.
GENERATED_CONF = """
extensions = ["myst_parser", {extension!r}]
html_sidebars = {{"**": []}}
livedoctest_device = "none"
"""


def timed(action: Callable[[], object]) -> float:
    """Seconds that an action takes."""
    started = time.perf_counter()
    action()
    return time.perf_counter() - started


class Bench:
    """Builds of the guide in a temporary folder."""

    def __init__(self, folder: Path, include: Sequence[str]) -> None:
        self.folder = folder
        self.include = [*include, "index.md"] if include else ["**"]
        self.simulated = {**os.environ, **npusim.environment()}

    def conf(self, name: str, extension: str, more: str = "") -> Path:
        """A folder with the guide's configuration, with another extension in the place of the engine."""
        folder = self.folder / name
        folder.mkdir(exist_ok=True)
        values = {"conf": str(ROOT / "conf.py"), "cache": str(folder / "cache"), "include": self.include}
        (folder / "conf.py").write_text(CONF.format(**values, extension=extension, more=more))
        return folder

    def start(self, conf: Path, language: str, builder: str = "html", source: Path = ROOT / "docs") -> Any:
        """Start a build; `conf` also holds what it writes."""
        path = os.pathsep.join([str(ROOT / "docs/_ext"), str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
        out, trees = conf / f"{builder}-{language}", conf / f"trees-{builder}-{language}"
        options = ["-q", "-b", builder, "-c", str(conf), "-d", str(trees), "-D", f"language={language}"]
        log = (conf / f"log-{builder}-{language}").open("w")
        environment = {**(self.simulated if builder == "doctest" else os.environ), "PYTHONPATH": path}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)  # installed packages are compiled, and so is the engine then
        command = [sys.executable, "-m", "sphinx", *options, str(source), str(out)]
        return subprocess.Popen(command, cwd=conf, env=environment, stdout=log, stderr=subprocess.STDOUT)

    def build(self, conf: Path, **options: Any) -> float:
        """Build English; the most memory that the largest of its processes took, in MiB."""
        _, _, usage = os.wait4(self.start(conf, "en", **options).pid, 0)
        return usage.ru_maxrss / 1024

    def both(self, conf: Path, at_once: bool = False) -> None:
        """Build both languages, one after the other or, as `nox -s docs` does, at once."""
        builds = []
        for language in LANGUAGES:
            builds.append(self.start(conf, language))
            if not at_once:
                builds[-1].wait()
        for build in builds:
            build.wait()


def code_of(conf: Path) -> list[dict[str, Any]]:
    """The blocks that ran, by page, from the environment that a build of ours left."""
    with (conf / "trees-html-en" / "environment.pickle").open("rb") as file:
        pages = pickle.load(file).livedoctest_pages  # noqa: S301  written by our own build
    report = json.loads((conf / "html-en" / "verification.json").read_text())
    ran = {
        (page["docname"], block["id"]) for page in report["pages"] for block in page["blocks"] if not block["reason"]
    }
    return [
        {"docname": name, "blocks": [units_of(block) for block in page.blocks if (name, block.id) in ran]}
        for name, page in sorted(pages.items())
    ]


def units_of(block: Any) -> dict[str, Any]:
    """What `warm.py` needs of a block."""
    units = [{"mode": unit.mode, "code": unit.code, "name": unit.name} for unit in block.units]
    return {"kind": block.kind, "units": units}


def guide(bench: Bench, with_peers: bool) -> None:
    """The guide's own pages."""
    ours, plain = bench.conf("ours", "livedoctest"), bench.conf("plain", "plain")
    stock = bench.conf("stock", "plain", "plain_stock = True")
    verified = timed(lambda: bench.both(ours, at_once=True))
    pages = code_of(ours)
    code = bench.folder / "code.json"
    code.write_text(json.dumps(pages))
    built = timed(lambda: bench.both(plain))
    warm = timed(lambda: peers.warm(code, bench.simulated))
    limit = built + warm
    print(f"{sum(len(page['blocks']) for page in pages)} blocks on {len(pages)} pages, {os.cpu_count()} cores")
    row("plain build of both languages", built)
    row("all page code in one warm process", warm)
    row("  together: L", limit, limit)
    row("from nothing, verified, both languages", verified, limit)
    row(
        "doctest builder (no console blocks), and html",
        timed(partial(bench.build, stock, builder="doctest")) + built,
        limit,
    )
    if with_peers:
        for name, seconds in peers.sampled(pages, code, bench.simulated).items():
            row(name, seconds + built, limit)
    builds = [partial(bench.build, ours), partial(bench.build, plain)]
    times = [[timed(build) for build in builds] for _ in range(REPEATS)]
    unchanged, alone = (min(column) for column in zip(*times, strict=True))  # a busy machine only adds time
    row("unchanged, one language, without verification", alone)
    row("  the same with it", unchanged, alone, "of that")


def generated(bench: Bench, count: int) -> None:
    """Many small pages without a device."""
    source = bench.folder / "generated"
    source.mkdir()
    (source / "index.md").write_text("---\nlivedoctest: none\n---\n\n# Pages\n\n```{toctree}\n:glob:\n\np*\n```\n")
    block = "\n```{{doctest}}\n>>> x = {0}\n>>> x + 1\n{1}\n```\n"
    for page in range(count):
        blocks = "".join(block.format(page + number, page + number + 1) for number in range(BLOCKS))
        (source / f"p{page:04}.md").write_text(f"# Page {page}\n{blocks}")
    seconds, memory = {}, {}
    for name in ("livedoctest", "plain"):
        conf = bench.folder / f"generated-{name}"
        conf.mkdir()
        (conf / "conf.py").write_text(GENERATED_CONF.format(extension=name))
        started = time.perf_counter()
        memory[name] = bench.build(conf, source=source)
        seconds[name] = time.perf_counter() - started
    code = bench.folder / "generated.json"
    code.write_text(json.dumps(code_of(bench.folder / "generated-livedoctest")))
    warm = timed(lambda: peers.warm(code, dict(os.environ)))
    beyond = (seconds["livedoctest"] - seconds["plain"] - warm) / count
    row(f"{count} pages of {BLOCKS} blocks without a device", seconds["livedoctest"])
    print(f"  a page, beyond Sphinx and the code alone: {1000 * beyond:.1f} ms")
    print(f"  memory: {memory['livedoctest']:.0f} MiB, Sphinx alone {memory['plain']:.0f} MiB")


def row(what: str, seconds: float, reference: float | None = None, of: str = "L") -> None:
    """One line of the table."""
    ratio = f"{seconds / reference:8.2f} {of}" if reference else ""
    print(f"{what:<48}{seconds:8.1f} s{ratio}", flush=True)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peers", action="store_true", help="also MyST-NB and a process per block, on a sample")
    parser.add_argument("--generated", type=int, default=1000, help="how many small pages to generate")
    parser.add_argument("docnames", nargs="*")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(Path(folder), [f"{name}.md" for name in options.docnames])
        generated(bench, options.generated)
        guide(bench, options.peers)


if __name__ == "__main__":
    main()
