"""The terms of the glossary in the translations: where the English text has a term, the Chinese has its word.

The glossary page gives the terms and its catalog their words; `terms.toml` says which other words a sentence may
have, and which forms of an English term count, where the plain ones are not enough.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import polib

VARIANTS = Path(__file__).with_name("terms.toml")
PLAIN = "(?:s|es|d|ed)?"  # the forms that count without being named
GLOSSARY = re.compile(r"^```\{glossary\}$(.*?)^```$", re.DOTALL | re.MULTILINE)
CODE = re.compile(r"\{[\w-]+\}`+[^`]*`+|`+[^`]*`+|\]\([^)]*\)|\{\w+\}")  # API names and slots are not terms


class Term(NamedTuple):
    """A term: its name, its forms in English, and the Chinese words for it, the agreed one first."""

    name: str
    pattern: re.Pattern[str]
    words: tuple[str, ...]


def read_terms(page: Path, catalog: Path, variants: Path = VARIANTS) -> list[Term]:
    """The terms of the glossary `page` with their words in its `catalog`.

    Raises ValueError for a variant of what is no term.
    """
    names = re.findall(r"^\w.*$", "".join(GLOSSARY.findall(page.read_text(encoding="utf-8"))), re.MULTILINE)
    words = {entry.msgid: entry.msgstr for entry in polib.pofile(str(catalog))}
    more = tomllib.loads(variants.read_text(encoding="utf-8"))
    if unknown := more.keys() - set(names):
        raise ValueError(f"{variants}: no term of {page}: {', '.join(sorted(unknown))}")
    terms = [make_term(name, words.get(name, name), more.get(name, {})) for name in names]
    return [term for term in terms if term.name not in term.words]  # names such as NPU are the same in Chinese


def make_term(name: str, translation: str, variant: dict[str, Any]) -> Term:
    """A term from its translation, such as “叶子张量，简称叶子（leaf）”, and its variant."""
    agreed = re.sub("（.*?）", "", translation).split("，简称")
    english = variant.get("english", re.escape(name) + PLAIN)
    pattern = re.compile(rf"(?<![\w-])(?:{english})(?![\w-])", re.IGNORECASE)
    return Term(name, pattern, (*agreed, *variant.get("chinese", [])))


def check_terms(source: str, translation: str, terms: list[Term]) -> Iterator[str]:
    """Which terms of the source are not in the translation."""
    prose = CODE.sub("`…`", source)
    for term in terms:
        if term.pattern.search(prose) and not any(word in translation for word in term.words):
            yield f"the glossary has {term.words[0]!r} for {term.name!r}"
