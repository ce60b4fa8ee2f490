"""What one build runs blocks with: the device, the stored results, and the server, which starts as early as it can."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Iterable
from pathlib import Path

from filelock import Timeout
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

from livedoctest.builder import PASSIVE_BUILDERS
from livedoctest.cache import cache_of
from livedoctest.client import Order, Runner
from livedoctest.device import Device, DeviceError, detect, imported
from livedoctest.problems import logger
from livedoctest.settings import Settings
from livedoctest.stock import Stock

_LAST = 900  # among the handlers of an event: others may choose which pages are read


class Workshop:
    """Opened by reading or verifying, closed by verifying or when the build ends."""

    def __init__(self, app: Sphinx) -> None:
        self.settings = Settings.of(app.config)
        self.stock = Stock.of(app.config)
        self.cache = cache_of(app, self.settings)
        self._runner: Runner | None = None
        self._variables = dict(os.environ)

    def is_of(self, app: Sphinx) -> bool:
        """Whether what it was opened with is so still: extensions may have changed it since."""
        now = Settings.of(app.config), Stock.of(app.config), dict(os.environ)
        return now == (self.settings, self.stock, self._variables)

    @functools.cached_property
    def device(self) -> Device:
        """Where blocks run. Raises DeviceError."""
        return detect(self.settings.device)

    def has_stored(self, docnames: Iterable[str]) -> bool:
        """Whether all of these pages have a stored result, maybe of what was edited since."""
        return all(self.cache.path(name).exists() for name in docnames)

    def open_early(self) -> None:
        """Start the server before pages are read, so that its imports take no time of their own.

        Only in one of the builds that share the results: it keeps the others waiting until it has verified.
        """
        try:
            self.cache.lock.acquire(blocking=False)
            if self.device.preload:
                self.runner()
        except (Timeout, DeviceError):
            pass  # another build runs the pages; or verifying will say what is wrong

    def runner(self, codes: Iterable[str] = ()) -> Runner:
        """The server, for pages with these codes, if they are known yet. Raises RunnerError."""
        if self._runner is None:
            self._runner = Runner(self._order(self.device.preload or imported(codes)), logger.info)
        return self._runner

    def _order(self, preload: Iterable[str]) -> Order:
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])
        return Order(
            # console blocks find the same Python
            env={**self.device.environment, **self.stock.environment, "PATH": path},
            preload=list(preload),
            parallel=os.cpu_count() or 1,
            cards=list(self.device.cards),
            probe=self.device.probe,
        )

    def close(self) -> None:
        """End the server, and let other builds have the stored results."""
        if self._runner is not None:
            self._runner.close()
            self._runner = None
        self.cache.lock.release(force=True)


def workshop_of(app: Sphinx) -> Workshop:
    """The workshop of a build, opened if it is not yet."""
    if not hasattr(app, "livedoctest_workshop"):
        app.livedoctest_workshop = Workshop(app)  # type: ignore[attr-defined]
    workshop: Workshop = app.livedoctest_workshop  # type: ignore[attr-defined]
    return workshop


def begin(app: Sphinx, env: BuildEnvironment, docnames: list[str]) -> None:
    """Before pages are read."""
    if app.builder.name in PASSIVE_BUILDERS:
        return
    if not workshop_of(app).is_of(app):
        end(app, None)
    if not workshop_of(app).has_stored(docnames):  # else an edit may be of prose only
        workshop_of(app).open_early()


def end(app: Sphinx, error: Exception | None) -> None:
    """When the build is over; after a fault while reading, blocks were never verified."""
    if hasattr(app, "livedoctest_workshop"):
        workshop_of(app).close()
        del app.livedoctest_workshop


def setup_workshop(app: Sphinx) -> None:
    """Open the workshop early, and close it in any case."""
    app.connect("env-before-read-docs", begin, _LAST)
    app.connect("build-finished", end)
