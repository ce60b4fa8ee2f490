"""Judging: what counts as the expected output, and where the first difference is."""

from __future__ import annotations

import time

import pytest

from livedoctest.judge import Options, judge, judge_exception

EXACT = Options()
ELLIPSIS = Options(ellipsis=True)
NUMBER = Options(number=True)
BOTH = Options(ellipsis=True, number=True)
SPACE = Options(normalize_whitespace=True)


@pytest.mark.parametrize(
    ("expected", "got"),
    [
        ("a\n", "a\n"),
        ("a", "a\n"),
        ("a\n", "a"),
        ("a  \nb\t\n", "a\nb \n"),
        ("a\n", "a\r\n"),
        ("", ""),
        ("a\n<BLANKLINE>\nb\n", "a\n\nb\n"),
        ("a\n\nb\n", "a\n  \nb\n"),
        ("<BLANKLINE>\n", "\n"),
    ],
)
def test_text_is_as_expected(expected: str, got: str) -> None:
    assert judge(expected, got, EXACT).ok


@pytest.mark.parametrize(
    ("expected", "got", "line"),
    [
        ("a\nb\n", "a\nc\n", 1),
        ("a\nb\n", "a\n", 1),
        ("a\n", "a\nb\n", 0),
        ("", "a\n", 0),
        ("a\n", "", 0),
        ("a\n", "a\n\n", 0),
        ("", "\n", 0),
        ("  a\n", "a\n", 0),
        ("a  b\n", "a b\n", 0),
        ("a\n...\n", "a\nb\n", 1),
        ("1\n", "True\n", 0),
        ("True\n", "1\n", 0),
    ],
)
def test_text_differs(expected: str, got: str, line: int) -> None:
    verdict = judge(expected, got, EXACT)
    assert not verdict.ok
    assert verdict.line == line
    assert verdict.diff


def test_blankline_can_stand_for_itself() -> None:
    literal = Options(dont_accept_blankline=True)
    assert judge("<BLANKLINE>\n", "<BLANKLINE>\n", literal).ok
    assert not judge("<BLANKLINE>\n", "\n", literal).ok


@pytest.mark.parametrize(
    ("expected", "got"),
    [
        ("a...d\n", "abcd\n"),
        ("a...d\n", "ad\n"),
        ("a...d\n", "a\nb\nd\n"),
        ("...b\n", "ab\n"),
        ("...\nb\n", "a\nb\n"),
        ("a\n...\nz\n", "a\nb\nc\nz\n"),
        ("x...y...z\n", "x.y.y.z\n"),
        ("...\n", "a\nb\n"),
    ],
)
def test_ellipsis_stands_for_any_text(expected: str, got: str) -> None:
    assert judge(expected, got, ELLIPSIS).ok


@pytest.mark.parametrize(
    ("expected", "got", "line"),
    [
        ("a...d\n", "abc\n", 0),
        ("ab...bc\n", "abc\n", 0),
        ("a\n...\nz\n", "a\nb\nc\ny\n", 2),
        ("a\n...\nz\nq\n", "a\nb\nz\nr\n", 3),
        ("a\n...\nz\n", "b\nz\n", 0),
        ("a\n...\nz\n", "a\nz\nmore\n", 2),
    ],
)
def test_ellipsis_does_not_stand_for_what_is_missing(expected: str, got: str, line: int) -> None:
    verdict = judge(expected, got, ELLIPSIS)
    assert not verdict.ok
    assert verdict.line == line


@pytest.mark.parametrize(
    ("expected", "got"),
    [
        ("0.123\n", "0.12345\n"),
        ("0.123\n", "0.1225\n"),
        ("1.5e-05\n", "1.5449e-05\n"),
        ("1e-05\n", "1.4e-05\n"),
        ("-0.0000\n", "0.0000\n"),
        ("1.\n", "1.2\n"),
        ("nan\n", "nan\n"),
        ("took 0.5s, 12.3 %\n", "took 0.4500s, 12.31 %\n"),
        ("[0.12, 10.5]\n", "[ 0.1234, 10.5000]\n"),
        ("[0.12, nan]\n", "[0.1234,    nan]\n"),
        ("[2. , 1.5]\n", "[2., 1.5]\n"),
        ("loss 0.5\n", "loss   0.52\n"),
    ],
)
def test_numbers_within_the_written_digits(expected: str, got: str) -> None:
    assert judge(expected, got, NUMBER).ok
    assert not judge(expected, got, EXACT).ok or expected == got


@pytest.mark.parametrize(
    ("expected", "got"),
    [
        ("0.123\n", "0.1236\n"),
        ("0.123\n", "0.12\n"),
        ("0.123\n", "-0.123\n"),
        ("0.5\n", "nan\n"),
        ("nan\n", "0.5\n"),
        ("inf\n", "-inf\n"),
        ("5\n", "6\n"),
        ("5\n", "5.0\n"),
        ("5.0\n", "5\n"),
        ("2.1.0\n", "2.13.0\n"),
        ("torch 2.13.0\n", "torch 2.13.1\n"),
        ("v1.5\n", "v1.52\n"),
        ("float32 1.5\n", "float64 1.5\n"),
        ("npu:0 1.5\n", "npu:1 1.5\n"),
        ("1.5 a\n", "1.5a\n"),
        ("1.5 2.5\n", "1.5, 2.5\n"),
        ("a  b 1.5\n", "a b 1.5\n"),
        ("[1.5]\n", "(1.5)\n"),
        ("1e5\n", "1e99999999999999999999\n"),
    ],
)
def test_numbers_beyond_the_written_digits(expected: str, got: str) -> None:
    verdict = judge(expected, got, NUMBER)
    assert not verdict.ok
    assert verdict.diff


@pytest.mark.parametrize(
    ("expected", "got"),
    [
        ("tensor([0.12, ...0.5], device='npu:0')\n", "tensor([ 0.1234,  1.0000,\n         0.5000], device='npu:0')\n"),
        ("...0.5 s\n", "done in\n 0.52 s\n"),
        ("0.12...\n", "0.12999\n"),
        ("1... 0.5\n", "1.75 0.51\n"),
        ("a ... 0.5\n", "a 1 2   0.52\n"),
        ("a 0.5 ...\n", "a 0.51    9\n"),
    ],
)
def test_ellipsis_and_number_combine(expected: str, got: str) -> None:
    assert judge(expected, got, BOTH).ok
    assert not judge(expected, got, EXACT).ok


def test_ellipsis_and_number_combined_still_refuse() -> None:
    assert not judge("[0.12, ..., 0.5] npu:0\n", "[0.12, 1.0, 0.6] npu:0\n", BOTH).ok
    assert not judge("[0.12, ..., 0.5] npu:0\n", "[0.12, 1.0, 0.5] npu:1\n", BOTH).ok
    assert not judge("[0.12, ..., 0.5]\n", "[0.12]\n", BOTH).ok


def test_white_space_can_be_normalized() -> None:
    assert judge("a b\nc\n", "a\n  b c", SPACE).ok
    assert not judge("a b\nc\n", "a\n  bc", SPACE).ok
    assert judge("a b\nc d\ne\n", "a b c\nx e", SPACE).line == 1


def test_a_diff_shows_only_what_differs() -> None:
    expected = "header ...\n0.12\n...\nlast 1\nend\n"
    got = "header of 3\n0.1234\nmore\nand more\nlast 2\nend\n"
    verdict = judge(expected, got, BOTH)
    assert verdict.line == 3
    changed = [line for line in verdict.diff.splitlines()[2:] if line[0] in "+-"]
    assert changed == ["-last 1", "+last 2"]


@pytest.mark.parametrize(
    ("expected", "got", "ok"),
    [
        ("ValueError: no\n", "ValueError: no", True),
        ("ValueError: no", "ValueError: yes", False),
        ("ValueError", "ValueError: yes", False),
        ("OutOfMemoryError: 3", "torch.OutOfMemoryError: 3", False),
        ("ValueError: one\n  two", "ValueError: one\n  two\n", True),
        ("ValueError: one", "ValueError: one\n  two\n", False),
    ],
)
def test_exceptions_compare_type_and_message(expected: str, got: str, ok: bool) -> None:
    assert judge_exception(expected, got, EXACT).ok is ok


def test_exceptions_with_options() -> None:
    assert judge_exception("ValueError: ... 3", "ValueError: more than 3", ELLIPSIS).ok
    by_type = Options(ignore_exception_detail=True)
    assert judge_exception("OutOfMemoryError: a", "torch.OutOfMemoryError: b: c\nd", by_type).ok
    assert not judge_exception("ValueError: a", "TypeError: a", by_type).ok


def test_long_texts_are_judged_at_once() -> None:
    got = "a" * 50_000 + "\n"
    started = time.process_time()
    assert not judge("a...a...a...a...b\n", got, BOTH).ok
    assert not judge("x\n" * 2000, "y\n" * 2000, BOTH).ok
    assert time.process_time() - started < 3
