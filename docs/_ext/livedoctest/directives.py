"""The directives that authors write. Each leaves a node that carries what was written; `collect` makes blocks of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives as convert
from pygments.lexers import find_lexer_class_for_filename
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

MARK = "livedoctest"  # attribute of a node: a dict with what its directive says
LANGUAGES = {
    "doctest": "pycon",
    "testcode": "python",
    "testsetup": "python",
    "testcleanup": "python",
    "testconsole": "console",
}
SHARED = {
    "skipif": convert.unchanged_required,
    "pyversion": convert.unchanged_required,
    "requires": convert.unchanged_required,
    "norun": convert.unchanged_required,
    "timeout": convert.unchanged_required,
    "moves": convert.unchanged_required,
    "hide": convert.flag,
}
OUTPUT = {"options": convert.unchanged, "hide": convert.flag}
TRIM = {"trim-doctest-flags": convert.flag, "no-trim-doctest-flags": convert.flag}


class AnyOption(dict[str, Callable[[str], Any]]):
    """An option table that lets every name through, so that the engine itself refuses the unknown ones.

    Parsers only warn of an unknown option and go on without it, which would run the block in another way than asked.
    """

    def __missing__(self, name: str) -> Callable[[str], Any]:
        return convert.unchanged


class BlockDirective(SphinxDirective):
    """A block of code, or what belongs to the block above it."""

    has_content = True
    optional_arguments = 1
    final_argument_whitespace = True
    option_spec: ClassVar[Any] = AnyOption({"hide": convert.flag})
    known: ClassVar[dict[str, Any]] = {}
    hidden: ClassVar[bool] = False

    def run(self) -> list[nodes.Node]:
        """One literal block, or a comment where the page shows nothing of it."""
        text, kind = "\n".join(self.content), self.name.lower()  # names of directives have no case
        shown = not (self.hidden or "hide" in self.options)
        node: nodes.Element = nodes.literal_block(text, text) if shown else nodes.comment(text, text)
        node["language"] = file_language(self.arguments[0]) if kind == "testfile" else LANGUAGES.get(kind, "none")
        node["translatable"] = False  # code is one for all languages
        node[MARK] = {
            "kind": kind,
            "text": text,
            "argument": self.arguments[0] if self.arguments else "",
            "options": dict(self.options),
            "unknown": sorted(set(self.options) - set(self.known)),
            "known": sorted(self.known),
        }
        self.set_source_info(node)
        return [node, *self.reason()] if shown else [node]

    def reason(self) -> list[nodes.Node]:
        """Why the block is not run, as a paragraph of the page, so that it is translated like one."""
        text = self.options.get("norun")
        if not text:
            return []
        inline, messages = self.state.inline_text(text, self.lineno)
        paragraph = nodes.paragraph(text, "", *inline, classes=["livedoctest-reason"])
        self.set_source_info(paragraph)
        return [paragraph, *messages]


def file_language(name: str) -> str:
    """The language of a file, by its name."""
    lexer = find_lexer_class_for_filename(name)
    return lexer.aliases[0] if lexer and lexer.aliases else "none"


class Doctest(BlockDirective):
    known = {**SHARED, **OUTPUT, **TRIM}


class Testcode(BlockDirective):
    known = {**SHARED, **TRIM}


class Testsetup(BlockDirective):
    known = {name: SHARED[name] for name in ("skipif", "requires", "timeout")}
    hidden = True


class Testconsole(BlockDirective):
    known = {**SHARED, **OUTPUT}


class Testfile(BlockDirective):
    known = {name: SHARED[name] for name in ("skipif", "requires", "norun", "hide")}
    required_arguments = 1
    optional_arguments = 0


class Testoutput(BlockDirective):
    known = {**OUTPUT, **TRIM, **{name: SHARED[name] for name in ("skipif", "pyversion", "requires")}}


class Testwarning(BlockDirective):
    known = {"hide": convert.flag}


DIRECTIVES = {
    "doctest": Doctest,
    "testcode": Testcode,
    "testsetup": Testsetup,
    "testcleanup": Testsetup,
    "testconsole": Testconsole,
    "testfile": Testfile,
    "testoutput": Testoutput,
    "testwarning": Testwarning,
}


def setup_directives(app: Sphinx) -> None:
    """Register the directives, in the place of those of sphinx.ext.doctest, which must not be loaded after them."""
    app.setup_extension("sphinx.ext.doctest")
    for name, directive in DIRECTIVES.items():
        app.add_directive(name, directive, override=True)
