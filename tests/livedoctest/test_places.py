"""A failure is reported at its line, wherever in a page, a table or a docstring its block stands."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest


def reported(built, name: str = r"index\.rst") -> list[int]:
    return sorted(int(line) for line in re.findall(rf"{name}:(\d+): WARNING: \w+: the output differs", built.log))


def lines_with(text: str, what: str = ">>> 1") -> list[int]:
    return [number for number, row in enumerate(text.split("\n"), 1) if what in row]


EQUAL = """T
=

.. doctest::

   >>> 1
   2

>>> 1
2

.. note::

   >>> 1
   2

* item

  >>> 1
  2

term
   .. doctest::

      >>> 1
      2

.. seealso:: >>> 1

.. pull-quote::

   >>> 1
   2

.. include:: part.rst
"""


def test_equal_examples_each_have_their_line(site):
    part = "Text.\n\n>>> 1\n2\n\n.. doctest::\n\n   >>> 1\n   2\n"
    built = site({"index.rst": EQUAL, "part.rst": part}, conf="exclude_patterns = ['part.rst']\n").build()
    assert reported(built) == lines_with(EQUAL)
    assert reported(built, r"part\.rst") == lines_with(part)


TABLES = """T
=

.. list-table::

   * - .. doctest::

          >>> 1
          2
     - >>> 1
       2

+------------------+---+
| .. doctest::     | b |
|                  |   |
|    >>> 1         |   |
|    2             |   |
+------------------+---+
| >>> 1            | d |
| 2                |   |
+------------------+---+
"""


def test_examples_in_tables_have_their_line(site):
    assert reported(site({"index.rst": TABLES}).build()) == lines_with(TABLES)


def test_tabs_do_not_hide_the_line(site):
    page = "T\n=\n\n* a\n\n\t.. doctest::\n\n\t\t>>> 1\n\t\t2\n\n\t.. testcode::\n\n\t\tx = 'a\tb'\n\n\t>>> 1\n\t2\n"
    built = site({"index.rst": page}).build()
    assert reported(built) == lines_with(page)
    assert [block["line"] for block in built.blocks()] == [8, 13, 15]


MODULE = '''
"""Of the module.

>>> 1
2
"""


class Thing:
    """
    Of the class.

    .. doctest::

       >>> 1
       2
    """

    def method(self):
        """Of the method.

        >>> 1
        2
        """

    @property
    def value(self):
        r"""Of the property.

        >>> 1
        2
        """


if True:

    async def function():
        """Of the function.

        >>> 1
        2
        """
'''


def test_examples_in_docstrings_have_their_line(site, tmp_path, monkeypatch):
    (tmp_path / "placed_module.py").write_text(MODULE)
    monkeypatch.syspath_prepend(str(tmp_path))
    page = "T\n=\n\n.. automodule:: placed_module\n   :members:\n"
    built = site({"index.rst": page}, conf="extensions.append('sphinx.ext.autodoc')\n").build()
    assert reported(built, r"placed_module\.py") == lines_with(MODULE)


NESTED = '''"""Module.

Example:
    >>> 1
    2
"""


def one(x):
    """Do it.

    Args:
        x: words, as in

            >>> 1
            2

            More.

            >>> 1
            2

    Returns:
        int: words

        >>> 1
        2
    """


class Thing:
    """Do.

    Parameters
    ----------
    x : int
        Words.

        >>> 1
        2

    Examples
    --------
    >>> 1
    2

    * item

      >>> 1
      2

      * item

        .. doctest::

           >>> 1
           2

    .. note::

       >>> 1
       2
    """

    a = 1
    """Words.

    * item

      >>> 1
      2
    """
    #: Words.
    #:
    #: >>> 1
    #: 2
    b: int = 2

    def method(self):
        """Words.

        * item

          >>> 1
          2
        """
'''


@pytest.mark.filterwarnings("ignore:The mapping interface for autodoc")  # napoleon's own
@pytest.mark.parametrize("extensions", ["'sphinx.ext.autodoc'", "'sphinx.ext.autodoc', 'sphinx.ext.napoleon'"])
@pytest.mark.parametrize("suffix", ["rst", "md"])
def test_nested_examples_in_docstrings_have_their_line(site, tmp_path, monkeypatch, extensions, suffix):
    name = f"nested_module_{suffix}_{len(extensions)}"
    (tmp_path / f"{name}.py").write_text(NESTED)
    monkeypatch.syspath_prepend(str(tmp_path))
    directive = f".. automodule:: {name}\n   :members:\n"
    page = {"rst": f"T\n=\n\n{directive}", "md": f"# T\n\n```{{eval-rst}}\n{directive}```\n"}[suffix]
    built = site({f"index.{suffix}": page}, conf=f"extensions += [{extensions}]\n").build()
    assert reported(built, rf"{name}\.py") == lines_with(NESTED)
    assert reported(built, r"index\.\w+") == []


CELLS = """T
=

.. csv-table::

   x, ">>> 1
   2"
   y, "Text.

   .. doctest::

      >>> 1
      2
   "
   z, ">>> 1
   2"

.. csv-table::
   :file: cells.csv

* a

  .. list-table::

     * - >>> 1
         2
       - * x

           >>> 1
           2

           >>> 1
           2
"""


def test_examples_in_cells_have_their_line(site):
    cells = 'x,">>> 1\n2"\ny,a\nz,"Text.\n\n>>> 1\n2"\n'
    built = site({"index.rst": CELLS, "cells.csv": cells}).build()
    assert reported(built) == lines_with(CELLS)
    assert reported(built, r"cells\.csv") == lines_with(cells)


NO_FILE = """
import sys, types
rst_epilog = "Text.\\n\\n>>> 1\\n2\\n"
extensions.append("sphinx.ext.autodoc")
sys.modules["made"] = types.ModuleType("made", "Words.\\n\\n>>> 1\\n2\\n")
"""


def test_what_stands_in_no_file_is_named_and_never_written(site):
    built = site({"index.rst": "T\n=\n\n.. automodule:: made\n"}, conf=NO_FILE).build()
    assert built.status == 1, built.log
    assert reported(built, "docstring of made") == [3]
    assert reported(built, "<rst_epilogue>") == [3]
    assert "\nTraceback" not in built.log
    env = {**os.environ}
    env.pop("CI", None)
    command = [sys.executable, "-m", "livedoctest", "accept", str(built.source)]
    run = subprocess.run(command, env=env, capture_output=True, text=True)
    assert run.returncode == 1, run.stderr
    assert "<rst_epilogue>:3: doctest: the output differs; line 3" in run.stdout


def test_docstrings_are_never_written(site, tmp_path):
    made = site({"index.rst": "T\n=\n\n.. automodule:: kept_module\n"})
    (tmp_path / "kept_module.py").write_text('"""Words.\n\n.. doctest::\n\n   >>> 1\n   2\n"""\n')
    command = [sys.executable, "-m", "livedoctest", "accept", str(made.source)]
    options = ["-D", "extensions=livedoctest,sphinx.ext.autodoc"]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])}
    env.pop("CI", None)
    run = subprocess.run([*command, *options], env=env, capture_output=True, text=True)
    assert run.returncode == 1, run.stderr
    assert (
        "kept_module.py:5: doctest: the output differs; it stands in a docstring, which is never written" in run.stdout
    )
