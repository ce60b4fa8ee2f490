"""Sphinx as the command line runs it: it writes nothing, and the server starts before the extensions are loaded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.errors import SphinxError
from sphinx.util.docutils import docutils_namespace, patch_docutils

from livedoctest import workshop
from livedoctest.settings import check, setup_settings
from livedoctest.temporary import temporary_folder

EXTENSION = "livedoctest"


class NoExtensionError(SphinxError):
    """The project does not use the extension."""

    category = "Configuration error"

    def __init__(self, folder: Path) -> None:
        super().__init__(f"conf.py in {folder} does not name {EXTENSION} among its extensions")


class Application(Sphinx):
    """Sphinx that starts the server once conf.py is read: loading extensions then takes no time of its own.

    Args:
        names: What to verify, as the user names it.
        arguments: Those of Sphinx.
    """

    def __init__(self, names: Sequence[str], **arguments: Any) -> None:
        self._names = list(names)
        self._begun = False
        try:
            super().__init__(**arguments)
        except BaseException:
            workshop.end(self, None)
            raise

    def setup_extension(self, extname: str) -> None:
        """Load an extension; the first call is the first that finds the configuration."""
        if not self._begun and EXTENSION in self.config.extensions:
            self._begun = True
            self.setup_extension("sphinx.ext.doctest")
            setup_settings(self)
            check(self, self.config)
            made = workshop.workshop_of(self)
            if not self._names or not made.has_stored(self._names):
                made.open_early()
        super().setup_extension(extname)


@contextmanager
def application(
    source: Path, configuration: Path, names: Sequence[str], overrides: dict[str, Any], warning: Any
) -> Iterator[Application]:
    """Sphinx for a project, with the builder of this extension; what it writes vanishes.

    Args:
        source: Folder of the pages.
        configuration: Folder of `conf.py`.
        names: The pages to verify, or their files; none stands for all.
        overrides: Configuration values that go before those of `conf.py`.
        warning: Takes warnings, among them the failures of blocks.
    """
    with ExitStack() as stack:
        folder = stack.enter_context(temporary_folder())
        stack.enter_context(patch_docutils(configuration))
        stack.enter_context(docutils_namespace())
        options = {**overrides, "livedoctest_report": str(folder / "report.json")}
        app = started(source, configuration, folder, names, options, warning)
        stack.callback(workshop.end, app, None)
        yield app


def started(
    source: Path, configuration: Path, folder: Path, names: Sequence[str], options: dict[str, Any], warning: Any
) -> Application:
    """The application, with a folder for what it writes. Raises NoExtensionError."""
    try:
        app = Application(
            names,
            srcdir=source,
            confdir=configuration,
            outdir=folder / "out",
            doctreedir=folder / "doctrees",
            buildername="doctest",
            confoverrides=options,
            status=None,
            warning=warning,
            freshenv=True,
        )
    except SphinxError as error:
        if "Builder name doctest" in str(error):
            raise NoExtensionError(configuration) from None
        raise
    if EXTENSION not in app.extensions:  # but sphinx.ext.doctest, whose builder has the same name
        raise NoExtensionError(configuration)
    return app
