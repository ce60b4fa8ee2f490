"""What the search finds: codes of errors and names of methods too, and in Chinese any piece of a sentence."""

from __future__ import annotations

import logging
import re

import jieba
from sphinx.application import Sphinx
from sphinx.search.en import SearchEnglish

# Terms of the guide's glossary that jieba does not know: as words of the index they lead to the pages that have them.
TERMS = (
    "锁页内存",
    "内存映射",
    "合并存储",
    "惰性堆叠",
    "批量大小",
    "叶子张量",
    "嵌套键",
    "状态字典",
    "函数式调用",
    "集合通信",
    "点对点通信",
)

# Methods of a tensordict whose names Sphinx takes for words that nobody looks for.
METHODS = {"all", "any", "where"}
LONG_NUMBER = re.compile(r"\d{4,}")
MARK_LONG_NUMBERS = r"""
const markLongNumber = (word) => (/^\d{4,}$/.test(word) ? `${word}_` : word);
"""


def mark_long_number(word: str) -> str:
    """The word as the index has it: Sphinx neither keeps nor seeks one of digits alone, such as codes of errors."""
    return f"{word}_" if LONG_NUMBER.fullmatch(word) else word


class EnglishWords(SearchEnglish):
    """The words of an English page as Sphinx has them, and those that it leaves out although readers look for them."""

    stopwords = SearchEnglish.stopwords - METHODS
    js_splitter_code = (
        MARK_LONG_NUMBERS
        + r"""
function splitQuery(query) {
  return (query.match(/[\p{L}\p{N}_]+/gu) || []).map(markLongNumber);
}
"""
    )

    def split(self, text: str) -> list[str]:
        """The words of `text`, for the index."""
        return list(map(mark_long_number, super().split(text)))


class ChineseWords(SearchEnglish):
    """The words of a Chinese page, with English words as on English pages: whatever occurs there finds it.

    Sphinx's own class cuts the text by context ("锁页/内存") but leaves a query whole, drops characters, and
    names a JavaScript stemmer that does not exist (Sphinx issue 14229). Here the index holds every character and
    every dictionary word that occurs at any place; the query is cut into the longest of those. Each piece is then
    a word of every page that contains the query.
    """

    lang = "zh"  # its `language_name` stays English: Sphinx calls the stemmer by it
    stopwords = EnglishWords.stopwords
    han = re.compile(r"[\u3400-\u9fff]+")
    other = re.compile(r"[^\W\u3400-\u9fff]+")
    js_splitter_code = (
        MARK_LONG_NUMBERS
        + r"""
function splitQuery(query) {
  const { terms, titleterms } = Search._index;
  const known = (word) => Object.hasOwn(terms, word) || Object.hasOwn(titleterms, word);
  const cut = (run) => {
    const words = [];
    for (let start = 0, end; start < run.length; start = end) {
      for (end = run.length; end > start + 1 && !known(run.slice(start, end)); ) end--;
      words.push(run.slice(start, end));
    }
    return words;
  };
  const runs = query.match(/[\u3400-\u9fff]+|(?:(?![\u3400-\u9fff])[\p{L}\p{N}_])+/gu) || [];
  return runs.flatMap((run) => (/^[\u3400-\u9fff]/.test(run) ? cut(run) : [markLongNumber(run)]));
}
"""
    )

    def __init__(self, options: dict[str, str]) -> None:
        super().__init__(options)
        for term in TERMS:  # reads the dictionary, which no other language needs
            jieba.add_word(term)

    def split(self, text: str) -> list[str]:
        """The words of `text`, for the index."""
        runs = self.han.findall(text)
        words = [word for run in runs for word in jieba.cut(run, cut_all=True)]
        return list(map(mark_long_number, self.other.findall(text))) + words + list("".join(runs))


def setup(app: Sphinx) -> None:
    """Register both languages; jieba keeps its cache with this build, where no other user has one."""
    app.doctreedir.mkdir(parents=True, exist_ok=True)
    jieba.dt.tmp_dir = str(app.doctreedir)
    jieba.setLogLevel(logging.WARNING)
    app.add_search_language(EnglishWords)
    app.add_search_language(ChineseWords)
