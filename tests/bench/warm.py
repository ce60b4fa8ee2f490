"""Run the code of pages, each page in a namespace of its own, one after the other in this process: `warm.py JSON [N]`.

With N only the first N blocks of each page run. Nothing is compared, nothing is captured, nothing is isolated.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import types
from pathlib import Path
from typing import Any


def run(unit: dict[str, Any], module: types.ModuleType) -> None:
    """Run one piece of a block."""
    if unit["mode"] == "shell":
        subprocess.run(["bash", "-c", unit["code"]], check=False)
    elif unit["mode"] == "file":
        Path(unit["name"]).parent.mkdir(parents=True, exist_ok=True)
        Path(unit["name"]).write_text(unit["code"])
    else:
        with contextlib.suppress(BaseException):  # pages show errors, too
            exec(compile(unit["code"], "page", unit["mode"]), vars(module))  # noqa: S102


def main() -> None:
    """Run all pages."""
    count = int(sys.argv[2]) if sys.argv[2:] else None
    for page in json.loads(Path(sys.argv[1]).read_text()):
        module = types.ModuleType("__main__")
        sys.modules["__main__"] = module
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            sys.path.insert(0, folder)  # in full: workers that are spawned would take "" as where this process began
            for block in page["blocks"][:count]:
                for unit in block["units"]:
                    run(unit, module)
            forget(folder)
            os.chdir("/")


def forget(folder: str) -> None:
    """Let the next page import files of its own, which may have the same names."""
    sys.path.remove(folder)
    for name, module in list(sys.modules.items()):
        if (getattr(module, "__file__", None) or "").startswith(folder):
            del sys.modules[name]


if __name__ == "__main__":
    main()
