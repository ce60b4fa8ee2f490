"""Check the translations: `python tests/lint/catalogs.py TEMPLATES CATALOGS`.

TEMPLATES holds the freshly extracted `.pot` files, CATALOGS the `.po` files of one language. Every text of each
page must have a translation with the same markup and the terms of the glossary, and nothing else may be left but
`sphinx.po`, which has words of Sphinx itself.
Prints one line a problem, and exits with status 1 if there is any.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import autocorrect_py
import polib
from markdown_it.token import Token
from myst_parser.config.main import MdParserConfig
from myst_parser.mdit_to_docutils.base import DocutilsRenderer
from myst_parser.parsers.mdit import create_md_parser
from terms import Term, check_terms, read_terms

GLOSSARY = Path(__file__).parents[2] / "docs" / "reference" / "glossary.md"
THEME = Path("sphinx.po")
PARSER = create_md_parser(MdParserConfig(enable_extensions={"attrs_inline", "substitution"}), DocutilsRenderer)
SPOKEN = {"text", "softbreak", "code_inline", "myst_role"}
SCRIPT_ROLE = re.compile(r":[\w-]+:$")  # of reStructuredText, which Markdown takes for text before code
TYPOGRAPHY = {
    "no space between Chinese and Latin": r"[\u4e00-\u9fff][A-Za-z0-9]\w*|[A-Za-z0-9][\u4e00-\u9fff]\w*",
    "half-width punctuation": r"[\u4e00-\u9fff] ?[,;:?!]",
}
QUOTATION = re.compile(r"\S*[\"']\S*")
PLAIN = {"text", "softbreak", "hardbreak", "inline", "paragraph_open", "paragraph_close"}


def main(templates: Path, catalogs: Path) -> int:
    """Print the problems of all catalogs and return the exit status."""
    problems = list(check(templates, catalogs))
    print(*problems, sep="\n")
    print(f"{len(problems)} problems in the catalogs of {catalogs}; `nox -s translate` merges new texts")
    return 1 if problems else 0


def check(templates: Path, catalogs: Path) -> Iterator[str]:
    """Every problem of the catalogs, as `file:line: what is wrong`."""
    texts = {
        path.relative_to(templates).with_suffix(".po"): polib.pofile(str(path)) for path in templates.rglob("*.pot")
    }
    if not texts:
        yield f"{templates}: there are no extracted texts"
    words = catalogs / "reference" / "glossary.po"
    terms = read_terms(GLOSSARY, words) if words.is_file() else []  # a missing catalog is a problem below
    present = {path.relative_to(catalogs) for path in catalogs.rglob("*.po")}
    for name in sorted(texts.keys() - present):
        yield f"{catalogs / name}: this catalog is missing"
    for name in sorted(present - texts.keys() - {THEME}):
        yield f"{catalogs / name}: no page has this name any more"
    for name in sorted(present & (texts.keys() | {THEME})):
        path = catalogs / name
        catalog = polib.pofile(str(path))
        yield from (f"{path}:{entry.linenum}: {problem}" for entry in catalog for problem in check_entry(entry, terms))
        yield from (f"{path}: {problem}" for problem in compare_texts(texts.get(name, catalog), catalog))


def check_entry(entry: polib.POEntry, terms: list[Term]) -> Iterator[str]:
    """What is wrong with one entry."""
    if entry.obsolete:
        yield f"obsolete entry {entry.msgid!r}"
    elif "fuzzy" in entry.flags:
        yield f"fuzzy entry {entry.msgid!r}"
    elif not entry.msgstr.strip():
        yield f"not translated: {entry.msgid!r}"
    else:
        source, translation = Counter(markup(entry.msgid)), Counter(markup(entry.msgstr))
        yield from (f"markup is only in the source: {each}" for each in source - translation)
        yield from (f"markup is only in the translation: {each}" for each in translation - source)
        yield from check_terms(entry.msgid, entry.msgstr, terms)
        yield from (f"{fault} in {match[0]!r}" for fault, match in typography(entry.msgstr))
        advice = autocorrect_py.lint_for(entry.msgstr, "page.md").lines
        yield from (f"autocorrect would write {line.new!r} for {line.old!r}" for line in advice)


def typography(translation: str) -> Iterator[tuple[str, re.Match[str]]]:
    """Where Chinese text is not set as the guide sets it, which its contributing page explains."""
    tokens = [token for token in flatten(PARSER.parse(translation, {})) if token.type in SPOKEN]
    # what code is made of does not matter, but that it stands there does
    prose = "".join("code" if token.type == "code_inline" else SCRIPT_ROLE.sub("", token.content) for token in tokens)
    for fault, pattern in TYPOGRAPHY.items():
        yield from ((fault, match) for match in re.finditer(pattern, prose))
    words = " ".join(token.content for token in tokens if token.type == "text")  # code has quotation marks
    yield from (("half-width quotation mark", match) for match in QUOTATION.finditer(words))


def compare_texts(template: polib.POFile, catalog: polib.POFile) -> Iterator[str]:
    """The texts that page and catalog do not have in common."""
    wanted = {entry.msgid for entry in template}
    found = {entry.msgid for entry in catalog if not entry.obsolete}
    yield from (f"a text of the page is missing: {text!r}" for text in sorted(wanted - found))
    yield from (f"the page has no such text: {text!r}" for text in sorted(found - wanted))


def markup(text: str) -> Iterator[str]:
    """What a Markdown text consists of besides words: code, roles, links, emphasis, lists; also roles of a script."""
    before = ""
    for token in flatten(PARSER.parse(text, {})):
        role_of_script, before = SCRIPT_ROLE.search(before), token.content
        if token.type in PLAIN or token.nesting < 0:
            continue
        if token.type == "myst_role":
            yield f"{{{token.meta['name']}}}`{role_target(token.content)}`"
        elif token.type == "code_inline":
            yield f"`{role_target(token.content) if role_of_script else token.content}`"
        else:
            yield " ".join([token.type, *(str(token.attrs[name]) for name in ("href", "src") if name in token.attrs)])


def role_target(content: str) -> str:
    """Where a role leads: its title may be translated, its target not."""
    return content.rpartition("<")[2].rstrip(">") if content.endswith(">") else content


def flatten(tokens: Iterable[Token]) -> Iterator[Token]:
    """The tokens and those inside them."""
    for token in tokens:
        yield token
        yield from flatten(token.children or ())


if __name__ == "__main__":
    sys.exit(main(*map(Path, sys.argv[1:])))
