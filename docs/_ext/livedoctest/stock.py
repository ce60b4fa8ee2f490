"""What conf.py says to sphinx.ext.doctest, whose pages run here unchanged."""

from __future__ import annotations

import os
from dataclasses import dataclass

from sphinx.config import Config

from livedoctest.block import Block, Unit

GLOBAL = -1  # the ordinal of a block that stands on no page


@dataclass(frozen=True)
class Stock:
    """Its options: code that runs before and after the blocks of each group, and folders to import from."""

    setup: str = ""
    cleanup: str = ""
    path: tuple[str, ...] = ()

    @classmethod
    def of(cls, config: Config) -> Stock:
        """The options that a Sphinx configuration holds."""
        return cls(config.doctest_global_setup, config.doctest_global_cleanup, tuple(map(str, config.doctest_path)))

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


def global_block(name: str, code: str) -> list[Block]:
    """A block of the code in the configuration value `name`, if there is some."""
    if not code.strip():
        return []
    return [Block("testsetup", name, 1, code, [Unit("exec", code + "\n", 1)], ordinal=GLOBAL)]
