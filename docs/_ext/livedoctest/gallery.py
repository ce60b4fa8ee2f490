"""The scripts of sphinx-gallery: they run here, where their outputs are checked and accepted, and are rendered there.

A script states its outputs in its text, as `.. testoutput::` below the code that gives them. sphinx-gallery makes a
page of it, whose code becomes testcode blocks that stand in the script.
"""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from docutils import nodes
from filelock import FileLock
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

from livedoctest.directives import MARK
from livedoctest.pages import pages_of

BEFORE, AFTER = 400, 600  # priorities: before and after sphinx-gallery generates, and blocks are collected
CODE = re.compile(r"^\.\. code-block:: Python$", re.MULTILINE)
PLACE = re.compile(r"GENERATED FROM PYTHON SOURCE LINES (\d+)-\d+")
OUTPUT = re.compile(r"^\.\. testoutput::.*\n(?:[ \t]+:.*\n)*(?:[ \t]*\n|[ \t]+.*(?:\n|\Z))*", re.MULTILINE)


def folders(app: Sphinx) -> list[tuple[str, str]]:
    """The pairs of scripts' folder and pages' folder that sphinx-gallery is set up for, relative to the pages."""
    conf = getattr(app.config, "sphinx_gallery_conf", {})
    pairs = [conf.get("examples_dirs", ()), conf.get("gallery_dirs", ())]
    lists = [[each] if isinstance(each, str) else list(each) for each in pairs]
    return list(zip(*lists, strict=True))


def script_of(env: BuildEnvironment, docname: str) -> Path | None:
    """The script that a page is made of, if it is one of a gallery."""
    for scripts, pages in folders(env.app):
        script = Path(env.srcdir, scripts, docname.removeprefix(f"{pages}/") + ".py")
        if docname.startswith(f"{pages}/") and script.is_file():
            return script.resolve()
    return None


def docname_of_script(env: BuildEnvironment, path: Path) -> str | None:
    """The page that is made of a script."""
    for scripts, pages in folders(env.app):
        folder = Path(env.srcdir, scripts).resolve()
        if path.suffix == ".py" and path.is_relative_to(folder):
            return f"{pages}/{path.relative_to(folder).with_suffix('').as_posix()}"
    return None


def lock(app: Sphinx) -> None:
    """Let one build at a time generate; the others find its files up to date."""
    for _, pages in folders(app):
        Path(app.srcdir, pages).mkdir(parents=True, exist_ok=True)
    app.livedoctest_locks = [FileLock(Path(app.srcdir, pages, ".lock")) for _, pages in folders(app)]  # type: ignore[attr-defined]
    for each in app.livedoctest_locks:  # type: ignore[attr-defined]
        each.acquire()


def unlock(app: Sphinx) -> None:
    """Tidy what was generated, and let other builds go on."""
    for _, pages in folders(app):
        for path in Path(app.srcdir, pages).rglob("*.ipynb"):
            clean_notebook(path)
        for path in Path(app.srcdir, pages).rglob("*.codeobj.json"):
            path.unlink()  # with it, sphinx-gallery puts nodes of its own, which link names, in the place of our blocks
    for each in app.livedoctest_locks:  # type: ignore[attr-defined]
        each.release()


def clean_notebook(path: Path) -> None:
    """Remove expected outputs from the text of a generated notebook, and from the archive that holds it."""
    from sphinx_gallery.utils import zip_files

    content = json.loads(path.read_text(encoding="utf-8"))
    for cell in content["cells"]:
        if cell["cell_type"] == "markdown":
            cell["source"] = [OUTPUT.sub("", "".join(cell["source"]))]
    content["cells"] = [cell for cell in content["cells"] if "".join(cell["source"]).strip()]
    text = json.dumps(content, ensure_ascii=False, indent=1) + "\n"
    if text != path.read_text(encoding="utf-8"):
        path.write_text(text, encoding="utf-8")
        zip_files([path.with_suffix(".py"), path], path.with_suffix(".zip"), path.parent)


def as_testcode(app: Sphinx, docname: str, content: list[str]) -> None:
    """Make testcode of the code on a generated page; of a draft of the script, if one is being tried out."""
    script = script_of(app.env, docname)
    if script is None:
        return
    if draft := drafts(app.env).get(script):
        content[0] = generated(app, script, docname, draft)
    content[0] = CODE.sub(".. testcode::", content[0])


def generated(app: Sphinx, script: Path, docname: str, draft: str) -> str:
    """The page that sphinx-gallery makes of a draft of a script."""
    from sphinx_gallery.gen_rst import generate_file_rst

    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder, "scripts", script.name), Path(folder, f"{docname}.rst")
        for path in (source, target):
            path.parent.mkdir(parents=True, exist_ok=True)
        source.write_text(draft, encoding="utf-8")
        conf = {**app.config.sphinx_gallery_conf, "src_dir": folder}
        generate_file_rst(script.name, target.parent, source.parent, conf)
        return target.read_text(encoding="utf-8")


def drafts(env: BuildEnvironment) -> dict[Path, str]:
    """The texts that `accept` tries out in the place of files."""
    return getattr(env, "livedoctest_drafts", {})


def place(app: Sphinx, doctree: nodes.document) -> None:
    """Give the blocks of a generated page their places in the script, and take away what says where it is from."""
    script = script_of(app.env, app.env.docname)
    if script is None:
        return
    rows = (drafts(app.env).get(script) or script.read_text(encoding="utf-8")).split("\n")
    at = 0
    for node in list(doctree.findall(nodes.Element)):
        if isinstance(node, nodes.comment) and (match := PLACE.search(node.astext())):
            at = int(match[1]) - 1
            node.parent.remove(node)
        elif MARK in node or isinstance(node, (nodes.literal_block, nodes.doctest_block)):
            text = node.astext().split("\n")
            start = next(places(rows, text, at), at)
            node.source, node.line, at = str(script), start + 1, start + len(text)


def places(rows: list[str], text: list[str], start: int) -> Iterator[int]:
    """Where a text stands in a script from `start` on, as code or in a comment."""
    for at in range(start, len(rows) - len(text) + 1):
        prefix = rows[at].rstrip().removesuffix(text[0].rstrip())
        if not prefix.strip("# ") and all(
            row.rstrip() == (prefix + want).rstrip() for row, want in zip(rows[at:], text, strict=False)
        ):
            yield at


def name_source(app: Sphinx, doctree: nodes.document) -> None:
    """Call a generated page by its script."""
    script = script_of(app.env, app.env.docname)
    if script is not None:
        page: Any = pages_of(app.env)[app.env.docname]
        page.source = Path(os.path.relpath(script, app.srcdir)).as_posix()


def setup_gallery(app: Sphinx) -> None:
    """Take part in what sphinx-gallery does, where it is among the extensions."""
    app.connect("config-inited", connect)


def connect(app: Sphinx, config: Any) -> None:
    """Connect to the events; all extensions are known by now."""
    if "sphinx_gallery.gen_gallery" in app.extensions:
        app.connect("builder-inited", lock, BEFORE)
        app.connect("builder-inited", unlock, AFTER)
        app.connect("source-read", as_testcode)
        app.connect("doctree-read", place, BEFORE)
        app.connect("doctree-read", name_source, AFTER)
