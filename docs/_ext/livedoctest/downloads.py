"""The program of a page to take away: a script and a notebook, both of which run without the page."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import quote

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.osutil import relative_uri

from livedoctest.block import Block
from livedoctest.cells import Cell, Reader
from livedoctest.execute import Verification
from livedoctest.gallery import script_of
from livedoctest.messages import need_words, skip_words, translate
from livedoctest.outcome import Outcome
from livedoctest.program import DISPLAY, Piece
from livedoctest.publish import live_mark

FOLDER = "_downloads"
BUILDERS = ("html", "dirhtml")  # those with a file a page
BEFORE_MARKS = 400  # priority: the blocks are still those that were read
HEADS = {
    DISPLAY: f"from sys import displayhook as {DISPLAY}  # shows a value as Python's prompt does\n",
    "files": "import sys\nfrom pathlib import Path\n\nsys.path.insert(0, str(Path.cwd()))  # where files are written\n",
    "shell": "import subprocess\n",
}
# A page has no file. Processes that are spawned would run a script again from its beginning.
WORKERS = re.compile(r"\b(multiprocessing|mp_start_method|num_workers|ProcessPoolExecutor|map|map_iter)\b")
NO_FILE = 'globals().pop("__file__", None)  # worker processes must not import, and so run, this script\n'


def script(cells: list[Cell]) -> str:
    """A Python script, with marks that editors take for cells."""
    parts = []
    pieces = [piece for cell in cells for piece in cell.pieces]
    workers = NO_FILE if any(WORKERS.search(piece.script) for piece in pieces) else ""
    top = head(pieces) + workers
    for cell in cells:
        if cell.pieces:
            parts += [f"# %%\n{top}"] if top else []
            parts.append("# %%\n" + "".join(piece.script for piece in cell.pieces).lstrip("\n"))
            top = ""
        else:
            rows = (f"# {row}".rstrip() for row in cell.text.split("\n"))
            parts.append("# %% [markdown]\n" + "\n".join(rows) + "\n")
    return "\n".join(parts)


def head(pieces: list[Piece], given: tuple[str, ...] = ()) -> str:
    """What must stand above the code, apart from what is given; `from __future__` first."""
    needs = dict.fromkeys(need for piece in pieces for need in piece.needs if need not in given)
    return "".join(HEADS.get(need, need) for need in sorted(needs, key=HEADS.__contains__))


def notebook(cells: list[Cell]) -> dict[str, Any]:
    """A notebook in the format nbformat 4.5."""
    made = [each for cell in cells for each in notebook_cells(cell)]
    if top := head([piece for cell in cells for piece in cell.pieces], given=(DISPLAY,)):
        first = next(number for number, each in enumerate(made) if each["cell_type"] == "code")
        made.insert(first, code_cell(top))
    for number, each in enumerate(made):
        each["id"] = f"cell-{number}"
    return {
        "cells": made,
        "metadata": {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }


def notebook_cells(cell: Cell) -> Iterator[dict[str, Any]]:
    """The cells of a notebook for one of a page: each shows one value, or raises one exception."""
    if not cell.pieces:
        yield {"cell_type": "markdown", "metadata": {}, "source": cell.text.splitlines(keepends=True)}
    code = ""
    for piece in cell.pieces:
        if piece.raises and code.strip():
            yield code_cell(code)
            code = ""
        code += piece.cell
        if piece.raises or piece.shows:
            yield code_cell(code, piece)
            code = ""
    if code.strip():
        yield code_cell(code)


def code_cell(code: str, last: Piece | None = None) -> dict[str, Any]:
    """A cell with code that has not run."""
    return {
        "cell_type": "code",
        "execution_count": None,
        "metadata": {"tags": ["raises-exception"]} if last and last.raises else {},
        "outputs": [],
        "source": code.strip("\n").splitlines(keepends=True),
    }


def offer(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Write the script and the notebook of a page, and link them below its title."""
    verification: Verification | None = getattr(app, "livedoctest", None)
    title = next(iter(doctree.findall(nodes.title)), None)
    if app.builder.name not in BUILDERS or verification is None or not verification.outcomes.get(docname) or not title:
        return
    if script_of(app.env, docname):  # sphinx-gallery has links of its own
        return
    language = app.config.language
    _ = translate(language)

    def reason(block: Block, outcome: Outcome) -> str:
        return outcome.reason if block.norun else skip_words(outcome.reason, language)

    def needs(block: Block) -> str:
        return _("The next block {needs}.").format(needs=need_words(block.requires, language))

    page, outcomes = verification.pages[docname], verification.outcomes[docname]
    reader = Reader(page, outcomes, _("Not run here: {reason}"), reason, needs)
    cells = reader.cells(doctree)
    files = {".py": script(cells), ".ipynb": json.dumps(notebook(cells), ensure_ascii=False, indent=1) + "\n"}
    for suffix, text in files.items():
        path = Path(app.outdir, FOLDER, docname + suffix)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")
    place = quote(app.builder.get_target_uri(docname), safe="/%")  # `html` quotes it, `dirhtml` does not
    links = {suffix: relative_uri(place, f"{FOLDER}/{quote(docname)}{suffix}") for suffix in files}
    html = (
        f'<p class="livedoctest-downloads">{escape(_("Download the code of this page:"))} '
        f'<a href="{links[".py"]}" download>{escape(_("script"))}</a> · '
        f'<a href="{links[".ipynb"]}" download>{escape(_("notebook"))}</a></p>\n'
    )
    title.parent.insert(title.parent.index(title) + 1, live_mark(html=html))


def setup_downloads(app: Sphinx) -> None:
    """Offer the downloads of a page when it is written."""
    app.connect("doctree-resolved", offer, BEFORE_MARKS)
