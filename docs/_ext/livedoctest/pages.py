"""The pages with their blocks, kept in the environment of Sphinx from one build to the next."""

from __future__ import annotations

from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

from livedoctest.block import Page
from livedoctest.collect import Collector
from livedoctest.declaration import check_declaration
from livedoctest.stock import Stock


def read(app: Sphinx, doctree: nodes.document) -> None:
    """Keep the blocks of the page that was just read."""
    env, docname = app.env, app.env.docname
    page = Collector(doctree, docname, env).collect()
    pages_of(env)[docname] = page
    declared = str(env.metadata[docname].get("livedoctest", "")).strip()
    check_declaration(page, declared, Path(env.doc2path(docname)))


def pages_of(env: BuildEnvironment) -> dict[str, Page]:
    """The pages known to the environment, by docname."""
    if not hasattr(env, "livedoctest_pages"):
        env.livedoctest_pages = {}  # type: ignore[attr-defined]
    pages: dict[str, Page] = env.livedoctest_pages  # type: ignore[attr-defined]
    return pages


def purge(app: Sphinx, env: BuildEnvironment, docname: str) -> None:
    """Forget a page that is read anew or gone."""
    pages_of(env).pop(docname, None)


def merge(app: Sphinx, env: BuildEnvironment, docnames: set[str], other: BuildEnvironment) -> None:
    """Take the pages that another reading process collected."""
    pages_of(env).update({name: page for name, page in pages_of(other).items() if name in docnames})


def outdated(app: Sphinx, env: BuildEnvironment, added: set[str], changed: set[str], removed: set[str]) -> list[str]:
    """The pages whose blocks were read with other default flags, or another group for bare doctests."""
    before, stock = getattr(env, "livedoctest_stock", None), Stock.of(app.config)
    env.livedoctest_stock = now = (stock.flags, stock.bare_group)  # type: ignore[attr-defined]
    return [] if before == now else [name for name, page in pages_of(env).items() if page.blocks]


def setup_pages(app: Sphinx) -> None:
    """Collect while reading."""
    app.connect("env-get-outdated", outdated)
    app.connect("doctree-read", read)
    app.connect("env-purge-doc", purge)
    app.connect("env-merge-info", merge)
