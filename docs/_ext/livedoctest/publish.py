"""What readers see of a verification: outputs as printed, a mark at each block, a line at the foot of the page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.writers.html5 import HTML5Translator

from livedoctest import records
from livedoctest.block import Block
from livedoctest.collect import ALTERNATIVE, BLOCK, ROLE
from livedoctest.execute import Verification
from livedoctest.highlight import PROMPTS, transcript
from livedoctest.messages import block_mark, page_foot, record_lines
from livedoctest.outcome import Outcome
from livedoctest.prompts import without_options

_LAST = 900  # among the handlers of an event


class live_program(nodes.literal_block):  # noqa: N801  docutils dispatches on class names
    """A doctest or console block; writers that do not know it write a literal block."""


class live_mark(nodes.General, nodes.Element):  # noqa: N801
    """The mark of a block or the foot of a page: `html` is written as it is, other formats leave it out."""


def publish(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Put the outcome of a page's blocks into its doctree, just before it is written."""
    verification: Verification | None = getattr(app, "livedoctest", None)
    if verification is None:
        return
    last: dict[tuple[str, int], nodes.Element] = {}
    shown: list[nodes.Element] = [*doctree.findall(nodes.literal_block), *doctree.findall(nodes.doctest_block)]
    for node in shown:
        if BLOCK in node and node[ROLE] != "part":
            last[node[BLOCK]] = show(node, *verification.of(*node[BLOCK]))
    for comment in list(doctree.findall(nodes.comment)):
        if BLOCK in comment and verification.of(*comment[BLOCK])[1].failures:  # hidden, but its failure is not
            last.setdefault(comment[BLOCK], comment)
    language = app.config.language
    for place, node in last.items():
        mark = live_mark(html=block_mark(*verification.of(*place), verification.device, language))
        node.parent.insert(node.parent.index(node) + 1, mark)
    for name, end in page_ends(doctree, docname).items():
        if verification.outcomes.get(name):
            foot = page_foot(verification.outcomes[name], verification.device, verification.runs[name], language)
            end.append(live_mark(html=foot + record_lines(records.load(app, name), verification.pages[name], language)))


def page_ends(doctree: nodes.document, docname: str) -> dict[str, nodes.Element]:
    """Where the foot of each page goes; some builders join all pages in the doctree of the first."""
    joined = {start["docname"]: page_end(start) for start in doctree.findall(addnodes.start_of_file)}
    return {docname: page_end(doctree), **joined}


def page_end(doctree: nodes.Element) -> nodes.Element:
    """Where the foot goes: inside the page's outermost section, if it has one."""
    sections = [child for child in doctree.children if isinstance(child, nodes.section)]
    return sections[-1] if sections else doctree


def show(node: nodes.Element, block: Block, outcome: Outcome) -> nodes.Element:
    """Replace a block's node by what is published; returns the new node."""
    role = node[ROLE]
    if "source" in node:  # shown from a file, with options of its own
        node["classes"] += [f"livedoctest-{role}", f"livedoctest-{outcome.status}"]
        return node
    if role == "program" and block.kind in PROMPTS:
        new: nodes.Element = program(block, outcome)
    elif role == "output" and outcome.published and applies(node, block):
        new = literal(outcome.published[0].rstrip("\n"), node)
    else:
        new = literal(without_options(node.astext()) if block.kind == "testcode" else node.astext(), node)
    new["classes"] = [f"livedoctest-{role}", f"livedoctest-{outcome.status}"]
    if block.kind == "testfile":
        name = block.units[0].name
        new = nodes.container("", nodes.caption(name, name), new, classes=["literal-block-wrapper"], literal_block=True)
        new["ids"] = [nodes.make_id(f"file-{name}")]
    node.replace_self(new)
    return new


def applies(node: nodes.Element, block: Block) -> bool:
    """Whether an output is the one that was compared; of several that have conditions only one is."""
    return ALTERNATIVE not in node or block.outputs[node[ALTERNATIVE]].applies


def literal(text: str, old: nodes.Element) -> nodes.literal_block:
    """A literal block like `old` with another text."""
    return nodes.literal_block(text, text, language=old.get("language", "none"), translatable=False)


def program(block: Block, outcome: Outcome) -> live_program:
    """A block with prompts: the text for writers that know only literal blocks, the steps for HTML."""
    first, following, _ = PROMPTS[block.kind]
    published = outcome.published + [""] * len(block.units)
    clean = without_options if block.kind == "doctest" else str
    steps = [(clean(unit.code), text) for unit, text in zip(block.units, published, strict=False)]
    rows = []
    for code, output in steps:
        prompts = [first] + [following] * code.count("\n")
        rows += [prompt + line for prompt, line in zip(prompts, code.removesuffix("\n").split("\n"), strict=False)]
        rows += output.rstrip().split("\n") if output else []
    text = "\n".join(rows)
    language = "pycon" if block.kind == "doctest" else "console"
    return live_program(text, text, language=language, kind=block.kind, steps=steps, translatable=False)


def visit_program(translator: HTML5Translator, node: Any) -> None:
    """The same elements as Sphinx writes around highlighted code."""
    classes = " ".join([f"highlight-{node['language']}", "notranslate", *node["classes"]])
    html = transcript(node["kind"], node["steps"])
    translator.body.append(f'<div class="{classes}"><div class="highlight">{html}</div></div>\n')
    raise nodes.SkipNode


def visit_mark(translator: HTML5Translator, node: Any) -> None:
    """Marks are HTML already."""
    translator.body.append(node["html"])
    raise nodes.SkipNode


def leave_out(translator: Any, node: nodes.Element) -> None:
    """Formats without marks."""
    raise nodes.SkipNode


def add_style(app: Sphinx, config: Config) -> None:
    """Let builders copy the style sheet of the marks.

    Said before the configuration is compared with that of the last build, which would else be called another one, and
    after Sphinx has checked the folders.
    """
    config.html_static_path = [*config.html_static_path, str(Path(__file__).parent / "static")]


def setup_marks(app: Sphinx) -> None:
    """Register the nodes, their style, and the handler that puts them into pages."""
    app.connect("config-inited", add_style, _LAST)
    app.add_css_file("livedoctest.css")
    none = (leave_out, None)
    app.add_node(live_mark, html=(visit_mark, None), latex=none, text=none, man=none, texinfo=none)
    app.add_node(live_program, html=(visit_program, None))
    app.connect("doctree-resolved", publish)
