"""The reference pages say what the code knows."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

import pytest

from livedoctest.__main__ import COMMANDS, parser
from livedoctest.directives import DIRECTIVES
from livedoctest.problems import Problem
from livedoctest.prompts import FLAGS
from livedoctest.settings import Settings

PAGE = Path(__file__).parents[2] / "docs/reference/livedoctest.md"
NO_EFFECT = {"DONT_ACCEPT_TRUE_FOR_1"}  # known for the sake of stock pages


def test_the_page_names_every_directive_option_and_flag():
    text = PAGE.read_text(encoding="utf-8")
    known = {option for directive in DIRECTIVES.values() for option in directive.known}
    names = [f"`{{{name}}}`" for name in DIRECTIVES] + [f"`:{option}:`" for option in known]
    names += [f"`{flag}`" for flag in set(FLAGS) - NO_EFFECT]
    assert [name for name in names if name not in text] == []


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("settings", [f"livedoctest_{each.name}" for each in fields(Settings)]),
        ("warnings", [f"livedoctest.{each.subtype}" for each in Problem]),
        ("commands", [f"livedoctest {name} SRC" for name in COMMANDS]),
    ],
)
def test_tables_are_printed_from_the_code(site, name, expected):
    page = f"---\nlivedoctest: none\n---\n\n# T\n\n```{{livedoctest-reference}} {name}\n```\n"
    made = site(index=page).build("-W")
    assert made.status == 0, made.log
    text = re.sub(r"<[^>]+>", "", made.html())
    assert [each for each in expected if each not in text] == []


def test_texts_of_tables_are_translated_with_the_page(site):
    page = "---\nlivedoctest: none\n---\n\n# T\n\n```{livedoctest-reference} settings\n```\n"
    made = site(index=page).build(builder="gettext")
    template = (made.out / "index.pot").read_text()
    assert "Where blocks run" in template
    assert "livedoctest_device" not in template


def test_an_unknown_table_is_an_error(site):
    page = "---\nlivedoctest: none\n---\n\n# T\n\n```{livedoctest-reference} colours\n```\n"
    assert "'colours': expected one of settings, warnings, commands" in site(index=page).build().log


def test_every_command_has_help():
    assert all(name in parser().format_help() for name in COMMANDS)
