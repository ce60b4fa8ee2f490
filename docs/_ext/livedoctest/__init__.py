"""Run the code blocks of Sphinx pages as doctests while the site builds.

Add `livedoctest` to `extensions`: the blocks of every page run in a process of their own, on the device that is
there, and their output is compared with the page. Nothing is imported here, so that the server, which runs page code,
starts without Sphinx.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sphinx.application import Sphinx

__version__ = "0.1.0"


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the extension: options, directives, collection of blocks, their execution, and the marks on pages."""
    from livedoctest import (
        cache,
        declaration,
        directives,
        downloads,
        execute,
        gallery,
        inclusion,
        overview,
        pages,
        publish,
        reference,
        settings,
        workshop,
    )

    settings.setup_settings(app)
    directives.setup_directives(app)
    gallery.setup_gallery(app)
    declaration.setup_declaration(app)
    inclusion.setup_inclusion(app)
    pages.setup_pages(app)
    workshop.setup_workshop(app)
    execute.setup_execution(app)
    publish.setup_marks(app)
    overview.setup_overview(app)
    downloads.setup_downloads(app)
    reference.setup_reference(app)
    return {
        "version": __version__,
        "env_version": int(
            cache.engine_sources()[:8], 16
        ),  # what an environment holds of ours changes with the sources
        "parallel_read_safe": True,
        "parallel_write_safe": True,
    }
