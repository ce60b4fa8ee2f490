"""Whole builds: the report, stored results, other builders, two languages."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import pytest
from filelock import FileLock

PASS = "# Title\n\n```{doctest}\n>>> 1\n1\n```\n"
FAIL = PASS.replace(">>> 1\n1", ">>> 1\n2")
COUNTING = """# Counts its executions

```{testcode}
import pathlib
log = pathlib.Path(LOG)
log.write_text(log.read_text() + "x" if log.exists() else "x")
```
"""


def counting(tmp_path, code="") -> str:
    """A page that leaves an x in a file each time it is executed."""
    return COUNTING.replace("LOG", repr(str(tmp_path / "log"))).replace("import pathlib", f"import pathlib{code}")


def executions(tmp_path) -> int:
    return len((tmp_path / "log").read_text())


def test_report_contract(site):
    report = site({"index.md": PASS, "sub/page.md": FAIL}).build().report
    assert set(report["device"]) == {
        "kind", "name", "count", "cann", "torch", "torch_npu", "tensordict", "python", "started",
    }  # fmt: skip
    assert report["device"]["kind"] == "none"
    assert [page["docname"] for page in report["pages"]] == ["index", "sub/page"]
    page = report["pages"][1]
    assert page["source"] == "sub/page.md"
    assert page["cached"] is False
    block = page["blocks"][0]
    assert set(block) == {"id", "source", "line", "kind", "status", "reason", "seconds", "moves"}
    assert (block["line"], block["kind"], block["status"]) == (4, "doctest", "failed")
    assert report["totals"] == {"pages": 2, "blocks": 2, "passed": 1, "failed": 1, "skipped": 0}


def test_report_goes_where_the_configuration_says(site, tmp_path):
    site(index=PASS, conf="livedoctest_report = '../elsewhere/report.json'\n").build()
    assert json.loads((tmp_path / "elsewhere/report.json").read_text())["totals"]["passed"] == 1


def test_a_failure_shows_all_its_parts(site):
    log = site(index=FAIL).build().log
    assert "doctest: the output differs" in log
    for part in ("source:", "expected:", "got:", "diff:", "-2", "+1", "[livedoctest.failed]"):
        assert part in log


def test_a_failure_is_not_silenced(site):
    built = site(index=FAIL, conf="suppress_warnings = ['livedoctest']\n").build()
    assert built.status == 1
    assert built.report["totals"]["failed"] == 1


def test_one_page_that_crashes_leaves_the_others(site):
    crash = "# Crash\n\n```{testcode}\nimport os\nos.kill(os.getpid(), 11)\n```\n"
    built = site({"index.md": PASS, "crash.md": crash, "other.md": PASS}).build()
    assert built.status == 1
    assert {page["docname"]: page["blocks"][0]["status"] for page in built.report["pages"]} == {
        "crash": "failed",
        "index": "passed",
        "other": "passed",
    }


def test_pages_do_not_see_each_other(site):
    change = "# Changes\n\n```{testcode}\nimport os, sys\nos.environ['X'] = '1'; sys.x = 1; os.chdir('/')\n```\n"
    look = (
        "# Looks\n\n```{doctest}\n>>> import os, sys\n"
        ">>> 'X' in os.environ, hasattr(sys, 'x'), os.listdir()\n(False, False, [])\n```\n"
    )
    built = site({"index.md": change, "a.md": look, "z.md": look}).build()
    assert built.status == 0, built.log


# ---- stored results


def test_prose_executes_nothing_and_code_only_its_page(site, tmp_path):
    made = site({"index.md": counting(tmp_path), "other.md": PASS})
    assert made.build().status == 0
    made.write("index.md", "Some prose.\n\n" + counting(tmp_path))
    assert made.build().status == 0
    assert executions(tmp_path) == 1
    assert made.blocks()[0]["line"] == 6
    assert all(page["cached"] for page in made.report["pages"])
    made.write("other.md", PASS.replace("1", "3"))
    assert made.build().status == 0
    assert executions(tmp_path) == 1
    made.write("index.md", counting(tmp_path, "; y = 1"))
    assert made.build().status == 0
    assert executions(tmp_path) == 2


def test_what_is_skipped_is_part_of_the_key(site, monkeypatch):
    page = "# T\n\n```{doctest}\n:skipif: __import__('os').environ.get('SKIP')\n\n>>> 1\n1\n```\n"
    made = site(index=page)
    monkeypatch.setenv("SKIP", "1")
    assert made.build().report["totals"]["skipped"] == 1
    monkeypatch.delenv("SKIP")
    assert made.build().status == 0
    assert made.report["totals"]["passed"] == 1


def test_failures_are_run_again(site, tmp_path):
    failing = counting(tmp_path) + "\n```{doctest}\n>>> 1\n2\n```\n"
    made = site(index=failing)
    assert made.build().status == 1
    assert made.build().status == 1
    assert executions(tmp_path) == 2


def test_expected_output_settings_and_files_count(site, tmp_path):
    made = site(index=counting(tmp_path) + "\n```{doctest}\n>>> 1\n1\n```\n")
    made.build()
    made.write("index.md", counting(tmp_path) + "\n```{doctest}\n>>> 1\n2\n```\n")
    assert made.build().status == 1
    made.write("index.md", counting(tmp_path) + "\n```{doctest}\n>>> 1\n1\n```\n")
    assert made.build().status == 0
    done = executions(tmp_path)
    made.write("data.txt", "a")
    files = "-Dlivedoctest_files=data.txt"
    made.build(files)
    made.build(files)
    assert executions(tmp_path) == done + 1
    made.write("data.txt", "b")
    made.build(files)
    assert executions(tmp_path) == done + 2


def test_report_is_of_the_build_that_executed(site, tmp_path):
    conf = "livedoctest_cache = '../cache'\nlivedoctest_report = '../report.json'\n"
    made = site(index=PASS, conf=conf)

    def cached() -> bool:
        return json.loads((tmp_path / "report.json").read_text())["pages"][0]["cached"]

    made.build("-d", str(tmp_path / "trees-en"))
    assert not cached()
    made.build("-d", str(tmp_path / "trees-zh"), "-D", "language=zh_CN")
    assert not cached()
    made.build("-d", str(tmp_path / "trees-en"))
    assert cached()
    (tmp_path / "report.json").write_text("{")
    made.build("-d", str(tmp_path / "trees-zh"), "-D", "language=zh_CN")
    assert cached()


def test_second_language_executes_nothing_and_shows_the_same(site, tmp_path):
    made = site(
        index=counting(tmp_path) + "\n```{doctest}\n>>> 'x'\n'x'\n```\n", conf="livedoctest_cache = '../cache'\n"
    )
    made.build("-d", str(tmp_path / "trees-en"))
    english = made.html()
    made.build("-d", str(tmp_path / "trees-zh"), "-D", "language=zh_CN")
    assert executions(tmp_path) == 1
    assert "2 of 2 code blocks" in english
    assert "本页 2 个代码块中有 2 个已验证" in made.html()


@pytest.mark.parametrize("command", [["livedoctest", "verify"], ["sphinx", "-q"]])
def test_a_build_that_waits_for_another_says_so(site, tmp_path, command):
    made = site(index=PASS, conf="livedoctest_cache = '../cache'\n")
    (tmp_path / "cache").mkdir()
    out = [str(made.out)] if "sphinx" in command else []
    command = [sys.executable, "-m", *command, str(made.source), *out]
    with FileLock(tmp_path / "cache" / "lock") as lock, subprocess.Popen(command, stderr=subprocess.PIPE) as process:
        assert b"waiting for another build" in process.stderr.readline()
        lock.release()
        assert process.wait() == 0


# ---- other builders


@pytest.mark.parametrize("builder", ["singlehtml", "latex", "man", "texinfo"])
def test_builders_that_join_pages_show_each_block_its_own(site, builder):
    index = "---\nlivedoctest: none\n---\n\n# Title\n\n```{toctree}\na\nb\n```\n"
    pages = {
        f"{name}.md": f"# {name}\n\n```{{testcode}}\nprint('{name}' * 3)\n```\n\n```{{testoutput}}\n{name}...\n```\n"
        for name in "ab"
    }
    conf = "man_pages = [('index', 'x', 'x', 'x', 1)]\n"
    built = site({"index.md": index, **pages}, conf=conf).build("-W", builder=builder)
    assert built.status == 0, built.log
    suffix = {"singlehtml": "*.html", "latex": "*.tex", "man": "*.1", "texinfo": "*.texi"}[builder]
    text = next(built.out.glob(suffix)).read_text()
    assert text.index("aaa") < text.index("bbb")
    if builder == "singlehtml":
        assert text.count("1 of 1 code blocks") == 2
        assert text.count("livedoctest-mark-passed") == 2


@pytest.mark.parametrize("builder", ["dirhtml", "singlehtml", "latex", "text", "man", "xml", "pseudoxml", "epub"])
def test_writing_builders_verify(site, builder):
    assert site(index=PASS).build(builder=builder).status == 0
    assert site(index=FAIL).build(builder=builder).status == 1


def test_a_second_build_reads_no_page_again(site):
    made = site(index=PASS)
    assert "1 added" in made.build().log
    assert "0 added, 0 changed, 0 removed" in made.build().log
    assert "configuration has changed" not in made.log


def test_the_report_is_no_part_of_a_book(site, tmp_path):
    conf = "project = copyright = version = 'x'\n"
    built = site(index=PASS, conf=conf).build("-W", "-d", str(tmp_path / "trees"), builder="epub")
    assert built.status == 0, built.log
    assert built.report["totals"]["passed"] == 1


def test_doctest_builder_verifies_and_writes_no_page(site):
    built = site(index=PASS).build(builder="doctest")
    assert built.status == 0
    assert not list(built.out.glob("*.html"))
    assert site(index=FAIL).build(builder="doctest").status == 1


@pytest.mark.parametrize("builder", ["gettext", "linkcheck"])
def test_reading_builders_execute_nothing(site, builder, tmp_path):
    assert site(index=counting(tmp_path)).build(builder=builder).status == 0
    assert not (tmp_path / "log").exists()


def test_parallel_reading_and_writing(site):
    pages = {f"page{number}.md": PASS for number in range(8)}
    built = site({"index.md": FAIL, **pages}).build("-j", "4")
    assert built.status == 1
    assert built.report["totals"] == {"pages": 9, "blocks": 9, "passed": 8, "failed": 1, "skipped": 0}


def test_incremental_build_still_fails_and_still_stops(site):
    made = site({"index.md": PASS, "bad.md": FAIL})
    assert made.build().status == 1
    assert made.build().status == 1
    made.write("bad.md", "# Bad\n\n```python\nx\n```\n")
    assert made.build().status == 2
    assert made.build().status == 2
    made.write("bad.md", PASS)
    assert made.build().status == 0


# ---- blocks and languages


def test_code_is_never_translated(site, tmp_path):
    """With literal blocks among the gettext targets, stock tools turn translated blocks into two colons."""
    conf = (
        "language = 'zh_CN'\nlocale_dirs = ['locale']\n"
        "gettext_additional_targets = ['literal-block', 'doctest-block']\n"
    )
    made = site(index="# Title\n\nText.\n\n```{doctest}\n>>> 'Text.'\n'Text.'\n```\n", conf=conf)
    made.write(
        "locale/zh_CN/LC_MESSAGES/index.po",
        'msgid ""\nmsgstr "Content-Type: text/plain; charset=UTF-8\\n"\n\n'
        'msgid "Text."\nmsgstr "正文。"\n\nmsgid ">>> \'Text.\'\\n\'Text.\'"\nmsgstr ">>> 1\\n1"\n',
    )
    built = made.build()
    assert built.status == 0, built.log
    assert "正文。" in built.html()
    assert built.report["totals"]["passed"] == 1
    assert "Text." in built.html().split("livedoctest-program")[1]


def test_failure_in_a_translated_page_has_its_line(site):
    conf = "language = 'zh_CN'\nlocale_dirs = ['locale']\n"
    made = site(index="# Title\n\n:::{note}\nText.\n\n```{doctest}\n>>> 1\n2\n```\n:::\n", conf=conf)
    made.write(
        "locale/zh_CN/LC_MESSAGES/index.po",
        'msgid ""\nmsgstr "Content-Type: text/plain; charset=UTF-8\\n"\n\nmsgid "Text."\nmsgstr "正文。"\n',
    )
    assert "index.md:7: WARNING: doctest" in made.build().log


def test_the_reason_of_a_block_that_is_not_run_is_translated(site):
    conf = "language = 'zh_CN'\nlocale_dirs = ['locale']\n"
    made = site(index=PASS + "\n```{testcode}\n:norun: It needs `root`.\n\nx = 1\n```\n", conf=conf)
    made.write(
        "locale/zh_CN/LC_MESSAGES/index.po",
        'msgid ""\nmsgstr "Content-Type: text/plain; charset=UTF-8\\n"\n\n'
        'msgid "It needs `root`."\nmsgstr "需要 `root` 权限。"\n',
    )
    html = made.build().html()
    assert "需要 <code" in html
    assert "It needs" not in html


def test_included_files_are_named(site):
    made = site(
        {"index.md": "# Title\n\n```{include} part.txt\n```\n", "part.txt": "Text.\n\n" + FAIL.split("\n\n")[1]}
    )
    built = made.build()
    assert "part.txt:4: WARNING: doctest" in built.log
    assert made.blocks()[0]["source"] == "part.txt"
    made.write("part.txt", PASS.split("\n\n")[1])
    assert made.build().status == 0


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_files_that_include_each_other_are_one_fault(site, jobs):
    pages = {
        "index.md": "# Title\n\n```{toctree}\na\nb\n```\n\n" + PASS,
        "a.md": "# A\n\n```{include} part.txt\n```\n",
        "part.txt": "Text.\n\n- ```{include} a.md\n  ```\n",
        "b.md": "# B\n\n```python\n1\n```\n\n```{include} self.txt\n:end-before: after\n```\n",
        "self.txt": "Text.\n\nafter\n\n```{include} self.txt\n:end-before: after\n```\n",
    }
    built = site(pages).build("-j", jobs)
    assert built.status == 2
    found = re.findall(r"(\w+\.\w+):(\d+): WARNING: .*\[livedoctest\.(\S+)\]", built.log)
    assert found == [("a.md", "3", "include"), ("b.md", "3", "unverified")], built.log


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("Text.\n\n.. include:: missing.txt\n", 6),
        (".. unknown::\n\n   >>> 1\n   2\n", 4),
        (".. unknown:: words\n\n   x = 1\n", 4),
        ("Program::\n\n   import os\n   os.getcwd()\n", 6),
        (".. highlight:: python\n\nProgram::\n\n   x = 1\n", 8),
        (".. parsed-literal::\n\n   x\n   >>> 3\n   3\n", 6),
        ("Text.\n\n.. note::\n   :unknown: option\n\n   >>> 1\n   2\n", 6),
    ],
)
def test_what_docutils_cannot_read_is_named_at_its_line(site, text, line):
    built = site({"index.rst": f"T\n=\n\n{text}\n>>> 3\n3\n"}).build()
    assert built.status == 2, built.log
    assert re.findall(r"index\.rst:(\d+): WARNING: .*\[livedoctest\.", built.log) == [str(line)], built.log


def test_code_that_is_included_as_text_is_named(site):
    made = site({"index.md": "# Title\n\n```{include} part.txt\n:literal:\n```\n\n" + PASS, "part.txt": ">>> 1\n1\n"})
    built = made.build()
    assert built.status == 2
    assert "part.txt:1: WARNING: A literal block" in built.log


@pytest.mark.parametrize("text", [".. doctest::\n   >>> 1\n   2\n", ".. testfile:: x.py\n   f()\n"])
def test_code_that_restructured_text_takes_for_the_argument_is_named(site, text):
    built = site({"index.rst": f"T\n=\n\n{text}"}).build()
    assert built.status == 2
    assert re.search(r"index\.rst:4: WARNING: This \w+ block is empty\. .* needs a blank line above it", built.log)


@pytest.mark.parametrize("part", ["", "start-line: 1", "start-after: head"])
@pytest.mark.parametrize("option", ["literal:", "code: python", "code:"])
@pytest.mark.parametrize("suffix", ["rst", "md"])
def test_code_that_is_included_as_text_is_named_at_its_line(site, monkeypatch, suffix, option, part):
    """There, or at the directive where the parser knows that; a page in reStructuredText does not, for `code`."""
    options = [f":{each}" for each in (option, part) if each]
    page = "T\n=\n\n>>> 1\n1\n\n.. include:: sub/part.txt\n   " + "\n   ".join(options) + "\n"
    if suffix == "md":
        page = f"# T\n\n{PASS}\n```{{include}} sub/part.txt\n" + "\n".join(options) + "\n```\n"
    made = site({f"index.{suffix}": page, "sub/part.txt": "# head\nx = [\n    >>> 1\n"})
    monkeypatch.chdir(made.folder)
    assert made.build().status == 2, made.log
    places = re.findall(r"(\S+):(\d+): WARNING: A (?:python|literal) block", made.log)
    first = 2 if part else 1
    code = suffix == "md" and option.startswith("code")
    directive = page[: page.index("include")].count("\n") + 1
    wanted = (made.source / "index.md", directive) if code else (made.source / "sub/part.txt", first)
    assert places == [tuple(map(str, wanted))], made.log


def test_pages_with_another_suffix_are_looked_through_too(site):
    conf = "source_suffix = {'.txt': 'restructuredtext', '.mkd': 'markdown'}\nroot_doc = 'start'\n"
    dropped = "# T\n\n```{image} x.png\n~~~{doctest}\n>>> 1\n2\n~~~\n```\n"
    pages = {"start.txt": "T\n=\n\n>>> 1\n1\n\n.. testcodes::\n\n   x\n", "b.mkd": dropped}
    built = site(pages, conf=conf).build()
    assert built.status == 2
    found = re.findall(r"(\w+\.\w+):(\d+): WARNING: .*\[livedoctest\.", built.log)
    assert found == [("b.mkd", "4"), ("start.txt", "7")], built.log


def test_files_of_a_configuration_show_no_python(site):
    page = "T\n=\n\n>>> 1\n1\n\n.. literalinclude:: x.cfg\n"
    assert site({"index.rst": page, "x.cfg": "[a]\nb = 1\n"}).build("-W").status == 0


def test_a_file_that_another_one_hides_stops_the_build(site):
    made = site({"index.md": PASS, "sub/page.md": FAIL})
    assert made.build().status == 1
    made.write("sub/page.rst", "T\n=\n\n>>> 1\n1\n")
    assert made.build().status == 2
    found = re.findall(r"(\S+):1: WARNING: This file is not read, .*: (\S+) is the same page", made.log)
    assert found in (
        [(str(made.source / f"sub/page.{one}"), f"page.{two}")] for one, two in (("md", "rst"), ("rst", "md"))
    )
    assert made.build("-D", "exclude_patterns=sub/page.md").status == 0


def test_a_page_in_another_encoding_is_named_with_its_line(site):
    made = site(index=PASS)
    (made.source / "latin.md").write_bytes("# T\n\nWords: d\u00e9j\u00e0 vu.\n".encode("latin-1"))
    built = made.build()
    assert built.status == 2
    assert f"{made.source / 'latin.md'}:3: this is no text in UTF-8 (byte 0xe9)" in built.log
    assert "Traceback" not in built.log


def test_a_file_included_twice_has_its_lines(site):
    page = "# Title\n\n```{include} part.txt\n```\n\n```{include} part.txt\n```\n"
    made = site({"index.md": page, "part.txt": "Text.\n\n```{doctest}\n>>> 1\n1\n```\n"})
    assert made.build().status == 0
    assert [block["line"] for block in made.blocks()] == [4, 4]


def test_docstrings_that_autodoc_brings(site, tmp_path, monkeypatch):
    (tmp_path / "documented_module.py").write_text('def f():\n    """Words.\n\n    >>> 1\n    1\n    """\n')
    monkeypatch.syspath_prepend(str(tmp_path))
    page = "Title\n=====\n\n.. autofunction:: documented_module.f\n"
    built = site({"index.rst": page}, conf="extensions.append('sphinx.ext.autodoc')\n").build()
    assert built.status == 0, built.log
    assert made_of(built) == ["documented_module.py"]


def made_of(built) -> list[str]:
    return [block["source"].rpartition("/")[2] for block in built.blocks()]


def test_the_stock_extension_may_be_named_too(site):
    for order in (["livedoctest", "sphinx.ext.doctest"], ["sphinx.ext.doctest", "livedoctest"]):
        assert site(index=PASS, conf=f"extensions = ['myst_parser', *{order}]\n").build("-E").status == 0


@pytest.mark.parametrize(
    ("line", "place"),
    [(".. doctest:", 6), (".. testcodes::", 6), (".. testcode\n   more", 6)],
)
def test_restructured_text_directives_that_parsers_drop(site, line, place):
    page = f"Title\n=====\n\n>>> 1\n1\n\n{line}\n\n   >>> 1\n   2\n"
    built = site({"index.rst": page}).build()
    assert built.status == 2, built.log
    assert f"index.rst:{place + 1}: WARNING" in built.log


def test_restructured_text_pages_run_unchanged(site):
    page = """
Title
=====

.. testsetup:: *

   x = 1

.. doctest::

   >>> x
   1

>>> 2
2

.. testcode::

   print(x)

.. testoutput::

   1

* item

  .. doctest::

     >>> x  # HERE
     2
"""
    built = site({"index.rst": page}).build()
    assert built.status == 1
    assert built.report["totals"] == {"pages": 1, "blocks": 5, "passed": 4, "failed": 1, "skipped": 0}
    line = page.split("HERE")[0].count("\n") + 1
    assert f"index.rst:{line}: WARNING: doctest" in built.log
