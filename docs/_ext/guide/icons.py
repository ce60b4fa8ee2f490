"""The fonts of icons, with the icons that the pages show: a thirtieth of what the theme brings."""

from __future__ import annotations

import io
import logging
import os
import re
from pathlib import Path

from fontTools.subset import Options, Subsetter
from fontTools.ttLib import TTFont

FONT = re.compile(r"url\(([^)]*/fontawesome/[^)]*\.woff2)\)")
logging.getLogger("fontTools.subset").setLevel(logging.WARNING)  # it tells of every step
STRING = re.compile(r'"([^"]*)"')


def cut_fonts(text: str, folder: Path) -> tuple[str, dict[str, bytes]]:
    """The style sheet `text` for `folder` with fonts beside it, and these fonts by their name.

    An icon is a character in a string of the sheet, so the fonts get the characters of all strings.
    """
    characters = "".join(STRING.findall(text))
    fonts: dict[str, bytes] = {}

    def cut(address: re.Match[str]) -> str:
        path = Path(os.path.normpath(folder / address[1]))  # the folder itself need not exist yet
        fonts[path.name] = cut_font(path, characters)
        return f"url({path.name})"

    return FONT.sub(cut, text), fonts


def cut_font(path: Path, characters: str) -> bytes:
    """A font with nothing but `characters`."""
    font = TTFont(path, recalcTimestamp=False)
    subsetter = Subsetter(Options())
    subsetter.populate(text=characters)
    subsetter.subset(font)
    font.flavor = "woff2"
    file = io.BytesIO()
    font.save(file)
    return file.getvalue()
