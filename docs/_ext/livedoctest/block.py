"""What a page asks to have checked: pages, blocks, and the units of a block that run one after the other."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field


@dataclass
class Unit:
    """A piece of code that runs as one: an example of a doctest, a whole testcode block, a shell command, a file."""

    mode: str  # exec, single, shell, file: see livedoctest.page
    code: str
    line: int  # of its first code line in the source
    expected: str = ""
    expected_line: int = 0  # of the first expected line in the source
    flags: frozenset[str] = frozenset()  # names of doctest option flags
    status: int = 0  # expected exit status of a shell command
    name: str = ""  # of a file


@dataclass
class Output:
    """One of several expected outputs of a testcode block, each of which applies under a condition of its own."""

    text: str
    line: int
    flags: frozenset[str]
    requires: str = ""
    skipif: str = ""
    applies: bool = False  # here and now; `conditions.settle` finds out


@dataclass
class Block:
    """An executable block of a page. Lines are 1-based, in `source`, a path relative to the source folder."""

    kind: str
    source: str
    line: int
    code: str
    units: list[Unit] = field(default_factory=list)
    groups: tuple[str, ...] = ("default",)
    ordinal: int = 0
    requires: str = ""
    skipif: str = ""
    skipped: bool = False  # whether `skipif` holds; `conditions.settle` finds out
    norun: str = ""
    timeout: float | None = None
    moves: dict[str, int] | None = None  # expected counts; None: not counted
    warnings: list[str] = field(default_factory=list)  # expected, as "Category: text"
    warnings_line: int = 0
    outputs: list[Output] = field(default_factory=list)  # the one that applies is also its unit's expected output

    @property
    def id(self) -> str:
        """Hash of the code, and the block's ordinal on its page."""
        return f"{hashlib.sha256(self.code.encode()).hexdigest()[:12]}-{self.ordinal}"


@dataclass
class Finding:
    """A fault found while reading a page: the name of a `Problem`, where, and what to do."""

    problem: str
    source: str
    line: int
    text: str


@dataclass
class Page:
    """All that a page wants checked."""

    docname: str
    source: str
    blocks: list[Block] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
