"""The overview of a site: the facts of this run, and which page was verified on which device."""

from __future__ import annotations

from collections.abc import Iterator

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util.docutils import SphinxDirective

from livedoctest import records
from livedoctest.execute import Verification
from livedoctest.messages import counts_words, device_label, record_cell, shown_versions, translate
from livedoctest.records import Record
from livedoctest.table import table

AFTER_RUN = 600  # priority: the outcomes are known


class verification_overview(nodes.General, nodes.Element):  # noqa: N801  docutils dispatches on class names
    """Where the overview goes."""


class OverviewDirective(SphinxDirective):
    """`{livedoctest-overview}`: the facts of the run, and without `:facts:` the matrix of pages and devices."""

    option_spec = {"facts": directives.flag}

    def run(self) -> list[nodes.Node]:
        """Only a place: what stands there is known when all blocks have run."""
        overviews(self.env).add(self.env.docname)
        return [verification_overview(matrix="facts" not in self.options)]


def overviews(env: BuildEnvironment) -> set[str]:
    """The pages that show the overview."""
    if not hasattr(env, "livedoctest_overviews"):
        env.livedoctest_overviews = set()  # type: ignore[attr-defined]
    found: set[str] = env.livedoctest_overviews  # type: ignore[attr-defined]
    return found


def purge(app: Sphinx, env: BuildEnvironment, docname: str) -> None:
    """Forget a page that is read anew or gone."""
    overviews(env).discard(docname)


def merge(app: Sphinx, env: BuildEnvironment, docnames: set[str], other: BuildEnvironment) -> None:
    """Take over what another reading process found."""
    overviews(env).update(overviews(other) & docnames)


def changed(app: Sphinx, env: BuildEnvironment) -> list[str]:
    """The pages to be written again because of records, and those with an overview that says something new."""
    verification: Verification | None = getattr(app, "livedoctest", None)
    if verification is None:
        return []
    kept = records.load_all(app, verification.pages)
    found = {name: repr(kept[name]) for name in verification.pages}
    said = repr([list(rows(app, verification, kept)), verification.device.identity])
    now = {(str(app.outdir), name): text for name, text in found.items()}
    now.update({(str(app.outdir), name): said for name in overviews(env) & env.found_docs})
    shown = getattr(env, "livedoctest_records", {})
    env.livedoctest_records = {**shown, **now}  # type: ignore[attr-defined]
    return [name for (_, name), text in now.items() if shown.get((str(app.outdir), name)) != text]


def rows(app: Sphinx, verification: Verification, kept: dict[str, list[Record]]) -> Iterator[tuple[str, list[str]]]:
    """For each page with blocks its cells: this build, then each device that has records."""
    language = app.config.language
    for name in sorted(verification.pages):
        if outcomes := verification.outcomes[name]:
            found = {each.device: each for each in kept[name]}
            cells = [record_cell(found.get(each), verification.pages[name], language) for each in devices(kept)]
            yield name, [counts_words(outcomes, language), *cells]


def devices(kept: dict[str, list[Record]]) -> list[str]:
    """The devices that any page has a record of."""
    return sorted({each.device for found in kept.values() for each in found})


def resolve(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Put the overview into its place."""
    verification: Verification | None = getattr(app, "livedoctest", None)
    for place in list(doctree.findall(verification_overview)):
        parts = [facts, matrix] if place["matrix"] else [facts]
        place.replace_self([part(app, verification, docname) for part in parts] if verification else [])


def facts(app: Sphinx, verification: Verification, docname: str) -> nodes.table:
    """What ran in this build, where and when; and for how many pages there is a record of live hardware."""
    language = app.config.language
    _ = translate(language)
    outcomes = {name: found for name, found in verification.outcomes.items() if found}
    started = min((verification.runs[name].started for name in outcomes), default="")
    recorded = [each.device for found in records.load_all(app, outcomes).values() for each in found]
    counts = [_("{device}: {count}").format(device=name, count=recorded.count(name)) for name in sorted(set(recorded))]
    lines = [
        (_("Code blocks"), counts_words([each for found in outcomes.values() for each in found], language)),
        (_("Pages with code"), str(len(outcomes))),
        (_("Device"), device_label(verification.device, language)),
        *shown_versions(verification.device, language),
        (_("Date"), started[:10]),
        (_("Pages recorded on live hardware"), _(", ").join(counts) or _("none yet")),
    ]
    return table([], [[nodes.Text(name), nodes.Text(value)] for name, value in lines])


def matrix(app: Sphinx, verification: Verification, docname: str) -> nodes.table:
    """Which page was verified in this build, and on which device of the records."""
    _ = translate(app.config.language)
    kept = records.load_all(app, verification.pages)
    recorded = [_("{device}, live hardware").format(device=name) for name in devices(kept)]
    head: list[nodes.Node] = [nodes.Text(text) for text in (_("Page"), _("This build"), *recorded)]
    pages = rows(app, verification, kept)
    return table([head], [[page_link(app, docname, name), *map(nodes.Text, cells)] for name, cells in pages])


def page_link(app: Sphinx, docname: str, name: str) -> nodes.Node:
    """A link to a page, by its title."""
    title = app.env.titles[name].astext()
    uri = app.builder.get_relative_uri(docname, name)
    return nodes.reference(title, title, internal=True, refuri=uri)


def setup_overview(app: Sphinx) -> None:
    """Register the directive and what fills it."""
    app.add_node(verification_overview)
    app.add_directive("livedoctest-overview", OverviewDirective)
    app.connect("env-purge-doc", purge)
    app.connect("env-merge-info", merge)
    app.connect("env-updated", changed, AFTER_RUN)
    app.connect("doctree-resolved", resolve)
