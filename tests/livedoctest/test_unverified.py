"""Code that a parser takes for something else than a block stops the build, in both languages of pages."""

from __future__ import annotations

import re

import pytest

MARKDOWN = {
    "misspelt language": "```pyhton  HERE\nimport os\n```",
    "unknown language": "```jupyter  HERE\nimport os\n```",
    "language of Pygments that is Python": "```numpy  HERE\nx = 1\n```",
    "class of Pandoc": "```{.python}  HERE\nimport os\n```",
    "classes of Pandoc": "```{#name .python}  HERE\nimport os\n```",
    "no space behind the directive": "```{code-block}console  HERE\nls\n```",
    "indented": "Text\n\n    import os  HERE\n    os.getcwd()",
    "indented in an item": "- Text\n\n      import os  HERE\n      os.getcwd()",
    "LaTeX": "```{raw} latex  HERE\n\\begin{verbatim}\nimport os\n\\end{verbatim}\n```",
    "text in an island": "```{eval-rst}\nText:\n>>> 1  # HERE\n2\n```",
    "directive of a missing extension": "```{prompt} bash  HERE\nls\n```",
    "fence in an island": "```{eval-rst}\n~~~python  HERE\nimport os\n~~~\n```",
}
RESTRUCTURED = {
    "below text": "Text:\n>>> 1  # HERE\n2",
    "below text of an item": "* Text:\n  >>> 1  # HERE\n  2",
    "below text of a field": ":param x: words\n   >>> 1  # HERE\n   2",
    "no space": ">>>print(1)  # HERE\n1",
    "lines": "| >>> 1  # HERE\n| 2",
    "fence": "```python  HERE\nimport os\n```",
    "fence with a blank line": "~~~python  HERE\nimport os\n\nos.getcwd()\n~~~",
    "fence of ours": "~~~{testcode}  HERE\nprint(1)\n~~~",
    "no space behind dots": "..code-block:: python  HERE\n\n   print(1)",
    "directive of a missing extension": ".. prompt:: bash  HERE\n\n   ls",
    "directive below text": "Text\n.. code-block:: python  HERE\n\n   print(1)",
    "escape that Python warns of": "Program::\n\n   import re  HERE\n   re.sub('\\d', '', 'x')",
    "shell by a directive": ".. highlight:: bash\n\n::\n\n   ls HERE",
    "LaTeX": ".. raw:: latex\n   :class: HERE\n\n   \\begin{lstlisting}import os\\end{lstlisting}",
}
PASS = {"md": "# T\n\n```{doctest}\n>>> 41\n41\n```\n\n", "rst": "T\n=\n\n>>> 41\n41\n\n"}


def lines(built) -> list[int]:
    return [int(line) for line in re.findall(r"index\.\w+:(\d+): WARNING: .*\[livedoctest\.unverified\]", built.log)]


@pytest.mark.parametrize(
    ("suffix", "text"),
    [
        pytest.param(suffix, text, id=f"{suffix}: {name}")
        for suffix, cases in (("md", MARKDOWN), ("rst", RESTRUCTURED))
        for name, text in cases.items()
    ],
)
def test_code_that_no_parser_sees_stops_the_build_at_its_line(site, suffix, text):
    page = PASS[suffix] + text + "\n"
    at = next(number for number, row in enumerate(page.split("\n"), 1) if "HERE" in row)
    page = re.sub(r"(  #|  |\n   :class:| )? ?HERE", "", page)
    built = site({f"index.{suffix}": page}).build()
    assert built.status == 2, built.log
    assert lines(built) == [at - ("latex" in text and suffix == "rst")], built.log


@pytest.mark.parametrize(
    "html",
    [
        "<PRE>\nx = 1\n</PRE>",
        "<xmp>\nx = 1\n</xmp>",
        "<code>\nimport torch\nx = torch.ones(3)\n</code>",
        "<p><code class='py'>import torch<br/>x = 1</code></p>",
        "<div><CODE>  a = <b>1</b>\n  b = 2</CODE></div>",
        "<textarea>\n$ ls\n$ pwd\n</textarea>",
        "<p>&gt;&gt;&gt; 1</p>",
        "<div><code>&gt;&gt;&gt; 1 + 1</code></div>",
        "Some <code>>>> 1 + 1</code>",
        "Some <code>x = 1\ny = 2</code>",
        "```{raw} html\n<code>\nx = 1\ny = 2\n</code>\n```",
    ],
)
def test_code_in_html_stops_the_build(site, html):
    built = site({"index.md": PASS["md"] + html + "\n"}).build()
    assert lines(built) == [PASS["md"].count("\n") + 1], built.log


@pytest.mark.parametrize(
    "html",
    [
        "<p>Words <code>x = 1</code> and <kbd>$ ls</kbd></p>",
        "<table><tr><td><code>torch.nn\n.Module</code></td></tr></table>",
        "Some <code>torch.nn\n.Module</code> and <kbd>$ ls</kbd>",
        "<!-- <pre>x = 1</pre> -->",
    ],
)
def test_words_of_code_in_html_are_text(site, html):
    built = site({"index.md": PASS["md"] + html + "\n"}).build("-W")
    assert built.status == 0, built.log


@pytest.mark.parametrize("text", ["```none\nx = 1\n```", "    some words\n", "- ```none\n  x = 1\n  ```"])
def test_what_names_no_language_on_purpose_is_none_in_markdown(site, text):
    built = site({"index.md": PASS["md"] + text + "\n"}).build("-W")
    assert built.status == 0, built.log


def test_shell_as_the_language_of_all_blocks_stops_the_build(site):
    built = site({"index.rst": PASS["rst"] + "::\n\n   ls\n"}, conf="highlight_language = 'bash'\n").build()
    assert lines(built) == [9], built.log


@pytest.mark.parametrize(
    "text",
    [
        "``>>> 1``\n``.. code-block:: python`` and ``$ ls``",
        ".. highlight:: none\n\n::\n\n   x = 1",
        ".. code-block:: f#\n\n   x = 1",
        ">>>>>>> branch",
        "Rows::\n\n   " + "-" * 50_000 + "1",
        "Text\n.. image:: x.png",
        "..\n   >>> 1\n   2",
    ],
)
def test_what_is_meant_as_text_is_none(site, text):
    built = site({"index.rst": PASS["rst"] + text + "\n"}).build()
    assert built.status == 0, built.log


@pytest.mark.parametrize(
    ("suffix", "part", "line"),
    [
        ("md", "Text.\n\n```{doctests}\n>>> 1\n2\n```\n", 3),
        ("md", "Text.\n\n```{image} x.png\n~~~{doctest}\n>>> 1\n2\n~~~\n```\n", 4),
        ("md", "Text.\n\n```{nothing}\nimport os\n```\n", 3),
        ("rst", "Text.\n\n.. testcode: x\n\n   import os\n", 3),
        ("rst", ">>> 1\n1\n\n.. testcode: x\n\n   import os\n", 4),
    ],
)
def test_what_is_dropped_from_an_included_file_is_named_there(site, suffix, part, line):
    include = {"md": "```{include} part.txt\n```\n", "rst": ".. include:: part.txt\n"}[suffix]
    built = site({f"index.{suffix}": PASS[suffix] + include, "part.txt": part}).build()
    assert built.status == 2, built.log
    assert re.findall(r"part\.txt:(\d+): WARNING: .*\[livedoctest\.", built.log) == [str(line)], built.log


def test_what_a_page_does_not_include_of_a_file_is_no_part_of_it(site):
    part = "```{doctest}\n>>> 1\n2\n```\n\nHere.\n\nText.\n"
    page = PASS["md"] + "```{include} part.txt\n:start-after: Here.\n```\n\n```{literalinclude} rows.txt\n```\n"
    built = site({"index.md": page, "part.txt": part, "rows.txt": ".. doctests::\n"}).build("-W")
    assert built.status == 0, built.log
