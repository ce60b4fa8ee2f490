"""Values in conf.py that no build can work with."""

from __future__ import annotations

import pytest

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
    ],
)
def test_bad_value(site, line, words):
    built = site(index=PAGE, conf=line + "\n").build()
    assert built.status == 2
    assert words in built.log


def test_normalizers_apply_to_both_sides_and_to_the_page(site):
    built = site(index=PAGE, conf=r"livedoctest_normalizers = [(r'build \d+', 'build N')]" + "\n").build()
    assert built.status == 0, built.log
    assert "build 1234\n" not in built.html()


def test_time_limit(site):
    page = "# Title\n\n```{testcode}\nimport time\ntime.sleep(30)\n```\n"
    built = site(index=page, conf="livedoctest_timeout = 0.5\n").build()
    assert built.status == 1
    assert "index.md:5: WARNING: testcode: did not finish" in built.log
