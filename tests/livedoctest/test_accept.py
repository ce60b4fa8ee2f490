"""Accepting, by pairs of pages: before and after; where nothing can be accepted, the reasons in the place of after."""

from __future__ import annotations

from pathlib import Path

import pytest

from livedoctest.__main__ import main

PAIRS = Path(__file__).parent.parent / "rewrite"


def pairs(name: str) -> list[object]:
    return [pytest.param(path, id=path.parent.name) for path in sorted(PAIRS.glob(f"*/{name}"))]


@pytest.fixture(autouse=True)
def _no_ci(monkeypatch):
    monkeypatch.delenv("CI", raising=False)


def project(site, path: Path) -> tuple[Path, str]:
    """A project with the page before; the page's file, and the folder to name."""
    before = next(path.parent.glob("before.*"))
    made = site()
    page = made.source / f"index{before.suffix}"
    page.write_bytes(before.read_bytes())
    return page, str(made.source)


@pytest.mark.parametrize("path", pairs("after.*"))
def test_rewrites_outputs_and_nothing_else(path, site, capsys):
    page, source = project(site, path)
    assert main(["accept", source]) == 0, capsys.readouterr()
    assert page.read_bytes() == path.read_bytes()
    assert main(["verify", source]) == 0, capsys.readouterr()
    capsys.readouterr()
    assert main(["accept", source]) == 0
    assert page.read_bytes() == path.read_bytes()
    assert "Nothing to accept" in capsys.readouterr().out
    assert [each.name for each in page.parent.iterdir() if each.name != "conf.py"] == [page.name]


@pytest.mark.parametrize("path", pairs("refused.txt"))
def test_refuses_with_line_and_reason(path, site, capsys):
    page, source = project(site, path)
    before = page.read_bytes()
    assert main(["accept", source]) == 1
    assert page.read_bytes() == before
    out = capsys.readouterr().out
    assert f"{page.name}: refused, nothing written" in out
    for reason in path.read_text().splitlines():
        assert reason in out
