"""Replace a file so that at any moment it is whole: the old one or the new one."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path


def replace(path: Path, content: bytes) -> None:
    """Write `content` to `path`; its mode stays. Whatever ends this midway leaves the old file, or none."""
    descriptor, fresh = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".new")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(descriptor)
        if path.exists():
            shutil.copymode(path, fresh)
        else:
            Path(fresh).chmod(0o644)
        os.replace(fresh, path)
    except BaseException:
        Path(fresh).unlink(missing_ok=True)
        raise
