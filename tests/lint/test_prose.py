"""The check of English on small pages."""

from __future__ import annotations

from pathlib import Path

import prose
import pytest


def faults(folder: Path, text: str) -> list[str]:
    """What the check says of a page with `text`; the path is left out."""
    page = folder / "page.md"
    page.write_text(text, encoding="utf-8")
    return [fault.removeprefix(f"{page}:") for fault in prose.check([str(page)])]


@pytest.mark.parametrize(
    "text",
    [
        "# A title of the page\n\nMove the tensordict to the NPU, which takes its leaves with it.\n",
        "Call `tehn()` first.\n\n```{testcode}\nan tensor the the\n```\n",  # code
        "See {td}`lokc` and [the page](https://example.org/lokc).\n",
        "| call | effect |\n| --- | --- |\n| `set` | stores a leaf |\n",
    ],
)
def test_a_good_page_passes(tmp_path: Path, text: str) -> None:
    assert faults(tmp_path, text) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Text.\n\nMove the the batch.\n", "3:6: 'the the': Did you mean to repeat this word?"),
        ("This is an tensor.\n", "1:9: 'an': Incorrect indefinite article."),
        ("Move a tenosr.\n", "1:8: 'tenosr': Did you mean"),
    ],
)
def test_a_fault_is_named_with_its_place(tmp_path: Path, text: str, expected: str) -> None:
    (found,) = faults(tmp_path, text)
    assert found.startswith(expected)


def test_each_fault_is_named_with_its_page(tmp_path: Path) -> None:
    pages = [tmp_path / "b" / "page.md", tmp_path / "a" / "page.md"]
    for page, word in zip(pages, ("tenosr", "leafes"), strict=True):
        page.parent.mkdir()
        page.write_text(f"The {word} page.\n", encoding="utf-8")
    found = list(prose.check([str(page) for page in pages]))
    assert [str(page) in fault for page, fault in zip(pages, found, strict=True)] == [True, True]


def test_the_command_fails_for_a_fault(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "page.md"
    page.write_text("Move a tenosr.\n", encoding="utf-8")
    assert prose.main([str(page)]) == 1
    assert f"{page}:1:8: 'tenosr'" in capsys.readouterr().out


def test_a_missing_page_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"no such page: .*gone\.md"):
        list(prose.check([str(tmp_path / "gone.md")]))


def test_a_rule_that_does_not_exist_is_an_error(tmp_path: Path) -> None:
    settings = tmp_path / "prose.toml"
    settings.write_text('words = []\n[off]\nNoRule = "nothing"\n', encoding="utf-8")
    (tmp_path / "page.md").write_text("A page.\n", encoding="utf-8")
    with pytest.raises(RuntimeError, match=r"prose\.toml: Harper has no rule NoRule"):
        list(prose.check([str(tmp_path / "page.md")], settings))
