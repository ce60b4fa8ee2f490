"""What the site of the guide adds to Sphinx and its theme; other projects do not need it.

Its parts are imported when they are set up: conf.py, which asks for the address alone, is then read a tenth of a second
sooner, and so the server of livedoctest starts sooner.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sphinx.application import Sphinx

# Where the site is published, for canonical links and site maps: Read the Docs says it, other hosts set the first one.
ADDRESS = (os.environ.get("GUIDE_ADDRESS") or os.environ.get("READTHEDOCS_CANONICAL_URL") or "").rstrip("/")


def setup(app: Sphinx) -> dict[str, bool | int]:
    """Register all parts."""
    from guide import diagrams, head, search, security, sheets

    search.setup(app)
    head.setup(app)
    diagrams.setup(app)
    security.setup(app)
    sheets.setup(app)
    sources = b"".join(path.read_bytes() for path in sorted(Path(__file__).parent.glob("*.py")))
    return {
        "env_version": int(hashlib.sha256(sources).hexdigest()[:8], 16),  # other sources make other pages
        "parallel_read_safe": True,
        "parallel_write_safe": True,
    }
