"""From the doctree of a page to its blocks."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from docutils import nodes
from myst_parser.parsers.sphinx_ import MystParser
from sphinx.environment import BuildEnvironment
from sphinx.util import get_filetype

from livedoctest import inclusion, prompts, scan, suspect
from livedoctest.block import Block, Finding, Output, Page, Unit
from livedoctest.declaration import unused_files
from livedoctest.directives import MARK
from livedoctest.options import (
    BadBlockError,
    check_arrived,
    file_name,
    groups_of,
    moves_of,
    requirements,
    seconds,
    skip_expression,
)
from livedoctest.places import Places
from livedoctest.stock import Stock

BLOCK = "livedoctest_block"  # attribute of a node: docname and ordinal of its block (some builders join pages)
ROLE = "livedoctest_role"  # program, output, warning, or another part of a file that is a program above
MODULES = (*scan.PROGRAMS, ".pyi", ".pyx", ".so", ".pyd")  # files that blocks come from and no parser of pages reads
ALTERNATIVE = "livedoctest_alternative"  # index of an output that applies under a condition


class Collector:
    """Reads one page. `page` holds the blocks, in order, and what is wrong with it."""

    def __init__(self, doctree: nodes.document, docname: str, env: BuildEnvironment):
        self.doctree, self.srcdir = doctree, env.srcdir
        self.docpath = Path(env.doc2path(docname))
        self.markdown = get_filetype(env.config.source_suffix, str(self.docpath)) in MystParser.supported
        self.page = Page(docname, self.relative(self.docpath))
        self.places = Places(doctree, self.docpath, getattr(env, "livedoctest_drafts", {}))
        self.shown: dict[str, nodes.Element] = {}  # by file, the node of its block
        self.language = str(env.config.highlight_language)
        self.stock = Stock.of(env.config)
        self.page.findings += inclusion.findings(env)
        self.whole = inclusion.whole_files(env)

    def collect(self) -> Page:
        """Make the blocks, and note what cannot run."""
        for bare in self.doctree.findall(nodes.doctest_block):
            self.mark(bare)
        for literal in self.doctree.findall(nodes.literal_block):
            self.mark_file(literal)
        written = [node for node in self.doctree.findall(nodes.Element) if MARK in node]
        for node in written:
            try:
                self.take(node)
            except (BadBlockError, prompts.PromptError) as error:
                path, line = self.places.of(node)
                problem = error.problem if isinstance(error, BadBlockError) else "SYNTAX"
                self.page.findings.append(Finding(problem, self.relative(path), line + error.line, str(error)))
        for path in self.files():
            for line, words in scan.misspelt(self.places.text(path)):
                self.page.findings.append(Finding("UNVERIFIED", self.relative(path), line, words))
        for path in {self.docpath, *self.whole} if self.markdown else ():
            taken = {line for found, line in map(self.places.of, written) if found == path}
            for line, words in scan.dropped(self.places.text(path), taken, self.doctree):
                self.page.findings.append(Finding("UNVERIFIED", self.relative(path), line, words))
        for each in suspect.suspects(self.doctree, self.language, self.indented):
            path, line = self.place_of(each.node)
            if each.text:  # its node may have no line, or another
                line = self.places.locator(path).literal_line(each.text, line)
            found = Finding("UNVERIFIED", self.relative(path), line, each.words)
            if (found.source, found.line) not in [(other.source, other.line) for other in self.page.findings]:
                self.page.findings.append(found)
        self.page.findings += unused_files(self.page)
        return self.page

    def files(self) -> list[Path]:
        """The files that parsers read as the page: its own, and those that it includes."""
        literals = self.doctree.findall(nodes.literal_block)
        shown = {path.resolve() for each in literals if (path := suspect.file_shown(each, self.docpath))}
        included = map(Path, self.doctree.settings.record_dependencies.list)
        read = {path.resolve(): path for path in (*included, *self.places.locators, self.docpath)}
        return [path for real, path in read.items() if real not in shown and path.suffix not in MODULES]

    def place_of(self, node: nodes.Element) -> tuple[Path, int]:
        """The file and line of a node; of text from another file, where a directive shows it, else where it stands."""
        path, line = suspect.place_of(node, self.docpath)
        shown = suspect.file_shown(node, self.docpath) if isinstance(node, nodes.literal_block) else None
        if shown is None or self.places.locator(path).includes(line):
            return path, line
        return shown, self.places.locator(shown).literal_line(node.astext().strip("\n"), line)

    def indented(self, block: nodes.literal_block) -> bool:
        """Whether a block of Markdown has no fence: MyST says `none` of it, and names the line of its text."""
        if block.get("language") != "none" or not block.astext().strip():
            return False
        path, line = self.place_of(block)
        return self.places.locator(path).starts(block.astext(), line)

    def mark(self, bare: nodes.doctest_block) -> None:
        """Make a block of a bare `>>>` of reStructuredText, unless the project leaves those out."""
        if self.stock.bare_group:
            said = {"kind": "doctest", "text": bare.astext(), "argument": self.stock.bare_group}
            bare[MARK] = {**said, "options": {}, "unknown": [], "known": []}

    def mark_file(self, literal: nodes.literal_block) -> None:
        """Make a file block of a program that the page shows, all or a part of it, from a file of its own."""
        path = suspect.file_shown(literal, self.docpath)
        program = path and path.suffix in scan.PROGRAMS and path.is_file()
        if path and program and suspect.looks_executable(literal) and MARK not in literal:
            self.places.known[literal] = place = self.place_of(literal)
            try:
                text = path.read_text(encoding="utf-8-sig").removesuffix("\n")
            except UnicodeDecodeError:
                words = f"{path.name} is no text in UTF-8, so no block can run it: save the file in that encoding."
                self.page.findings.append(Finding("UNVERIFIED", self.relative(place[0]), place[1], words))
                return
            said = {"kind": "testfile", "text": text, "argument": path.name, "file": str(path)}
            literal[MARK] = {**said, "options": {}, "unknown": [], "known": []}
            literal["translatable"] = False

    def relative(self, path: Path) -> str:
        """The path as reports name it: relative to the source folder; a name that stands for none as it is."""
        if path.name.startswith(("<", "docstring of ")):  # as Sphinx calls what is in conf.py, or in no file
            return path.name
        return Path(os.path.relpath(path, self.srcdir)).as_posix()

    def take(self, node: nodes.Element) -> None:
        """Make a block of a node, or add what it says to the block above."""
        written: dict[str, Any] = node[MARK]
        if written["unknown"]:
            allowed = ", ".join(written["known"])
            raise BadBlockError(
                "UNKNOWN_OPTION",
                f"{written['kind']} has no option {', '.join(map(repr, written['unknown']))}; it knows {allowed}.",
            )
        path, line = self.places.of(node)
        check_arrived(self.places.locator(path).options_above(line, written["kind"]), written["options"])
        if written["kind"] == "testoutput":
            self.attach_output(node, written)
        elif written["kind"] == "testwarning":
            self.attach_warnings(node, written)
        elif shown := self.shown.get(written.get("file", "")):
            node[BLOCK], node[ROLE] = shown[BLOCK], "part"
        else:
            self.add_block(node, written)

    def flags(self, options: dict[str, str]) -> frozenset[str]:
        """The flags of a block: those of the project, and its own."""
        return prompts.with_flags(frozenset(self.stock.flags), prompts.flags_of(options.get("options") or ""))

    def add_block(self, node: nodes.Element, written: dict[str, Any]) -> None:
        """A block that runs."""
        kind, options = written["kind"], written["options"]
        path, line = self.places.of(node)
        if not written["text"].strip():
            hint = "" if self.markdown else " In reStructuredText its text needs a blank line above it."
            raise BadBlockError("SYNTAX", f"This {kind} block is empty.{hint}")
        block = Block(
            kind=kind,
            source=self.relative(path),
            line=line,
            code=written["text"],
            groups=groups_of(written),
            ordinal=len(self.page.blocks),
            requires=requirements(options),
            skipif=skip_expression(options.get("skipif", "")),
            norun=options.get("norun", ""),
            timeout=seconds(options.get("timeout")),
            moves=moves_of(options.get("moves")),
        )
        block.units = units_of(block, written, self.flags(options))
        node[BLOCK], node[ROLE] = (self.page.docname, block.ordinal), "program"
        self.page.blocks.append(block)
        if "file" in written:
            self.shown[written["file"]] = node

    def attach_output(self, node: nodes.Element, written: dict[str, Any]) -> None:
        """Expected output belongs to the last testcode block of its group."""
        groups = groups_of(written)
        for block in reversed(self.page.blocks):
            if block.kind == "testcode" and (set(groups) & set(block.groups) or "*" in (*groups, *block.groups)):
                break
        else:
            raise BadBlockError("ORPHAN", "This testoutput has no testcode above it.")
        output, unit = self.output(node, written), block.units[0]
        conditional = bool(output.requires or output.skipif)
        if unit.expected_line or (block.outputs and not conditional):
            words = "The testcode above has its testoutput already; of several each needs `requires` or `skipif`."
            raise BadBlockError("DUPLICATE", words)
        if conditional:
            node[ALTERNATIVE] = len(block.outputs)
            block.outputs.append(output)
        else:
            unit.expected, unit.expected_line, unit.flags = output.text, output.line, output.flags
        node[BLOCK], node[ROLE] = (self.page.docname, block.ordinal), "output"

    def output(self, node: nodes.Element, written: dict[str, Any]) -> Output:
        """The expected output that a testoutput says."""
        options = written["options"]
        return Output(
            text=written["text"] + "\n",
            line=self.places.of(node)[1],
            flags=self.flags(options),
            requires=requirements(options),
            skipif=skip_expression(options.get("skipif", "")),
        )

    def attach_warnings(self, node: nodes.Element, written: dict[str, Any]) -> None:
        """Expected warnings belong to the block right above."""
        if not self.page.blocks:
            raise BadBlockError("ORPHAN", "This testwarning has no block above it.")
        block = self.page.blocks[-1]
        if block.warnings_line:
            raise BadBlockError("DUPLICATE", "The block above has its testwarning already: one holds all warnings.")
        block.warnings = written["text"].rstrip().split("\n") if written["text"].strip() else []
        block.warnings_line = self.places.of(node)[1]
        node[BLOCK], node[ROLE] = (self.page.docname, block.ordinal), "warning"


def units_of(block: Block, written: dict[str, Any], flags: frozenset[str]) -> list[Unit]:
    """The units of a block, by its kind."""
    if block.kind == "doctest":
        return prompts.examples(block.code, block.line, flags)
    if block.kind == "testconsole":
        return prompts.commands(block.code, block.line, flags)
    if block.kind == "testfile":
        return [Unit("file", block.code + "\n", block.line, name=file_name(written["argument"]))]
    return [Unit("exec", block.code + "\n", block.line, flags=flags)]
