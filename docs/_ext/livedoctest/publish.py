"""What readers see of a verification: outputs as printed, a mark at each block, a line at the foot of the page."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.writers.html5 import HTML5Translator

from livedoctest.block import Block
from livedoctest.collect import BLOCK, ROLE
from livedoctest.execute import Verification
from livedoctest.highlight import PROMPTS, transcript
from livedoctest.messages import block_mark, page_foot
from livedoctest.outcome import Outcome
from livedoctest.prompts import OPTION_COMMENT


class live_program(nodes.literal_block):  # noqa: N801  docutils dispatches on class names
    """A doctest or console block; writers that do not know it write a literal block."""


class live_mark(nodes.General, nodes.Element):  # noqa: N801
    """The mark of a block or the foot of a page: `html` is written as it is, other formats leave it out."""


def publish(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Put the outcome of a page's blocks into its doctree, just before it is written."""
    verification: Verification | None = getattr(app, "livedoctest", None)
    if verification is None or docname not in verification.pages:
        return
    blocks, outcomes = verification.pages[docname].blocks, verification.outcomes[docname]
    last: dict[int, nodes.Element] = {}
    shown: list[nodes.Element] = [*doctree.findall(nodes.literal_block), *doctree.findall(nodes.doctest_block)]
    for node in shown:
        if BLOCK in node:
            last[node[BLOCK]] = show(node, blocks[node[BLOCK]], outcomes[node[BLOCK]])
    for node in list(doctree.findall(nodes.comment)):
        if BLOCK in node and outcomes[node[BLOCK]].failures:  # hidden, but its failure is not
            last.setdefault(node[BLOCK], node)
    language = app.config.language
    for ordinal, node in last.items():
        mark = live_mark(html=block_mark(blocks[ordinal], outcomes[ordinal], verification.device, language))
        node.parent.insert(node.parent.index(node) + 1, mark)
    if blocks:
        foot = page_foot(outcomes, verification.device, verification.runs[docname], language)
        page_end(doctree).append(live_mark(html=foot))


def page_end(doctree: nodes.document) -> nodes.Element:
    """Where the foot goes: inside the page's outermost section, if it has one."""
    sections = [child for child in doctree.children if isinstance(child, nodes.section)]
    return sections[-1] if sections else doctree


def show(node: nodes.Element, block: Block, outcome: Outcome) -> nodes.Element:
    """Replace a block's node by what is published; returns the new node."""
    role = node.get(ROLE)
    if role == "program" and block.kind in PROMPTS:
        new: nodes.Element = program(block, outcome)
    elif role == "output" and outcome.published:
        new = literal(outcome.published[0].rstrip("\n"), node)
    else:
        new = literal(OPTION_COMMENT.sub("", node.astext()) if role == "program" else node.astext(), node)
    new["classes"] = [f"livedoctest-{role}", f"livedoctest-{outcome.status}"]
    if block.kind == "testfile":
        name = block.units[0].name
        new = nodes.container("", nodes.caption(name, name), new, classes=["literal-block-wrapper"], literal_block=True)
        new["ids"] = [nodes.make_id(f"file-{name}")]
    node.replace_self(new)
    return new


def literal(text: str, old: nodes.Element) -> nodes.literal_block:
    """A literal block like `old` with another text."""
    return nodes.literal_block(text, text, language=old.get("language", "none"), translatable=False)


def program(block: Block, outcome: Outcome) -> live_program:
    """A block with prompts: the text for writers that know only literal blocks, the steps for HTML."""
    first, following, _ = PROMPTS[block.kind]
    published = outcome.published + [""] * len(block.units)
    steps = [(OPTION_COMMENT.sub("", unit.code), text) for unit, text in zip(block.units, published, strict=False)]
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


def setup_marks(app: Sphinx) -> None:
    """Register the nodes and the handler that puts them into pages."""
    none = (leave_out, None)
    app.add_node(live_mark, html=(visit_mark, None), latex=none, text=none, man=none, texinfo=none)
    app.add_node(live_program, html=(visit_program, None))
    app.connect("doctree-resolved", publish)
