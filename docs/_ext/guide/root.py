"""Write what stands above the two languages: `python -m guide.root FOLDER`, the folder of the built site."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from string import Template
from urllib.parse import urlsplit

from guide import ADDRESS

TEMPLATES = Path(__file__).parents[2] / "_templates"


def write_root(folder: Path, address: str) -> None:
    """Write `index.html`, which chooses the language, and `404.html`, which may be shown at any depth.

    Under a known `address` also `robots.txt`, which names the site maps.
    """
    shutil.copyfile(TEMPLATES / "root.html", folder / "index.html")
    page = Template((TEMPLATES / "404.html").read_text(encoding="utf-8"))
    (folder / "404.html").write_text(page.substitute(base=f"{urlsplit(address).path}/"), encoding="utf-8")
    if address:
        maps = [f"Sitemap: {address}/{path.relative_to(folder)}\n" for path in sorted(folder.glob("*/sitemap.xml"))]
        (folder / "robots.txt").write_text("".join(["User-agent: *\nAllow: /\n", *maps]), encoding="utf-8")


if __name__ == "__main__":
    write_root(Path(sys.argv[1]), ADDRESS)
