"""The catalog checker on small catalogs, each with one fault."""

from __future__ import annotations

from pathlib import Path

import catalogs
import pytest

HEADER = 'msgid ""\nmsgstr "Content-Type: text/plain; charset=UTF-8\\n"\n\n'


def problems(tmp_path: Path, template: str, catalog: str | None) -> list[str]:
    """What the checker says of one page; paths are left out."""
    for folder, suffix, text in (("pot", ".pot", template), ("po", ".po", catalog)):
        (tmp_path / folder).mkdir(exist_ok=True)
        if text is not None:
            (tmp_path / folder / "page").with_suffix(suffix).write_text(HEADER + text, encoding="utf-8")
    return [problem.removeprefix(f"{tmp_path}/po/") for problem in catalogs.check(tmp_path / "pot", tmp_path / "po")]


def entry(source: str, translation: str, comment: str = "") -> str:
    return f'{comment}msgid "{source}"\nmsgstr "{translation}"\n\n'


@pytest.mark.parametrize(
    ("source", "translation"),
    [
        ("Lock it", "锁定"),
        ("Call `set` and `get`.", "先 `get` 再 `set`。"),
        ("See {doc}`the page <lock>`.", "参见 {doc}`锁定 <lock>`。"),
        ("See :doc:`the page <lock>`.", "参见 :doc:`锁定 <lock>`。"),
        ("A [link](https://example.org) and *stress*.", "一个 [链接](https://example.org) 和 *重点*。"),
    ],
)
def test_a_good_translation_passes(tmp_path: Path, source: str, translation: str) -> None:
    assert problems(tmp_path, entry(source, ""), entry(source, translation)) == []


@pytest.mark.parametrize(
    ("source", "translation", "expected"),
    [
        ("Lock", "", "not translated: 'Lock'"),
        ("Call `set`.", "调用 set。", "markup is only in the source: `set`"),
        ("Call set.", "调用 `set`。", "markup is only in the translation: `set`"),
        ("See {doc}`lock`.", "参见锁定。", "markup is only in the source: {doc}`lock`"),
        ("See :doc:`a <lock>`.", "参见 :doc:`甲 <other>`。", "markup is only in the source: `lock`"),
        (
            "[A](https://a.org)",
            "[甲](https://b.org)",
            "markup is only in the source: link_open https://a.org",
        ),
        ("A **note**.", "一个**“说明”**。", "markup is only in the source: strong_open"),
        ("Use the NPU.", "使用NPU。", "no space between Chinese and Latin in '用NPU'"),
        ("The `set` method", "`set`方法", "no space between Chinese and Latin in 'e方法'"),
        ("First, one", "首先, 一", "half-width punctuation in '先,'"),
        ("Say one.", r"说\"一\"。", """half-width quotation mark in '说"一"。'"""),
        ("One", "- 一", "markup is only in the translation: bullet_list_open"),
    ],
)
def test_a_bad_translation_is_named_with_its_line(tmp_path: Path, source: str, translation: str, expected: str) -> None:
    assert f"page.po:4: {expected}" in problems(tmp_path, entry(source, ""), entry(source, translation))


def test_code_may_be_punctuation(tmp_path: Path) -> None:
    assert problems(tmp_path, entry("Text behind `::`", ""), entry("Text behind `::`", "位于 `::` 之后的文字")) == []


def test_a_fuzzy_entry_is_a_problem(tmp_path: Path) -> None:
    found = problems(tmp_path, entry("Lock", ""), entry("Lock", "锁定", comment="#, fuzzy\n"))
    assert found == ["page.po:4: fuzzy entry 'Lock'"]


def test_an_obsolete_entry_is_a_problem(tmp_path: Path) -> None:
    found = problems(tmp_path, entry("Lock", ""), entry("Lock", "锁定") + '#~ msgid "Old"\n#~ msgstr "旧"\n')
    assert found == ["page.po:7: obsolete entry 'Old'"]


def test_page_and_catalog_must_have_the_same_texts(tmp_path: Path) -> None:
    found = problems(tmp_path, entry("New", ""), entry("Old", "旧"))
    assert found == [
        "page.po: a text of the page is missing: 'New'",
        "page.po: the page has no such text: 'Old'",
    ]


def test_a_translation_without_the_word_of_the_glossary_is_a_problem(tmp_path: Path) -> None:
    (tmp_path / "po" / "reference").mkdir(parents=True)
    glossary = HEADER + entry("tensor", "张量（tensor）")
    (tmp_path / "po" / "reference" / "glossary.po").write_text(glossary, encoding="utf-8")
    found = problems(tmp_path, entry("Move a tensor.", ""), entry("Move a tensor.", "移动数组。"))
    assert "page.po:4: the glossary has '张量' for 'tensor'" in found


def test_a_page_without_catalog_is_a_problem(tmp_path: Path) -> None:
    assert problems(tmp_path, entry("Lock", ""), None) == ["page.po: this catalog is missing"]


def test_no_extracted_texts_are_a_problem(tmp_path: Path) -> None:
    assert list(catalogs.check(tmp_path, tmp_path)) == [f"{tmp_path}: there are no extracted texts"]


def test_the_command_prints_the_problems_and_fails(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    problems(tmp_path, entry("Lock", ""), entry("Lock", ""))
    assert catalogs.main(tmp_path / "pot", tmp_path / "po") == 1
    assert "page.po:4: not translated: 'Lock'" in capsys.readouterr().out
