"""A gallery of scripts: their outputs are checked where they stand, accepted, and shown in every language."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import zipfile

import polib
import pytest

from livedoctest.__main__ import main

CONF = """
extensions.append("sphinx_gallery.gen_gallery")
exclude_patterns = ["scripts"]
sphinx_gallery_conf = {
    "examples_dirs": "scripts", "gallery_dirs": "tutorials", "plot_gallery": False, "image_scrapers": (),
    "reset_modules": (), "write_computation_times": False, "download_all_examples": False, "show_signature": False,
}
locale_dirs = ["locale"]
html_search_language = "en"
"""
HEADER = ":livedoctest: none\n\nTutorials\n=========\n\nAll of them.\n"
SCRIPT = '''"""
Count
=====

We count things.
"""

def double(x):
    return 2 * x  # twice

print(double(1))

# %%
# That printed
#
# .. testoutput::
#
#    2
#
# and now
#
# - a warning:

import warnings
warnings.warn("old")
print("UserWarning: old")
for number in range(3):
    print(number)

    if number:
        print()

# %%
# .. testoutput::
#
#    UserWarning: old
#    0
#    1
#    <BLANKLINE>
#    ...
#
# .. testwarning::
#
#    UserWarning: old
#
# The end
# -------
#
# .. note:: ``double`` is good.

silent = double(2)
'''
INDEX = "---\nlivedoctest: none\n---\n\n# Home\n\n```{toctree}\ntutorials/index\n```\n"


@pytest.fixture
def project(site, monkeypatch):
    """A project with one script, and what of it may change."""
    monkeypatch.delenv("CI", raising=False)

    def make(script: str = SCRIPT):
        made = site({"index.md": INDEX, "scripts/GALLERY_HEADER.rst": HEADER, "scripts/count.py": script}, conf=CONF)
        return made

    return make


def test_a_script_is_verified_where_it_stands(project):
    made = project().build("-W")
    assert made.status == 0, made.log
    page = next(page for page in made.report["pages"] if page["docname"] == "tutorials/count")
    assert page["source"] == "scripts/count.py"
    assert [(block["source"], block["status"]) for block in page["blocks"]] == [("scripts/count.py", "passed")] * 3
    starts = [SCRIPT[: SCRIPT.index(code)].count("\n") + 1 for code in ("def double", "import warnings", "silent")]
    assert [block["line"] for block in page["blocks"]] == starts
    html = made.html("tutorials/count")
    assert html.count("livedoctest-mark-passed") == 3
    assert "3 of 3 code blocks" in html
    assert "livedoctest-downloads" not in html


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("#    2\n", "#    3\n", 18),
        ("print(double(1))", "print(double(1)); 1 / 0", 11),
        ("#    1\n", "#    9\n", 38),
        ("#    UserWarning: old\n#\n", "#    UserWarning: new\n#\n", 44),
    ],
)
def test_a_failure_is_told_at_its_line_of_the_script(project, old, new, line):
    made = project(SCRIPT.replace(old, new)).build()
    assert made.status == 1
    assert re.findall(r"scripts/count\.py:(\d+): WARNING", made.log) == [str(line)], made.log
    assert "livedoctest accept" in made.log or "not possible" in made.log


@pytest.mark.parametrize("name", ["tutorials/count", "scripts/count.py", ""])
def test_outputs_are_accepted_in_the_script(project, monkeypatch, name, capsys):
    before = SCRIPT.replace("#    2\n", "#    two\n#\n#    three\n").replace("#    1\n", "")
    before = before.replace("silent = double(2)", "print(double(2))")
    made = project(before)
    monkeypatch.chdir(made.source)
    assert main(["accept", ".", *([name] if name else [])]) == 0, capsys.readouterr()
    after = SCRIPT.replace("silent = double(2)", "print(double(2))")
    after += "\n# %%\n# .. testoutput::\n#\n#    4\n"
    assert (made.source / "scripts/count.py").read_text() == after
    assert main(["accept", "."]) == 0
    assert "Nothing to accept" in capsys.readouterr().out
    assert made.build("-W").status == 0, made.log


def test_an_output_that_is_gone_is_taken_away(project, capsys):
    made = project(SCRIPT.replace("print(double(1))", "double(1)"))
    assert main(["accept", str(made.source)]) == 0, capsys.readouterr()
    expected = SCRIPT.replace("print(double(1))", "double(1)").replace("#\n# .. testoutput::\n#\n#    2\n", "")
    assert (made.source / "scripts/count.py").read_text() == expected


def test_downloads_run_and_hold_no_expected_outputs(project):
    made = project().build("-W")
    html = made.html("tutorials/count")
    files = dict(re.findall(r'href="\.\./(_downloads/[^"]*/(count\.\w+))"', html))
    paths = {name: made.out / path for path, name in files.items()}
    assert sorted(paths) == ["count.ipynb", "count.py", "count.zip"]
    run = subprocess.run([sys.executable, paths["count.py"]], capture_output=True, text=True, check=True)
    assert run.stdout == "2\nUserWarning: old\n0\n1\n\n2\n\n"
    notebook = paths["count.ipynb"].read_text()
    assert "testoutput" not in notebook
    assert "and now" in notebook
    assert any("silent = double(2)" in "".join(cell["source"]) for cell in json.loads(notebook)["cells"])
    with zipfile.ZipFile(paths["count.zip"]) as archive:
        assert archive.read("count.ipynb").decode() == notebook


def test_one_execution_serves_all_languages(project):
    """Texts of the script and of sphinx-gallery are translated as those of any page."""
    made = project()
    assert made.build(builder="gettext").status == 0, made.log
    catalog = polib.pofile(str(made.out / "tutorials.pot"))
    texts = [entry.msgid for entry in catalog]
    assert "We count things." in texts
    assert not any("GENERATED" in text for text in texts)
    for entry in catalog:
        entry.msgstr = f"«{entry.msgid}»" if "`" not in entry.msgid else entry.msgid
    folder = made.source / "locale/de/LC_MESSAGES"
    folder.mkdir(parents=True)
    catalog.save_as_mofile(str(folder / "tutorials.mo"))
    made.write("conf.py", (made.source / "conf.py").read_text() + "livedoctest_cache = '../cache'\n")
    assert made.build("-W", "-d", str(made.folder / "en")).status == 0, made.log
    assert not all(page["cached"] for page in made.report["pages"] if page["blocks"])
    stamp = (made.source / "tutorials/count.rst").stat().st_mtime_ns
    made.build("-W", "-d", str(made.folder / "de"), "-D", "language=de")
    assert made.status == 0, made.log
    assert "tutorials/count: 3 passed (stored)" in made.log
    assert "«We count things.»" in made.html("tutorials/count")
    assert (made.source / "tutorials/count.rst").stat().st_mtime_ns == stamp


OUTPUTS = [
    *[
        "a",
        "-",
        "---",
        "```",
        "# %%",
        "# x",
        ".. note::",
        ":x: y",
        "中文🙂",
        "a\n\nb",
        "a\n  b",
        "x" * 3000,
        "...",
        ">>> 1",
    ],
    *[
        "|",
        "\\",
        "**b**",
        "`a`_",
        "<b>",
        "a\n\n",
        "\n\na",
        ".. testoutput::\n\n   b",
        '"""',
        "=====",
        "a ::",
        "1. b",
        "####",
    ],
]


def test_accepting_any_output_changes_nothing_else(project, capsys):
    """As on pages: what is accepted verifies, and accepting again changes nothing."""
    cells = [
        f"print({output!r})\n\n# %%\n# .. testoutput::\n#\n#    old\n#\n# Text {number}.\n"
        for number, output in enumerate(OUTPUTS)
    ]
    made = project('"""\nTitle\n=====\n\nText.\n"""\n' + "\n".join(cells))
    script = made.source / "scripts/count.py"
    assert main(["accept", str(made.source)]) == 0, capsys.readouterr()
    after = script.read_text()
    assert [row for row in after.split("\n") if row.startswith(("print(", "# Text"))] == [
        row for cell in cells for row in cell.split("\n") if row.startswith(("print(", "# Text"))
    ]
    assert main(["accept", str(made.source)]) == 0
    assert "Nothing to accept" in capsys.readouterr().out
    assert script.read_text() == after


def test_an_output_that_a_script_cannot_show_is_refused(project, capsys):
    before = SCRIPT.replace("print(double(1))", "print('   x')")  # indented as a whole
    made = project(before)
    assert main(["accept", str(made.source)]) == 1
    assert "scripts/count.py:" in capsys.readouterr().out
    assert (made.source / "scripts/count.py").read_text() == before


def test_an_output_of_code_that_the_page_shows_in_part_is_refused(project, capsys):
    hidden = "# sphinx_gallery_start_ignore\nhidden = 1\n# sphinx_gallery_end_ignore\n"
    script = f'"""\nT\n=\n\nWords.\n"""\n\nx = 1\n{hidden}print(x)\n'
    made = project(script)
    assert main(["accept", str(made.source)]) == 1
    assert "line 9 of the source is not as it was read" in capsys.readouterr().out
    assert (made.source / "scripts/count.py").read_text() == script
