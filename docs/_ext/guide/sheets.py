"""One style sheet a site, with what its pages use: a browser shows nothing before it has every sheet of a page.

At the end of each build all written pages are read, those of earlier builds too, and the sheets that they name are
bundled without the rules that apply to none of them. A page keeps the names, so that a later build bundles anew.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from collections.abc import Iterable
from pathlib import Path

from sphinx.application import Sphinx

from guide import rules

LINK = re.compile(r'<link\b[^>]*\brel="stylesheet"[^>]*>\s*')
OF = re.compile(r'\bdata-sheets="([^"]*)"')
LOCAL = re.compile(r'\bhref="([^":?]*_static/[^"?]*)')
CLASSES = re.compile(r"""\bclass=["']([^"']*)""")
WORD = re.compile(r"[\w-]+")
# Beginnings of words to which scripts add the rest (Bootstrap: `bs-` + "tooltip-auto"); that of icons stands in the
# script that reads icons from pages, and would keep the rules of all two thousand.
BEGINNING = re.compile(r"(?!fa-)\w[\w-]+-")


def bundle_sheets(app: Sphinx, exception: Exception | None) -> None:
    """Make the pages load one sheet in place of those that Sphinx, the theme and extensions named."""
    if exception or app.builder.format != "html":
        return
    outdir = Path(app.outdir)
    static = outdir / "_static"
    pages = {path: path.read_text(encoding="utf-8") for path in outdir.rglob("*.html") if static not in path.parents}
    known = Words(pages.values(), static.rglob("*.js"))
    bundles: dict[tuple[Path, ...], Path] = {}
    for path, html in pages.items():
        sheets = tuple(named_sheets(html, path.parent, outdir))
        if sheets and sheets not in bundles:
            bundles[sheets] = write_bundle(sheets, known, static)
        if sheets:
            name_bundle(path, html, bundles[sheets], sheets, outdir)
    for folder in static.glob("sheet-*"):
        if folder / "all.css" not in bundles.values():
            shutil.rmtree(folder)


class Words:
    """The names of classes that elements of some pages have, or may get from scripts."""

    def __init__(self, pages: Iterable[str], scripts: Iterable[Path]) -> None:
        self.pages = {name for html in pages for names in CLASSES.findall(html) for name in names.split()}
        self.scripts = {word for path in scripts for word in WORD.findall(path.read_text(encoding="utf-8"))}
        self.beginnings = tuple(word for word in self.scripts if BEGINNING.fullmatch(word))

    def have(self, name: str) -> bool:
        """Whether an element may have the class `name`."""
        return name in self.pages or name in self.scripts or name.startswith(self.beginnings)


def named_sheets(html: str, folder: Path, outdir: Path) -> list[Path]:
    """The sheets of the site that a page in `folder` names, also if it loads their bundle already."""
    links = LINK.findall(html)
    if names := OF.search("".join(links)):
        return [outdir / name for name in names[1].split()]
    return [Path(os.path.normpath(folder / found[1])) for link in links if (found := LOCAL.search(link))]


def write_bundle(sheets: Iterable[Path], known: Words, static: Path) -> Path:
    """Write the rules of `sheets` that apply to `known` classes, and the icons that they show, unless it is done."""
    folder = static / f"sheet-{digest(sheets, known, static)}"
    if not folder.is_dir():
        from guide import icons  # a quarter of a second to import, and few builds need it

        text = "\n".join(rules.used_rules(rules.read_rules(path, folder), known.have) for path in sheets)
        text, fonts = icons.cut_fonts(text, folder)
        folder.mkdir()
        for name, font in fonts.items():
            (folder / name).write_bytes(font)
        (folder / "all.css").write_text(f'@charset "UTF-8";\n{text}', encoding="utf-8")
    return folder / "all.css"


def digest(sheets: Iterable[Path], known: Words, static: Path) -> str:
    """What changes with the bundle: the names and texts of sheets, what they may import, the words, and this code."""
    texts = [path for path in sorted(static.rglob("*.css")) if path.name != "all.css"]
    parts = [path.read_bytes() for path in (*texts, *sorted(Path(__file__).parent.glob("*.py")))]
    words = (path.name for path in sheets), sorted(known.pages), sorted(known.scripts)
    return hashlib.sha256(b"".join([*parts, *(" ".join(each).encode() for each in words)])).hexdigest()[:12]


def name_bundle(path: Path, html: str, bundle: Path, sheets: Iterable[Path], outdir: Path) -> None:
    """Put one link to `bundle` in the place of the first link to a sheet, and remove the others."""
    href = os.path.relpath(bundle, path.parent)
    names = " ".join(sheet.relative_to(outdir).as_posix() for sheet in sheets)
    links = [f'<link rel="stylesheet" href="{href}" data-sheets="{names}">\n']

    def replace(link: re.Match[str]) -> str:
        own = LOCAL.search(link[0])
        return link[0] if not own else links.pop() if links else ""

    after = LINK.sub(replace, html)
    if after != html:
        path.write_text(after, encoding="utf-8")


def setup(app: Sphinx) -> None:
    """Connect the function above; behind the theme, which writes its `pygments.css` at the end of a build too."""
    app.connect("build-finished", bundle_sheets, priority=900)
