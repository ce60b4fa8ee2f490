"""What pages written for sphinx.ext.doctest find in conf.py."""

from __future__ import annotations

import pytest

SETUP = "doctest_global_setup = 'import math\\nlimit = 3'\n"
PAGE = "# T\n\n```{doctest}\n>>> math.floor(limit + 0.5)\n3\n```\n\n```{doctest} other\n>>> limit\n3\n```\n"
CLEANUP = "# T\n\n```{testcode}\nimport pathlib\nstate = pathlib.Path(LOG)\n```\n"


def test_global_setup_runs_before_every_group(site):
    built = site(index=PAGE, conf=SETUP).build("-W")
    assert built.status == 0, built.log
    assert built.report["totals"]["blocks"] == 2


def test_a_new_global_setup_runs_the_pages_again(site):
    made = site(index=PAGE, conf=SETUP)
    assert made.build().status == 0
    assert made.build("-D", "doctest_global_setup=import math\nlimit = 4").status == 1


def test_global_cleanup_runs_after_the_blocks(site, tmp_path):
    page = CLEANUP.replace("LOG", repr(str(tmp_path / "log")))
    built = site(index=page, conf="doctest_global_cleanup = 'state.write_text(\"cleaned\")'\n").build("-W")
    assert built.status == 0, built.log
    assert (tmp_path / "log").read_text() == "cleaned"


@pytest.mark.parametrize(
    ("conf", "words"),
    [
        (
            "doctest_global_setup = 'import nothing_like_it'\n",
            ["doctest_global_setup", "page index", "nothing_like_it"],
        ),
        ("doctest_global_setup = 'print(1)'\n", ["doctest_global_setup", "output differs"]),
        ("doctest_global_setup = 'import os; os._exit(3)'\n", ["doctest_global_setup", "exit status 3"]),
        ("doctest_global_cleanup = '1 / 0'\n", ["doctest_global_cleanup", "ZeroDivisionError"]),
    ],
)
def test_global_code_that_fails_stops_the_build(site, conf, words):
    built = site(index="# T\n\n```{doctest}\n>>> 1\n1\n```\n", conf=conf).build()
    assert built.status == 2
    assert all(word in built.log for word in words), built.log
    assert not (built.out / "index.html").exists()


def skipif(expression: str) -> str:
    return f"# T\n\n```{{doctest}}\n:skipif: {expression}\n\n>>> 1\n1\n```\n"


@pytest.mark.parametrize(("limit", "status"), [(3, "passed"), (4, "skipped")])
def test_conditions_see_the_global_setup(site, limit, status):
    setup = f'doctest_global_setup = \'print("noise", end="") if 0 else None\\nlimit = {limit}\'\n'
    built = site(index=skipif("limit > 3"), conf=setup).build()
    assert built.status == 0, built.log
    assert built.blocks()[0]["status"] == status


@pytest.mark.parametrize(
    ("expression", "conf", "words"),
    [
        ("nothing", "", "name 'nothing' is not defined. The expression sees builtins, sys, os"),
        ("1 / 0", "", "ZeroDivisionError"),
        ("nothing", "doctest_global_setup = 'x = 1'\n", "evaluated after doctest_global_setup: NameError"),
    ],
)
def test_conditions_without_a_value_stop_the_build(site, expression, conf, words):
    built = site(index=skipif(expression), conf=conf).build()
    assert built.status == 2
    assert f"index.md:6: WARNING: skipif {expression!r}" in built.log
    assert words in built.log


def test_a_condition_is_asked_anew_in_every_build(site, monkeypatch):
    made = site(index=skipif("os.environ['WHERE'] == 'here'"))
    assert made.build().status == 2
    monkeypatch.setenv("WHERE", "here")
    assert made.build().report["totals"]["skipped"] == 1
    monkeypatch.setenv("WHERE", "elsewhere")
    assert made.build().report["totals"]["passed"] == 1


def test_pages_import_from_doctest_path(site, tmp_path):
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "own_module.py").write_text("x = 5\n")
    page = "# T\n\n```{doctest}\n>>> import own_module\n>>> own_module.x\n5\n```\n"
    built = site(index=page, conf=f"doctest_path = [{str(tmp_path / 'own')!r}]\n").build("-W")
    assert built.status == 0, built.log


def test_outputs_that_do_not_apply_are_shown_as_written(site):
    page = (
        "# T\n\n```{testcode}\nprint('new 1')\n```\n\n```{testoutput}\n:requires: python<3\n\nold ...\n```\n\n"
        "```{testoutput}\n:requires: python>=3\n\nnew ...\n```\n"
    )
    built = site(index=page).build("-W")
    assert built.status == 0, built.log
    assert "old ..." in built.html()
    assert "new 1" in built.html()
    assert "new ..." not in built.html()


FLAGS = """# T

```{doctest}
>>> print('a  b')
a b
>>> print('a b c')
a ... c
```

```{testcode}
print('x   y')
```

```{testoutput}
x y
```
"""


def statuses(built) -> list[str]:
    return [block["status"] for block in built.blocks()]


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        ("ELLIPSIS | doctest.NORMALIZE_WHITESPACE", ["passed", "passed"]),
        ("NORMALIZE_WHITESPACE", ["failed", "passed"]),
        ("ELLIPSIS", ["failed", "failed"]),
        ("REPORT_NDIFF | doctest.FAIL_FAST | doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE", ["passed", "passed"]),
    ],
)
def test_default_flags_hold_for_all_blocks(site, flags, expected):
    built = site(index=FLAGS, conf=f"import doctest\ndoctest_default_flags = doctest.{flags}\n").build()
    assert statuses(built) == expected, built.log


def test_default_flags_can_be_switched_off(site):
    page = FLAGS.replace("{doctest}\n", "{doctest}\n:options: -NORMALIZE_WHITESPACE\n\n", 1)
    page = page.replace("print('a  b')", "print('a b')")
    made = site(index=page, conf="import doctest\ndoctest_default_flags = doctest.NORMALIZE_WHITESPACE\n")
    assert statuses(made.build()) == ["failed", "passed"]  # ELLIPSIS is not among the defaults then


def test_without_default_flags_exceptions_are_compared(site):
    page = "# T\n\n```{doctest}\n>>> {}['a']\nTraceback (most recent call last):\n    ...\nKeyError: 'b'\n```\n"
    assert site(index=page).build().status == 1
    ignore = "import doctest\ndoctest_default_flags = doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL\n"
    assert site(index=page, conf=ignore).build().status == 0


def test_new_default_flags_judge_all_pages_anew(site):
    made = site({"index.md": FLAGS, "other.md": FLAGS, "none.md": "---\nlivedoctest: none\n---\n\n# T\n"})
    for flags, status in ((12, 0), (4, 1), (8, 1), (12, 0)):  # 4 is NORMALIZE_WHITESPACE, 8 ELLIPSIS
        assert made.build("-D", f"doctest_default_flags={flags}").status == status, made.log


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        ("doctest.SKIP", "SKIP would leave code unchecked"),
        ("doctest.register_optionflag('ALLOW_BYTES')", "ALLOW_BYTES"),
        ("1 << 40", "1099511627776"),
        ("'ELLIPSIS'", "'ELLIPSIS'"),
    ],
)
def test_default_flags_that_mean_nothing_here_stop_the_build(site, flags, words):
    built = site(index=FLAGS, conf=f"import doctest\ndoctest_default_flags = {flags}\n").build()
    assert built.status == 2
    assert "doctest_default_flags" in built.log
    assert words in built.log


def test_flags_that_a_project_registers_are_known_by_name(site):
    page = "# T\n\n```{doctest}\n>>> 1 / 3\n0.33\n```\n"
    conf = "import doctest\ndoctest_default_flags = doctest.register_optionflag('NUMBER')\n"
    built = site(index=page, conf=conf).build()
    assert built.status == 0, built.log


BARE = "T\n=\n\n.. testsetup:: {group}\n\n   x = 1\n\nText.\n\n>>> x\n{output}\n"


@pytest.mark.parametrize(("output", "status"), [("1", "passed"), ("2", "failed")])
@pytest.mark.parametrize(("group", "conf"), [("default", ""), ("own", "doctest_test_doctest_blocks = 'own'\n")])
def test_bare_doctests_of_restructured_text_are_blocks_of_their_group(site, group, conf, output, status):
    built = site({"index.rst": BARE.format(group=group, output=output)}, conf=conf).build()
    assert [(block["line"], block["status"]) for block in built.blocks()] == [(6, "passed"), (10, status)], built.log
    assert f'livedoctest-mark-{status}" title="Python without a device"' in built.html()
    assert ("index.rst:10: WARNING: doctest: the output differs" in built.log) == (status == "failed")


def test_bare_doctests_that_the_project_leaves_out_stop_the_build(site):
    made = site({"index.rst": BARE.format(group="default", output=1)})
    assert made.build().status == 0
    assert made.build("-D", "doctest_test_doctest_blocks=").status == 2  # read anew
    assert "index.rst:10: WARNING: A bare `>>>`, which doctest_test_doctest_blocks leaves out, is not" in made.log
    assert made.build("-D", "doctest_test_doctest_blocks=other").status == 1  # NameError: x is of another group
