"""Run a notebook without a kernel: its code cells in order, in one namespace, which must raise where a cell says so."""

from __future__ import annotations

import ast
import json
import re
import sys
from pathlib import Path


def run(path: str) -> None:
    """Run the notebook in this process, as the module `__main__`; what a cell ends with is displayed."""
    names = vars(sys.modules["__main__"])
    names["display"] = sys.displayhook  # a notebook has it
    for number, cell in enumerate(json.loads(Path(path).read_text(encoding="utf-8"))["cells"]):
        if cell["cell_type"] != "code":
            continue
        raises = "raises-exception" in cell["metadata"].get("tags", [])
        try:
            run_cell("".join(cell["source"]), f"cell {number}", names)
        except BaseException as error:
            if not raises:
                raise
            print(f"{type(error).__name__}: {error}")
        else:
            assert not raises, f"{path}, cell {number}: raised nothing"


def run_cell(code: str, name: str, names: dict[str, object]) -> None:
    """Run a cell; the last expression is displayed, unless a semicolon follows."""
    tree = ast.parse(code)
    shown = tree.body and isinstance(tree.body[-1], ast.Expr) and not re.search(r";\s*(#.*)?$", code)
    last = tree.body.pop() if shown else None
    exec(compile(tree, name, "exec"), names)  # noqa: S102
    if isinstance(last, ast.Expr):
        exec(compile(ast.Interactive([last]), name, "single"), names)  # noqa: S102


if __name__ == "__main__":
    run(sys.argv[1])
