"""One small page a case. Where a page must fail, the line that must be named carries HERE."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

SAMPLES = Path(__file__).parent.parent / "samples"


def samples(kind: str) -> list[object]:
    return [pytest.param(path, id=path.stem) for path in sorted((SAMPLES / kind).glob("*.md"))]


def marked_line(path: Path) -> int:
    """The 1-based line that carries HERE, or that a comment names where it cannot."""
    if named := re.search(r"<!-- line (\d+) -->", path.read_text()):
        return int(named[1])
    lines = path.read_text().splitlines()
    return next(number for number, line in enumerate(lines, 1) if "HERE" in line)


def faulty_line(path: Path) -> int:
    """The line to mend: that of HERE, or where HERE is the first line of a fence without a check, the fence itself."""
    line = marked_line(path)
    before = path.read_text().splitlines()[line - 2] if "HERE" in path.read_text() else ""
    plain_fence = re.match(r"[\s>]*(`{3,}|~{3,})(?! *\{(doctest|test))", before)
    return line - 1 if plain_fence else line


def warned_lines(log: str) -> list[int]:
    return [int(line) for line in re.findall(r"index\.md:(\d+): WARNING", log)]


@pytest.mark.parametrize("path", samples("passing"))
def test_passes(path, site):
    built = site({"index.md": path.read_bytes().decode()}).build("-W")
    assert built.status == 0, built.log
    totals = built.report["totals"]
    assert totals["failed"] == 0
    assert totals["passed"] or path.stem.startswith("none")


@pytest.mark.parametrize("path", samples("failing"))
def test_fails_at_the_marked_line(path, site):
    built = site({"index.md": path.read_bytes().decode()}).build()
    assert built.status == 1, built.log
    assert warned_lines(built.log) == [marked_line(path)], built.log
    assert built.report["totals"]["failed"] == 1
    assert "livedoctest-mark-failed" in built.html()


@pytest.mark.parametrize("path", samples("faulty"))
def test_stops_the_build_at_the_marked_line(path, site):
    built = site({"index.md": path.read_bytes().decode()}).build()
    assert built.status == 2, built.log
    lines = re.findall(r"index\.md:(\d+): WARNING: .*\[livedoctest\.", built.log)
    assert lines == [str(faulty_line(path))], built.log
    assert not (built.out / "index.html").exists()


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("orphan", "orphan"),
        ("second-output", "duplicate"),
        ("two-outputs-apply", "duplicate"),
        ("two-warnings", "duplicate"),
    ],
)
def test_a_missing_block_and_one_too_many_have_different_names(name, problem, site):
    assert f"[livedoctest.{problem}]" in site(index=(SAMPLES / "faulty" / f"{name}.md").read_text()).build().log
