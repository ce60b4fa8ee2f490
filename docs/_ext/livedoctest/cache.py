"""Results of pages that passed, kept between builds and shared by the languages of a site."""

from __future__ import annotations

import functools
import hashlib
import json
import os
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from filelock import FileLock
from sphinx.application import Sphinx

from livedoctest.block import Page
from livedoctest.device import Device, digest
from livedoctest.outcome import skip_reason
from livedoctest.problems import Problem, warn
from livedoctest.settings import Settings


@dataclass
class Run:
    """One execution of a page: for each block the server's results (none where the block does not run here)."""

    results: list[list[dict[str, Any]]]
    seconds: float
    started: str  # ISO 8601, UTC
    cached: bool = False


@functools.cache
def engine_sources() -> str:
    """Digest of this extension, on which results depend."""
    return digest(Path(__file__).parent)


def page_key(page: Page, device: Device, settings: Settings, confdir: Path) -> str:
    """What the results of a page depend on, as one digest. Prose and line numbers are not in it."""
    blocks = [asdict(block) for block in page.blocks]
    for block in blocks:
        del block["line"], block["warnings_line"]
        for unit in block["units"]:
            del unit["line"], unit["expected_line"]
            unit["flags"] = sorted(unit["flags"])
    parts = {
        "blocks": blocks,
        "device": device.identity,
        "engine": engine_sources(),
        "files": {name: hashlib.sha256(Path(confdir, name).read_bytes()).hexdigest() for name in settings.files},
        "skipped": [skip_reason(block, device) for block in page.blocks],
        "settings": [settings.timeout, list(settings.normalizers)],
    }
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


class Cache:
    """A folder with one file a page. Use it inside `with cache.lock:`, so that only one build executes."""

    def __init__(self, folder: Path):
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self.lock = FileLock(folder / "lock")

    def path(self, docname: str) -> Path:
        """The file of a page."""
        return self.folder / f"{docname}.json"

    def load(self, docname: str, key: str) -> Run | None:
        """The stored run of a page, if it is the one `key` stands for."""
        path = self.path(docname)
        try:
            stored = json.loads(path.read_text(encoding="utf-8"))
            if stored["key"] == key:
                return Run(stored["results"], stored["seconds"], stored["started"], cached=True)
        except FileNotFoundError:
            pass
        except (ValueError, KeyError, TypeError, OSError) as error:
            warn_of_corrupt(path, error)
        return None

    def store(self, docname: str, key: str, run: Run) -> None:
        """Keep a run; the file is whole at any moment."""
        path = self.path(docname)
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", encoding="utf-8", dir=path.parent, delete=False) as file:
            json.dump({"key": key, "results": run.results, "seconds": run.seconds, "started": run.started}, file)
        os.replace(file.name, path)


def warn_of_corrupt(path: Path, error: Exception) -> None:
    """One warning; the page is executed again and its file replaced."""
    warn(Problem.CACHE, str(path), f"This stored result is unreadable ({error}); the page is run again.")


def cache_of(app: Sphinx, settings: Settings) -> Cache:
    """The cache that the configuration names, relative to conf.py; by default beside the doctrees."""
    folder = Path(app.confdir, settings.cache) if settings.cache else Path(app.doctreedir, "livedoctest")
    return Cache(folder)
