"""Results of pages that passed, kept between builds and shared by the languages of a site."""

from __future__ import annotations

import functools
import hashlib
import json
import os
import re
import sys
import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout
from sphinx.application import Sphinx

from livedoctest.block import Page
from livedoctest.device import Device, digest
from livedoctest.outcome import skip_reason
from livedoctest.problems import Problem, Stop, warn
from livedoctest.settings import Settings
from livedoctest.stock import Stock

SILENT_SECONDS = 2.0
LINES = frozenset(["line", "expected_line", "warnings_line"])
DISTRIBUTIONS = (".dist-info", ".egg-info")  # how the folders of installed ones end


@dataclass
class Run:
    """One execution of a page: for each block the server's results (none where the block does not run here)."""

    results: list[list[dict[str, Any]]]
    seconds: float
    started: str  # ISO 8601, UTC
    cached: bool = False
    modules: set[str] = field(default_factory=set)  # files that it imported, of no installed distribution

    def texts(self) -> Iterator[str]:
        """All that the blocks printed, raised and warned of."""
        for result in (result for results in self.results for result in results):
            for unit in result["units"]:
                yield unit["output"]
                yield unit["exception"]["text"] if unit["exception"] else ""
            yield from (warning["text"] for warning in result["warnings"])


@functools.cache
def engine_sources() -> str:
    """Digest of this extension, on which results depend."""
    return digest(Path(__file__).parent)


def common_key(device: Device, settings: Settings, stock: Stock, confdir: Path) -> str:
    """What the results of all pages depend on, as one digest."""
    parts = {
        "device": device.identity,
        "distributions": distributions(),
        "engine": engine_sources(),
        "files": {name: hashlib.sha256(Path(confdir, name).read_bytes()).hexdigest() for name in settings.files},
        "settings": [settings.timeout, list(settings.normalizers)],
        "stock": {**asdict(stock), "path": [relative(name, confdir) for name in stock.path]},
    }
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def relative(name: str, confdir: Path) -> str:
    """A path as results are stored with it, so that they hold where the project is moved."""
    return Path(os.path.relpath(name, confdir)).as_posix()


def distributions() -> list[str]:
    """The installed distributions with their versions, as the names of their folders tell.

    Which of them a page imports is not known before it runs. importlib.metadata would read each one's file for the same
    answer, at a hundred times the cost.
    """
    folders = (Path(name) for name in sys.path if Path(name).is_dir())
    return sorted({path.name for folder in folders for path in folder.iterdir() if path.suffix in DISTRIBUTIONS})


def page_key(page: Page, device: Device, common: str) -> str:
    """What the results of a page depend on, as one digest. Prose and line numbers are not in it; see `names_places`."""
    skipped = [bool(skip_reason(block, device)) for block in page.blocks]
    parts = {"blocks": page.blocks, "common": common, "skipped": skipped}
    return hashlib.sha256(json.dumps(parts, sort_keys=True, default=_without_lines).encode()).hexdigest()


def _without_lines(value: Any) -> Any:
    """What is in a block, its units and outputs, but for where they stand."""
    if isinstance(value, frozenset):
        return sorted(value)
    parts = {name: part for name, part in vars(value).items() if name not in LINES}
    return {**parts, "norun": bool(parts["norun"])} if "norun" in parts else parts  # the reason is prose


def places_of(page: Page) -> list[list[str | int]]:
    """Where the units stand."""
    return [[block.source, unit.line] for block in page.blocks for unit in block.units]


def names_places(page: Page, run: Run) -> bool:
    """Whether something that the page printed names its file or one of its lines, as a printed traceback does.

    Such results hold only for blocks that stay in their place.
    """
    lines = {
        str(unit.line + row)
        for block in page.blocks
        for unit in block.units
        for row in range(unit.code.count("\n") + 1)
    }
    sources = {re.escape(block.source) for block in page.blocks}
    named = re.compile("|".join([r"\bline (\d+)\b", *sources]))
    found = (match for text in run.texts() for match in named.finditer(text))
    return any(match[1] is None or match[1] in lines for match in found)


class Cache:
    """A folder with one file a page. Use it inside `with cache.alone():`, so that only one build executes.

    Args:
        folder: The folder, which is made if there is none.
        confdir: That of conf.py, from which stored results name the files of modules.
    """

    def __init__(self, folder: Path, confdir: Path):
        self.folder, self.confdir = folder, confdir
        folder.mkdir(parents=True, exist_ok=True)
        self.lock = FileLock(folder / "lock")
        self._digests: dict[str, str] = {}

    def alone(self) -> AbstractContextManager[object]:
        """Wait for the lock, and say so where that takes long: a build may look as if it hung, then."""
        try:
            return self.lock.acquire(SILENT_SECONDS)
        except Timeout:
            words = f"livedoctest: waiting for another build, which runs pages and holds {self.lock.lock_file}"
            print(words, file=sys.stderr, flush=True)  # whatever Sphinx was told to show
            return self.lock.acquire()

    def path(self, docname: str) -> Path:
        """The file of a page."""
        return self.folder / f"{docname}.json"

    def digest(self, name: str) -> str:
        """Of a module's file, as it was when this build asked first: a later change makes the page run again."""
        if name not in self._digests:
            path = Path(self.confdir, name)
            self._digests[name] = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
        return self._digests[name]

    def load(self, page: Page, key: str) -> Run | None:
        """The stored run of a page, if it is the one `key` stands for."""
        path = self.path(page.docname)
        try:
            stored = json.loads(path.read_text(encoding="utf-8"))
            if stored["key"] != key:
                return None
            if stored["checksum"] != checksum(stored):
                raise ValueError("it is not as it was written")
            if stored["places"] not in (None, places_of(page)):
                return None
            if any(self.digest(name) != known for name, known in stored["modules"].items()):
                return None
            return Run(stored["results"], stored["seconds"], stored["started"], cached=True)
        except FileNotFoundError:
            pass
        except (ValueError, KeyError, TypeError, OSError) as error:
            warn(Problem.CACHE, str(path), f"This stored result is unreadable ({error}); the page is run again.")
        return None

    def store(self, page: Page, key: str, run: Run) -> None:
        """Keep a run; the file is whole at any moment."""
        path = self.path(page.docname)
        content = {
            "key": key,
            "modules": {
                name: self.digest(name) for name in sorted(relative(each, self.confdir) for each in run.modules)
            },
            "places": places_of(page) if names_places(page, run) else None,
            "results": run.results,
            "seconds": run.seconds,
            "started": run.started,
        }
        content["checksum"] = checksum(content)
        try:
            write(path, json.dumps(content))
        except OSError as error:
            warn(Problem.CACHE, str(path), f"This result cannot be stored ({error}); the page will be run again.")


def checksum(content: dict[str, Any]) -> str:
    """Digest of what is stored, but for the key, which tells whether it is wanted."""
    parts = [content[name] for name in ("modules", "places", "results", "seconds", "started")]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def write(path: Path, text: str) -> None:
    """Write a file that is whole at any moment; not to the disk at once, since a lost one is only made again."""
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, fresh = tempfile.mkstemp(dir=path.parent)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(fresh, path)
    except BaseException:
        Path(fresh).unlink()
        raise


def cache_of(app: Sphinx, settings: Settings) -> Cache:
    """The cache that the configuration names, relative to conf.py; by default beside the doctrees."""
    folder = Path(app.confdir, settings.cache) if settings.cache else Path(app.doctreedir, "livedoctest")
    try:
        made = Cache(folder, Path(app.confdir))
    except OSError as error:
        raise Stop(f"the folder of stored results {folder} cannot be made: {error.strerror}") from None
    if not os.access(folder, os.W_OK | os.X_OK):
        raise Stop(f"the folder of stored results {folder} cannot be written: name another one by livedoctest_cache")
    return made
