"""Values in conf.py that no build can work with."""

from __future__ import annotations

import pytest

PASS = "# Title\n\n```{doctest}\n>>> 1\n1\n```\n"
PAGE = "# Title\n\n```{doctest}\n>>> print('build 1234')\nbuild N\n```\n"


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("livedoctest_device = 'gpu'", "expected one of auto, hardware, simulated, none"),
        ("livedoctest_timeout = 0", "expected seconds above 0"),
        ("livedoctest_timeout = float('inf')", "expected seconds above 0"),
        ("livedoctest_normalizers = [('(', '')]", "is no (pattern, replacement)"),
        ("livedoctest_normalizers = ['x']", "is no (pattern, replacement)"),
        ("livedoctest_cache = 'conf.py'", "'conf.py': expected a folder"),
        ("livedoctest_records = 'conf.py'", "'conf.py': expected a folder"),
        ("livedoctest_files = ['missing.txt']", "there is no file 'missing.txt'"),
        ("livedoctest_files = 'conf.py'", "'conf.py': expected a list"),
        ("livedoctest_files = [1]", "there is no file 1"),
        ("livedoctest_timeout = 'long'", "expected a number"),
        ("livedoctest_cache = 5", "expected a string or None"),
        ("livedoctest_cache = '/proc/none'", "/proc/none cannot be made"),
        ("livedoctest_report = '.'", "expected a file, and this is a folder"),
        ("livedoctest_report = '/proc/none.json'", "the report /proc/none.json cannot be written"),
        ("livedoctest_normaliser = []", "there is no setting livedoctest_normaliser"),
        ("doctest_global_setup = ['x = 1']", "expected a string of code"),
        ("doctest_path = 'folder'", "expected a list of folders"),
        ("doctest_test_doctest_blocks = 3", "expected the name of a group"),
        ("doctest_default_flags = 'ELLIPSIS'", "is none of the flags"),
    ],
)
def test_a_bad_value_is_one_message(site, line, words):
    built = site(index=PASS, conf=line + "\n").build()
    assert built.status == 2
    assert built.log.count("ERROR: livedoctest: ") == 1
    assert words in built.log
    assert "Traceback" not in built.log


@pytest.mark.parametrize(
    ("option", "words"),
    [
        ("requires: python>=3.x", "requires 'python>=3.x': expected"),
        ("skipif: exit()", "skipif 'exit()': SystemExit"),
        ("skipif: defined and exit()", "evaluated after doctest_global_setup: it gave no value"),
    ],
)
def test_a_bad_condition_is_one_message(site, option, words):
    page = PASS.replace("```{doctest}", f"```{{doctest}}\n:{option}\n")
    built = site(index=page, conf="doctest_global_setup = 'defined = True'\n").build()
    assert built.status == 2
    assert built.log.count("[livedoctest.") == 1
    assert words in built.log
    assert "Traceback" not in built.log


def test_normalizers_apply_to_both_sides_and_to_the_page(site):
    built = site(index=PAGE, conf=r"livedoctest_normalizers = [(r'build \d+', 'build N')]" + "\n").build()
    assert built.status == 0, built.log
    assert "build 1234\n" not in built.html()


def test_time_limit(site):
    page = "# Title\n\n```{testcode}\nimport time\ntime.sleep(30)\n```\n"
    built = site(index=page, conf="livedoctest_timeout = 0.5\n").build()
    assert built.status == 1
    assert "index.md:5: WARNING: testcode: did not finish" in built.log
