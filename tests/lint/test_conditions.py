"""What a page shows must run wherever its blocks run: with one NPU, on live hardware and on the simulated NPU.

A block with `:requires:` is left out where that is not met. Blocks that run there nevertheless must not need it.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

DOCS = Path(__file__).parents[2] / "docs"
PAGES = sorted(path for path in DOCS.rglob("*.md") if "_ext" not in path.parts)
SHOWN = re.compile(r"^(`{4,}).*?^\1$", re.DOTALL | re.MULTILINE)  # blocks as an example of how to write them
FENCE = re.compile(r"^```\{(testcode|testsetup|doctest|testconsole)\} *(.*)\n((?:.*\n)*?)```$", re.MULTILINE)
OPTIONS = re.compile(r"(?::[\w-]+:.*\n)*")
SECOND = re.compile(r"npu:[1-9]|set_device\([1-9]|nproc-per-node=[2-9]")  # what needs a second NPU


class Block(NamedTuple):
    """A block: its line, what it requires, and its code."""

    line: int
    requires: frozenset[str]
    code: str


def blocks(text: str) -> Iterator[Block]:
    """The blocks of a page that run, those of its main group."""
    text = SHOWN.sub(lambda shown: "\n" * shown[0].count("\n"), text)
    for match in FENCE.finditer(text):
        kind, group, body = match.groups()
        options = OPTIONS.match(body)
        assert options
        requires = re.search(r"^:requires: *(.*)$", options[0], re.MULTILINE)
        if group or ":norun:" in options[0]:
            continue
        lines = body[options.end() :].splitlines()
        if kind == "doctest":
            lines = [line[4:] for line in lines if line.startswith((">>> ", "... "))]
        line = text.count("\n", 0, match.start()) + 1
        yield Block(line, frozenset(requires[1].split(" and ") if requires else ()), "\n".join(lines))


def names(code: str) -> tuple[set[str], set[str]]:
    """The names that Python code binds, and those that it reads."""
    try:
        tree = ast.parse(code)
    except SyntaxError:  # of a console
        return set(), set()
    bound = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    bound |= {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    bound |= {
        alias.asname or alias.name.partition(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }
    bound |= {node.name for node in ast.walk(tree) if isinstance(node, ast.ExceptHandler) and node.name}
    found = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    bound |= {node.id for node in found if isinstance(node.ctx, ast.Store)}
    return bound, {node.id for node in found if isinstance(node.ctx, ast.Load)}


def missing_names(text: str) -> Iterator[str]:
    """Names that a block reads and that no block gives it where some condition is not met."""
    given: list[tuple[frozenset[str], set[str]]] = []
    for block in blocks(text):
        bound, read = names(block.code)
        there = bound.union(dir(builtins), *(names for requires, names in given if requires <= block.requires))
        yield from (f"line {block.line}: {name}" for name in sorted(read - there))
        given.append((block.requires, bound))


def needless_second_npus(text: str) -> Iterator[str]:
    """Lines of blocks that name a second NPU and do not require it."""
    for block in blocks(text):
        if not block.requires & {"npu>=2", "simulated"}:
            yield from (f"line {block.line}: {line}" for line in block.code.splitlines() if SECOND.search(line))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(DOCS).as_posix())
def test_blocks_need_nothing_that_may_be_left_out(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert [*missing_names(text), *needless_second_npus(text)] == []


def test_scripts_of_the_gallery_need_one_npu() -> None:
    scripts = sorted((DOCS / "_tutorials").glob("*.py"))
    assert scripts
    lines = [line for script in scripts for line in script.read_text(encoding="utf-8").splitlines()]
    assert [line for line in lines if SECOND.search(line)] == []


@pytest.mark.parametrize("code", ["x = 1", "from a import x", "def x(): pass", "with a as x: pass"])
@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("npu>=2", "hardware", ["line 7: a", "line 7: x"]),
        ("npu>=2", "npu>=2 and simulated", ["line 7: a"]),
        ("npu", "npu and npu>=2", ["line 7: a"]),
    ],
)
def test_a_name_from_a_block_that_may_be_left_out_is_found(
    code: str, first: str, second: str, expected: list[str]
) -> None:
    given = f"```{{testcode}}\n:requires: {first}\n\n{code.replace('with a as', 'with open(0) as')}\n```\n\n"
    assert list(missing_names(given + f"```{{testcode}}\n:requires: {second}\n\nprint(x, a)\n```\n")) == expected


def test_a_second_npu_that_is_not_required_is_found() -> None:
    block = '```{testcode}\nx = torch.ones(2, device="npu:1")\n```\n'
    assert list(needless_second_npus(block)) == ['line 1: x = torch.ones(2, device="npu:1")']
    assert list(needless_second_npus(block.replace("{testcode}\n", "{testcode}\n:requires: npu>=2\n"))) == []
