"""What the site of the guide adds to Sphinx and its theme; other projects do not need it."""

from __future__ import annotations

from sphinx.application import Sphinx

from guide import head, search, security


def setup(app: Sphinx) -> dict[str, bool]:
    """Register all parts."""
    search.setup(app)
    head.setup(app)
    security.setup(app)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
