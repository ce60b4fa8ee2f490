"""Code in the raw HTML or LaTeX of a page, into which its parser does not look."""

from __future__ import annotations

import re
import textwrap
from html import unescape

from livedoctest.scan import PROMPT, is_python

PREFORMATTED = re.compile(r"<(pre|xmp|listing|plaintext)\b|^\s*(`{3,}|~{3,})", re.MULTILINE | re.IGNORECASE)
ELEMENT = re.compile(r"<(code|samp|kbd|tt|textarea)\b[^>]*>(.*?)</\1\s*>", re.DOTALL | re.IGNORECASE)
EXAMPLE = re.compile(r"^[ \t]*>>> ", re.MULTILINE)
LISTING = re.compile(r"\\begin\{(verbatim|lstlisting|minted)", re.IGNORECASE)
COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
BREAK, TAG = re.compile(r"<br\b[^>]*>", re.IGNORECASE), re.compile(r"<[/!a-z][^>]*>", re.IGNORECASE)


def latex_shows_code(text: str) -> bool:
    """Whether LaTeX has a listing."""
    return bool(LISTING.search(text))


def html_shows_code(text: str) -> bool:
    """Whether HTML has preformatted text, a prompt, or a program in an element for code."""
    shown = COMMENT.sub("", text)
    return bool(PREFORMATTED.search(shown) or EXAMPLE.search(rendered(shown)) or has_program(shown))


def has_program(html: str) -> bool:
    """Whether an element for code has an example, or several lines that are a program; one line may be a mere word."""
    return any(is_program(rendered(element[2])) for element in ELEMENT.finditer(html))


def is_program(text: str) -> bool:
    """The same of its text."""
    several = "\n" in text.strip()
    return bool(EXAMPLE.search(text)) or (several and (bool(PROMPT.search(text)) or is_python(textwrap.dedent(text))))


def rendered(html: str) -> str:
    """The text that readers see."""
    return unescape(TAG.sub("", BREAK.sub("\n", html)))
