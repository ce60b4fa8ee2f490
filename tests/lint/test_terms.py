"""The check of the glossary's terms, on a small glossary and on the texts that are in no page's catalog."""

from __future__ import annotations

from pathlib import Path

import polib
import pytest
import terms

ROOT = Path(__file__).parents[2]
PAGE = """# Glossary

Words.

```{glossary}
leaf
  A tensor in a tensordict.

batch size
  The leading dimensions.

NPU
  A processor.
```
"""
CATALOG = """msgid ""
msgstr "Content-Type: text/plain; charset=UTF-8\\n"

msgid "leaf"
msgstr "叶子张量，简称叶子（leaf）"

msgid "batch size"
msgstr "批量大小（batch size）"

msgid "NPU"
msgstr "NPU"
"""
VARIANTS = '[leaf]\nenglish = "leaf|(the|all) leaves"\nchinese = ["树叶"]\n'


@pytest.fixture
def glossary(tmp_path: Path) -> list[terms.Term]:
    """The terms of the small glossary."""
    files = {"page.md": PAGE, "page.po": CATALOG, "variants.toml": VARIANTS}
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return terms.read_terms(*(tmp_path / name for name in files))


@pytest.mark.parametrize(
    ("source", "translation"),
    [
        ("One leaf", "一个叶子"),
        ("All leaves move.", "全部叶子张量一起移动。"),
        ("It leaves the batch alone.", "批次不变。"),  # the verb
        ("The leaf of a tree", "树叶"),  # a variant
        ("A batch\nsize", "批量大小"),
        ("See `leaf` and {td}`leaf <batch size>`.", "见 `leaf`。"),  # code is no term
        ("Sub-leaf", "子项"),  # a longer word is another word
        ("The NPU", "处理器"),  # the same in both languages
    ],
)
def test_the_agreed_word_or_a_variant_passes(glossary: list[terms.Term], source: str, translation: str) -> None:
    assert list(terms.check_terms(source, translation, glossary)) == []


@pytest.mark.parametrize(
    ("source", "translation", "expected"),
    [
        ("A Leaf", "一个节点", "the glossary has '叶子张量' for 'leaf'"),
        ("all leaves", "全部节点", "the glossary has '叶子张量' for 'leaf'"),
        ("Batch sizes", "批大小", "the glossary has '批量大小' for 'batch size'"),
    ],
)
def test_another_word_is_named(glossary: list[terms.Term], source: str, translation: str, expected: str) -> None:
    assert list(terms.check_terms(source, translation, glossary)) == [expected]


def test_a_variant_of_no_term_is_an_error(glossary: list[terms.Term], tmp_path: Path) -> None:
    (tmp_path / "variants.toml").write_text("[loaf]\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"variants\.toml: no term of .*page\.md: loaf"):
        terms.read_terms(*(tmp_path / name for name in ("page.md", "page.po", "variants.toml")))


def test_the_texts_of_the_engine_use_the_terms_of_the_guide() -> None:
    catalog = ROOT / "docs/locale/zh_CN/LC_MESSAGES/reference/glossary.po"
    glossary = terms.read_terms(ROOT / "docs/reference/glossary.md", catalog)
    texts = polib.pofile(str(ROOT / "docs/_ext/livedoctest/locale/zh_CN.po"))
    assert len(texts) > 0
    assert [found for text in texts for found in terms.check_terms(text.msgid, text.msgstr, glossary)] == []
