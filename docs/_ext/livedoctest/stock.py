"""What conf.py says to sphinx.ext.doctest, whose pages run here unchanged."""

from __future__ import annotations

import doctest
import os
from dataclasses import dataclass

from sphinx.config import Config

from livedoctest.block import Block, Unit
from livedoctest.problems import Stop
from livedoctest.prompts import DEFAULT_FLAGS, FLAGS, REPORTING_FLAGS

GLOBAL = -1  # the ordinal of a block that stands on no page
# What it sets without a word of the author. The last would let every message of an exception pass.
UNSET = doctest.ELLIPSIS | doctest.DONT_ACCEPT_TRUE_FOR_1 | doctest.IGNORE_EXCEPTION_DETAIL
TYPES: tuple[tuple[str, tuple[type, ...], str], ...] = (
    ("doctest_global_setup", (str,), "a string of code"),
    ("doctest_global_cleanup", (str,), "a string of code"),
    ("doctest_path", (list, tuple), "a list of folders"),
    ("doctest_test_doctest_blocks", (str, type(None)), "the name of a group"),
)


@dataclass(frozen=True)
class Stock:
    """Its options.

    Attributes:
        setup: Code that runs before the blocks of each group.
        cleanup: Code that runs after them.
        path: Folders to import from.
        flags: Names of the flags that are on in all blocks.
        bare_group: The group of each bare `>>>` in reStructuredText; empty: those are no blocks.
    """

    setup: str = ""
    cleanup: str = ""
    path: tuple[str, ...] = ()
    flags: tuple[str, ...] = tuple(DEFAULT_FLAGS)
    bare_group: str = "default"

    @classmethod
    def of(cls, config: Config) -> Stock:
        """The options that a Sphinx configuration holds. Raises Stop for a value that means nothing here."""
        for name, types, words in TYPES:
            if not isinstance(value := getattr(config, name), types):
                raise Stop(f"{name} = {value!r}: expected {words}")
        return cls(
            config.doctest_global_setup,
            config.doctest_global_cleanup,
            tuple(map(os.path.abspath, config.doctest_path)),  # pages change folders
            flags_in(config.doctest_default_flags),
            config.doctest_test_doctest_blocks or "",
        )

    @property
    def environment(self) -> dict[str, str]:
        """Variables that make Python look into the folders first."""
        return (
            {"PYTHONPATH": os.pathsep.join(filter(None, [*self.path, os.environ.get("PYTHONPATH")]))}
            if self.path
            else {}
        )

    def around(self, blocks: list[Block]) -> list[Block]:
        """The blocks of a group, with the global set-up before and the global clean-up after them."""
        before = global_block("doctest_global_setup", self.setup)
        after = global_block("doctest_global_cleanup", self.cleanup)
        return [*before, *blocks, *after]


def flags_in(value: int) -> tuple[str, ...]:
    """The names of the flags in a value of `doctest_default_flags`. Raises Stop."""
    if value == UNSET:
        return tuple(DEFAULT_FLAGS)
    numbers = doctest.OPTIONFLAGS_BY_NAME
    names = sorted(name for name, number in numbers.items() if isinstance(value, int) and value & number)
    if "SKIP" in names:
        raise Stop("doctest_default_flags: SKIP would leave code unchecked")
    unknown = [name for name in names if name not in FLAGS + REPORTING_FLAGS]
    if unknown or not isinstance(value, int) or value != sum(numbers[name] for name in names):
        said = ", ".join(unknown) or repr(value)
        raise Stop(f"doctest_default_flags: {said} is none of the flags {', '.join(FLAGS)} of doctest, or-ed")
    return tuple(names)


def global_block(name: str, code: str) -> list[Block]:
    """A block of the code in the configuration value `name`, if there is some."""
    if not code.strip():
        return []
    return [Block("testsetup", name, 1, code, [Unit("exec", code + "\n", 1)], ordinal=GLOBAL)]
