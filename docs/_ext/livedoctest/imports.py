"""The modules that a page imports and that no installed distribution holds: its results depend on their files."""

from __future__ import annotations

import sys
import sysconfig
from pathlib import Path
from types import ModuleType

# of Python itself, and of distributions, whose versions tell what is in them; this extension has a key of its own
KNOWN = (*(sysconfig.get_paths()[name] for name in ("stdlib", "platstdlib")), str(Path(__file__).parent))
INSTALLED = ("/site-packages/", "/dist-packages/")


def local_files(folder: Path) -> list[str]:
    """The files of the modules that this process has imported, without those in a page's folder."""
    # from their dictionaries: to ask a module itself may run code of it
    names = (vars(each).get("__file__") for each in list(sys.modules.values()) if isinstance(each, ModuleType))
    skipped = (*(f"{path}/" for path in KNOWN), f"{folder}/")
    found = {name for name in names if isinstance(name, str) and name.startswith("/")}
    return sorted(name for name in found if not (name.startswith(skipped) or any(part in name for part in INSTALLED)))
