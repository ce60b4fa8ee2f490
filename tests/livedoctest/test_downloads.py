"""The script and the notebook of a page: they run without it, and do what it does."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from html import unescape
from pathlib import Path
from urllib.parse import unquote

import nbformat
import notebooks
import pytest

PAGE = '''# Take it *away*

Text with `code`, a [link](https://example.org) and 2 \\* 3.

```{testcode}
print(late)
```

```{testoutput}
1
```

```{testsetup}
late = 1
```

:::{note}
- In a list:

  ```{doctest}
  >>> text = """
  ... a
  ...   b"""
  >>> text  # doctest: +ELLIPSIS
  '\\na\\n  b'
  >>> 1, 2
  (1, 2)
  >>> (3
  ...  + 4)
  7
  >>> None
  >>> print("printed")
  printed
  >>> 5; 6
  5
  6
  >>> for i in range(2):
  ...     if i:
  ...         "in"
  ...     else:
  ...         i
  ...
  0
  'in'
  >>> raise ValueError("""one
  ... two""")
  Traceback (most recent call last):
      ...
  ValueError: one
  two
  >>> class Own(Exception): pass
  >>> raise Own("x")
  Traceback (most recent call last):
      ...
  Own: x
  >>> 1 +
  Traceback (most recent call last):
      ...
  SyntaxError: invalid syntax
  >>> "after"
  'after'
  ```
:::

```{testcode}
values = [1, 2]
values.pop(
    0
)  # the value of a program's last line is not printed
```

```{testcode}
from __future__ import annotations
before = 1
raise SystemExit(before)
```

```{testoutput}
Traceback (most recent call last):
    ...
SystemExit: 1
```

```{testfile} sub/part.py
TEXT = """quoted "and" \\t"""
```

```{testconsole}
$ export WORD=hi
$ echo $WORD \\
> there
hi there
$ cat sub/part.py
TEXT = """quoted "and" \\t"""
$ exit 3
[status 3]
$ echo "it's"
it's
```

```{doctest}
>>> import sub.part
>>> sub.part.TEXT
'quoted "and" \\t'
```

```{doctest}
:requires: hardware

>>> 1 / 0
```

```{testcode}
:requires: python>=3

met = True
```

```{testconsole}
:norun: It *would* remove everything.

$ rm -r .
```

| a | b |
| - | - |
| 1 | 2 |

```{testcleanup}
open("clean", "w").close()
```
'''
PRINTED = """1
'\\na\\n  b'
(1, 2)
7
printed
5
6
0
'in'
ValueError: one
two
Own: x
'after'
SystemExit: 1
hi there
TEXT = \"""quoted "and" \\t\"""
it's
'quoted "and" \\t'
"""


@pytest.fixture(scope="module")
def built(tmp_path_factory, request):
    """The page, built once in each language."""
    from conftest import CONF, Site

    made = Site(tmp_path_factory.mktemp("downloads"))
    made.write("conf.py", CONF)
    made.write("index.md", PAGE)
    for language in ("zh_CN", "en"):
        assert (
            made.build(
                "-D", f"language={language}", "-D", "html_search_language=en", "-d", str(made.folder / language)
            ).status
            == 0
        ), made.log
        made.out.rename(made.folder / f"out-{language}")
    return made


def download(built, suffix: str, language: str = "en") -> Path:
    return built.folder / f"out-{language}" / "_downloads" / f"index{suffix}"


def printed(*command: str, folder: Path) -> str:
    run = subprocess.run([sys.executable, "-u", *command], cwd=folder, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return run.stdout


def test_the_script_prints_what_the_page_shows(built, tmp_path):
    assert printed(str(download(built, ".py")), folder=tmp_path) == PRINTED
    assert (tmp_path / "clean").exists()


def test_the_notebook_prints_what_the_page_shows(built, tmp_path):
    said = printed(notebooks.__file__, str(download(built, ".ipynb")), folder=tmp_path)
    assert re.sub(r"SyntaxError: .*\n", "", said) == PRINTED  # in a script it is a comment


def test_the_notebook_is_valid(built):
    content = nbformat.read(download(built, ".ipynb"), as_version=4)
    nbformat.validate(content)
    tags = [cell.metadata.get("tags") for cell in content.cells if cell.cell_type == "code"]
    assert tags.count(["raises-exception"]) == 4


def test_blocks_that_did_not_run_are_comments_below_their_reason(built):
    script = download(built, ".py").read_text()
    assert "# Not run here: needs live hardware\n\n# %%\n# >>> 1 / 0\n" in script
    assert "# Not run here: It *would* remove everything.\n\n# %%\n# $ rm -r .\n" in script


def test_blocks_that_ran_say_what_they_need(built):
    assert "# The next block needs python>=3.\n\n# %%\nmet = True\n" in download(built, ".py").read_text()


def test_text_is_that_of_the_page(built):
    cells = json.loads(download(built, ".ipynb").read_text())["cells"]
    text = "\n\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
    assert "# Take it *away*\n\nText with `code`, a [link](https://example.org) and 2 \\* 3." in text
    assert "| a | b |\n| --- | --- |\n| 1 | 2 |" in text
    assert "doctest:" not in download(built, ".py").read_text()


def test_both_languages_have_the_same_code(built):
    scripts = [ast.dump(ast.parse(download(built, ".py", each).read_text())) for each in ("en", "zh_CN")]
    assert scripts[0] == scripts[1]
    assert "此处未运行：需要真实硬件" in download(built, ".py", "zh_CN").read_text()


@pytest.mark.parametrize(("language", "word"), [("en", "script"), ("zh_CN", "脚本")])
def test_the_page_links_them(built, language, word):
    html = (built.folder / f"out-{language}" / "index.html").read_text()
    assert f'<a href="_downloads/index.py" download>{word}</a>' in html
    assert html.index("<h1>") < html.index("livedoctest-downloads") < html.index("Text with")


@pytest.mark.parametrize("builder", ["dirhtml", "singlehtml", "latex", "text"])
def test_other_builders(site, builder):
    page = "# T\n\n```{doctest}\n>>> 1\n1\n```\n"
    made = site({"index.md": page + "\n```{toctree}\nsub/b\n```\n", "sub/b.md": page}).build("-W", builder=builder)
    assert made.status == 0, made.log
    assert (made.out / "_downloads/sub/b.ipynb").is_file() == (builder == "dirhtml")
    if builder == "dirhtml":
        html = (made.out / "sub/b/index.html").read_text()
        assert '<a href="../../_downloads/sub/b.py" download>' in html


@pytest.mark.parametrize("builder", ["html", "dirhtml"])
@pytest.mark.parametrize("name", ["a b/my page", "页面", 'it\'s "quoted"', "50%25 & more #1"])
def test_names_with_any_characters(site, builder, name):
    made = site(
        {"index.md": "# T\n\n```{doctest}\n>>> 1\n1\n```\n", f"{name}.md": "# T\n\n```{doctest}\n>>> 1\n1\n```\n"}
    )
    assert made.build(builder=builder).status == 0, made.log
    page = made.out / (f"{name}.html" if builder == "html" else f"{name}/index.html")
    links = re.findall(r'<a href="([^"]*)" download>', page.read_text())
    assert [Path(page.parent, unquote(unescape(link))).resolve() for link in links] == [
        (made.out / "_downloads" / f"{name}{suffix}").resolve() for suffix in (".py", ".ipynb")
    ]


def test_pages_without_blocks_have_none(site):
    made = site(index="---\nlivedoctest: none\n---\n\n# T\n").build()
    assert made.status == 0, made.log
    assert "livedoctest-downloads" not in made.html()


def test_worker_processes_do_not_run_the_script_again(site, tmp_path):
    page = (
        "# T\n\n```{testfile} work.py\ndef double(x):\n    return 2 * x\n```\n\n"
        "```{testcode}\nimport multiprocessing\nfrom work import double\n\n"
        'with multiprocessing.get_context("spawn").Pool(1) as pool:\n    print(pool.map(double, [1, 2]))\n```\n\n'
        "```{testoutput}\n[2, 4]\n```\n"
    )
    made = site(index=page).build("-W")
    assert made.status == 0, made.log
    assert printed(str(made.out / "_downloads/index.py"), folder=tmp_path) == "[2, 4]\n"
