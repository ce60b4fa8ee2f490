"""Judging, by properties that hold for every text."""

from __future__ import annotations

import doctest
import re
from decimal import Decimal, InvalidOperation

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from livedoctest.judge import Options, judge

settings.register_profile("judge", deadline=None)  # the machine may be busy
settings.load_profile("judge")

EXACT = Options()
ELLIPSIS = Options(ellipsis=True)
NUMBER = Options(number=True)
BOTH = Options(ellipsis=True, number=True)
SPACE = Options(normalize_whitespace=True)
ALL_OPTIONS = [EXACT, ELLIPSIS, NUMBER, BOTH, SPACE, Options(ellipsis=True, number=True, normalize_whitespace=True)]

printable = st.text(st.characters(codec="utf-8", exclude_characters="\r\f\v"))
pieces = st.lists(st.text("ab\n .1", max_size=4), min_size=1, max_size=5)


@st.composite
def printed(draw: st.DrawFn) -> str:
    """What a page prints: a tensor, with its device and type, its shape, and a fact."""
    rows, columns = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    number = st.decimals(-99, 99, places=4).map(lambda value: f"{value:8.4f}")
    cells = draw(st.lists(st.lists(number, min_size=columns, max_size=columns), min_size=rows, max_size=rows))
    values = ",\n        ".join(f"[{', '.join(row)}]" for row in cells)
    dtype = draw(st.sampled_from(["float16", "bfloat16"]))
    device, fact = draw(st.integers(0, 9)), draw(st.booleans())
    return f"tensor([{values}], device='npu:{device}', dtype=torch.{dtype})\ntorch.Size([{rows}, {columns}]) {fact}\n"


def same_value(text: str, at: int, other: str) -> bool:
    """Whether the change leaves a number as it is, written in another way, such as 2.25e0 for 2.2500."""
    start, end = (len(re.search(r"[^\s,\[\]()]*$", text[:at])[0]), len(re.match(r"[^\s,\[\]()]*", text[at + 1 :])[0]))
    before, after = text[at - start : at], text[at + 1 : at + 1 + end]
    try:
        return Decimal(before + text[at] + after) == Decimal(before + other + after)
    except InvalidOperation:  # it is no number, or no more
        return False


@given(printable, st.sampled_from(ALL_OPTIONS))
def test_equal_text_always_passes(text: str, options: Options) -> None:
    assume("<BLANKLINE>" not in text)
    assert judge(text, text, options).ok


@given(st.data(), st.sampled_from([EXACT, ELLIPSIS, NUMBER, BOTH]))
def test_any_changed_character_fails(data: st.DataObject, options: Options) -> None:
    text = data.draw(printed())
    at = data.draw(st.integers(0, len(text) - 2))
    assume(not text[at].isspace())
    other = data.draw(st.characters(codec="ascii", categories=["L", "N", "P", "S"]).filter(lambda new: new != text[at]))
    assume(not same_value(text, at, other))
    verdict = judge(text, text[:at] + other + text[at + 1 :], options)
    assert not verdict.ok
    assert verdict.line == text[:at].count("\n")
    assert verdict.diff


@given(st.data(), st.sampled_from([EXACT, ELLIPSIS, NUMBER, BOTH]))
def test_any_other_bracket_dtype_device_or_shape_fails(data: st.DataObject, options: Options) -> None:
    text = data.draw(printed())
    place = data.draw(
        st.sampled_from([*re.finditer(r"[\[\]()]|torch\.\w+16|(?<=npu:)\d|(?<=Size\(\[)\d|True|False", text)])
    )
    other = data.draw(st.sampled_from([*"[]()", "torch.float32", "torch.int16", "0", "1", "7", "True", "False", ""]))
    assume(other != place[0])
    assert not judge(text, text[: place.start()] + other + text[place.end() :], options).ok


@given(st.data(), st.sampled_from(ALL_OPTIONS))
def test_any_missing_doubled_or_exchanged_line_fails(data: st.DataObject, options: Options) -> None:
    text = data.draw(printed())
    lines = text.splitlines(keepends=True)
    at = data.draw(st.integers(0, len(lines) - 1))
    other = data.draw(st.integers(0, len(lines) - 1))
    exchanged = [*lines]
    exchanged[at], exchanged[other] = lines[other], lines[at]
    for changed in (lines[:at] + lines[at + 1 :], [*lines[: at + 1], *lines[at:]], exchanged):
        if changed != lines:
            assert not judge(text, "".join(changed), options).ok
            assert not judge("".join(changed), text, options).ok


@given(st.data(), st.sampled_from([NUMBER, BOTH]))
def test_a_changed_digit_passes_just_if_it_is_within_the_tolerance(data: st.DataObject, options: Options) -> None:
    number = data.draw(st.decimals(-1000, 1000, places=6))
    written = f"{number:.{data.draw(st.integers(1, 6))}f}"
    digits = f"{number:.6f}"
    at = data.draw(st.sampled_from([at for at, character in enumerate(digits) if character.isdigit()]))
    changed = digits[:at] + data.draw(st.sampled_from("0123456789")) + digits[at + 1 :]
    unit = Decimal(1).scaleb(-len(written.partition(".")[2]))
    within = abs(Decimal(changed) - Decimal(written)) <= unit / 2
    assert judge(f"[{written}, npu:0]\n", f"[{changed}, npu:0]\n", options).ok == within


@given(pieces, st.text("ab\n .1", max_size=30))
def test_ellipsis_is_that_of_doctest(parts: list[str], got: str) -> None:
    expected = "...".join(parts) + "\n"
    assume(not any(line != line.rstrip() for text in (expected, got) for line in text.split("\n")))
    printed = got if got.endswith("\n") or not got else got + "\n"
    assert judge(expected, got, ELLIPSIS).ok == doctest.OutputChecker().check_output(
        expected, printed, doctest.ELLIPSIS
    )


@given(
    st.lists(st.sampled_from(["a", "b\nb", " 1", "1.5 a", "0.1"]), min_size=1),
    st.lists(st.text("ab\n.1")),
    st.sampled_from([ELLIPSIS, BOTH]),
)
def test_ellipsis_matches_whatever_it_hides(parts: list[str], hidden: list[str], options: Options) -> None:
    expected = "...".join(parts[: len(hidden) + 1])
    got = parts[0] + "".join(gap + part for gap, part in zip(hidden, parts[1:], strict=False))
    assert judge(expected, got, options).ok


@given(st.lists(st.sampled_from("uvw"), min_size=1), st.integers(0), st.text("abc \n"))
def test_ellipsis_never_matches_without_a_literal_piece(parts: list[str], at: int, noise: str) -> None:
    missing = at % len(parts)
    parts[missing] = "X"
    expected = "...".join(parts) + "\n"
    got = noise.join(parts[:missing] + parts[missing + 1 :]) + noise
    for options in (ELLIPSIS, BOTH):
        assert not judge(expected, got, options).ok


@given(st.decimals(-1000, 1000, places=6), st.integers(1, 5))
def test_rounding_to_fewer_digits_passes_and_one_unit_more_fails(value: object, places: int) -> None:
    number = float(str(value))
    shorter = f"{number:.{places}f}"
    assert judge(f"[{shorter}]\n", f"[{number:.6f}]\n", NUMBER).ok
    assert not judge(f"[{shorter}]\n", f"[{float(shorter) + 10.0**-places:.6f}]\n", NUMBER).ok


@given(st.text("a.\n1 ", max_size=20), st.text("a.\n1 ", max_size=20), st.sampled_from(ALL_OPTIONS))
def test_every_difference_has_a_line_and_a_diff(expected: str, got: str, options: Options) -> None:
    verdict = judge(expected, got, options)
    assert verdict.ok or (verdict.diff and 0 <= verdict.line <= expected.count("\n"))
