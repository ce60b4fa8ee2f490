"""Generated pages: what is accepted verifies, changes nothing but outputs, and is not changed by accepting again."""

from __future__ import annotations

import contextlib
import io
import re
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from livedoctest.__main__ import main
from livedoctest.client import Runner

CONF = """extensions = ["myst_parser", "livedoctest"]
myst_enable_extensions = ["colon_fence"]
livedoctest_device = "none"
"""
PIECES = [
    *["", "a", "x = 1", "12", "0.5", "tensor([1., 2.])", " indented", "        far in", "trailing  ", "-", "---", ":"],
    *[
        ":x: y",
        ":::",
        "::::{note}",
        "```",
        "````",
        "``````python",
        "~~~",
        "- ```",
        "1. ~~~~",
        ">",
        "> ```",
        ">>",
        "...",
    ],
    *[
        "a ... b",
        "....",
        ".. note::",
        "# x",
        "中文，🙂 e\u0301",
        "$ ls",
        "[status 3]",
        "<b>",
        "{testoutput}",
        "\\",
        "|",
    ],
    *["```{doctest}", "x" * 3000],
]
HARD = [
    ">>> x",
    ">>>",
    "... x",
    "<BLANKLINE>",
    "Traceback (most recent call last):",
    "\u2028b",
    "\x0c",
    "\t",
    "\xa0",
    "\r",
]
MARKS = ["```", "~~~", ":::", "`````"]
NESTINGS = [
    "",
    "",
    "- item\n\n  ",
    "1. a\n\n   - b\n\n     ",
    "> ",
    "> - c\n>\n>   ",
    ":::{note}\n",
    "````{tip}\n",
    ":::::{note}\n- d\n\n  ",
]


class Written:
    """A page in the making: its text, a pattern of what may become of it, and what its blocks print."""

    def __init__(self) -> None:
        self.text = self.pattern = ""
        self.outputs: list[tuple[str, str]] = []

    def __repr__(self) -> str:
        return f"<page of {len(self.outputs)} outputs>"  # a failure shows the page that matters

    def fixed(self, text: str) -> None:
        self.text += text
        self.pattern += "(?:[`:~]{3,})".join(map(re.escape, re.split(r"[`:~]{3,}", text)))

    def free(self, text: str) -> None:
        self.text += text
        self.pattern += "(?:.*\n)*?" if text.endswith("\n") or not text else ".*"


def printing(output: str) -> str:
    return f"print({output.encode('unicode_escape').decode('ascii')!r}.encode().decode('unicode_escape'), end='')"


@st.composite
def block(draw: Any, page: Written, outputs: Any) -> None:
    """Add a block of one kind, somewhere deep, with the output of an earlier time."""
    opening = draw(st.sampled_from(NESTINGS))
    *head, prefix = opening.split("\n") if opening else [""]
    page.fixed("".join(f"{row}\n" for row in head))
    around = re.findall(r"^([`:]{3,})\{", opening)
    marks = draw(st.sampled_from([each for each in MARKS if not any(each.startswith(outer) for outer in around)]))
    kind = draw(st.sampled_from(["doctest", "testcode", "testcode alone"]))

    def rows(text: str, write: Any) -> None:
        for row in text.split("\n")[:-1]:
            write((prefix + row).rstrip(" ") + "\n")

    old = draw(st.sampled_from(["", "", "a\n", "old\n", "12\n", "a\n<BLANKLINE>\nb\n", "...\n"]))
    rows(f"{marks}{{{kind.split()[0]}}}\n", page.fixed)
    for _ in range(draw(st.integers(1, 3)) if kind == "doctest" else 1):
        output = draw(outputs)
        page.outputs.append((kind, output))
        rows(f"{'>>> ' if kind == 'doctest' else ''}{printing(output)}\n", page.fixed)
        if kind == "doctest":
            rows("" if old.startswith("...") else old, page.free)
            page.free("")
    rows(f"{marks}\n", page.fixed)
    if kind == "testcode":
        rows("\n", page.free)
        rows(f"{marks}{{testoutput}}\n{old or 'gone'}{'' if old else chr(10)}{marks}\n", page.free)
    page.free("")
    for fence in around:
        page.fixed(f"{fence}\n")
    if draw(st.integers(0, 5)):
        page.fixed("\nText between.\n\n")
    else:
        page.fixed("\n")


@st.composite
def pages(draw: Any) -> Written:
    pieces = [*PIECES, *HARD] if draw(st.integers(0, 3)) == 0 else PIECES
    outputs = st.lists(st.sampled_from(pieces), max_size=4).map(lambda rows: "".join(f"{row}\n" for row in rows))
    page = Written()
    page.fixed("# Title\n\n")
    for _ in range(draw(st.integers(1, 4))):
        draw(block(page, outputs))
    if draw(st.booleans()):
        page.text = page.text.rstrip("\n")
    if draw(st.booleans()):
        page.text = page.text.replace("\n", "\r\n")
    return page


def only_outputs_changed(page: Written, after: str) -> bool:
    """Whether all but outputs, and marks of fences, is as before, with the same line ends."""
    end = "\r\n" if "\r\n" in page.text else "\n"
    rows = after.split(end)
    return (
        "\r" not in "".join(rows)
        and "\n" not in "".join(rows)
        and after.endswith(end) == page.text.endswith(end)
        and bool(re.fullmatch(page.pattern + "\n*", "\n".join(rows).rstrip("\n") + "\n\n"))
    )


def hard(page: Written) -> bool:
    """Whether an output is among those that a page need not be able to show."""
    return any(
        piece in output or (kind == "doctest" and re.match(r"\.\.\.( |$)", output, re.MULTILINE))
        for kind, output in page.outputs
        for piece in HARD
    )


def run_here(_: Runner, jobs: list[dict[str, Any]]) -> Any:
    """In the place of the server: run code that only prints, in this process."""
    for job in jobs:
        for index, each in enumerate(job["blocks"]):
            units = []
            for unit in each["units"]:
                stream = io.StringIO(newline="")
                with contextlib.redirect_stdout(stream):
                    exec(compile(unit["code"], "page", "exec"), {})  # noqa: S102
                units.append({"output": stream.getvalue(), "exception": None, "status": None})
            result = {"units": units, "warnings": [], "log": "", "seconds": 0.0, "moves": None, "fault": None}
            yield {"docname": job["docname"], "block": index, "result": result}
        yield {"docname": job["docname"], "done": True, "seconds": 0.0, "modules": [], "end": None}


def command(*arguments: str) -> tuple[int, str]:
    stream = io.StringIO()
    with contextlib.redirect_stdout(stream), contextlib.redirect_stderr(stream):
        try:
            status = main(arguments)
        except SystemExit as stop:
            raise AssertionError(stream.getvalue()) from stop
    return status, stream.getvalue()


# a run of the engine for many pages at once; made smaller, they would run hundreds of times
@settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck), phases=[Phase.reuse, Phase.generate])
@given(made=st.lists(pages(), min_size=8, max_size=25))
def test_generated_pages(made):
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.delenv("CI", raising=False)
        patch.setattr(Runner, "run", run_here)
        source = Path(folder)
        (source / "conf.py").write_text(CONF)
        names = ["index", *(f"p{number}" for number in range(1, len(made)))]
        files = {name: source / f"{name}.md" for name in names}
        for name, page in zip(names, made, strict=True):
            files[name].write_bytes(page.text.encode())
        _, said = command("accept", folder)
        refused = [name for name in names if f"{name}.md: refused" in said]
        after = {name: files[name].read_bytes() for name in names}
        for name, page in zip(names, made, strict=True):
            if name in refused:
                assert after[name] == page.text.encode()
                assert hard(page), said
            else:
                assert only_outputs_changed(page, after[name].decode()), after[name].decode()
        accepted = [name for name in names if name not in refused]
        if accepted:
            status, log = command("verify", folder, *accepted)
            assert status == 0, log
        command("accept", folder)
        assert {name: files[name].read_bytes() for name in names} == after
