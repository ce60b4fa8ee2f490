"""Score pages of the built site: `python tests/bench/lighthouse.py FOLDER`, where npm has installed Lighthouse.

Fails if a score is below the limit. Lighthouse simulates a slow phone; a busy machine makes the performance worse and
nothing makes it better, so the best of a few runs counts.
"""

from __future__ import annotations

import gzip
import io
import json
import os
import subprocess
import sys
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

HTML = Path(__file__).parents[2] / "build" / "html"
PAGES = ("index", "features/nesting")
LANGUAGES = ("en", "zh_CN")
CATEGORIES = ("performance", "accessibility", "best-practices", "seo")
LIMIT = 95
RUNS = 5
CHROMIUM = "--headless --no-sandbox --disable-gpu --disable-background-networking --disable-component-update"


TEXT = (".html", ".css", ".js", ".svg")


class Host(SimpleHTTPRequestHandler):
    """Serves files as hosts of documentation do: texts compressed, connections kept."""

    protocol_version = "HTTP/1.1"

    def send_head(self) -> Any:
        path = Path(self.translate_path(self.path))
        if path.suffix not in TEXT or not path.is_file():
            return super().send_head()
        body = gzip.compress(path.read_bytes())
        self.send_response(200)
        self.send_header("Content-Type", self.guess_type(path))
        self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        return io.BytesIO(body)

    def log_message(self, *arguments: Any) -> None:
        pass


def main(folder: Path) -> int:
    """Print a table of scores and what costs points, and return the exit status."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Host, directory=str(HTML)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    low = False
    print(f"{'page':<26}" + "".join(f"{name:>16}" for name in CATEGORIES))
    for page in (f"{language}/{name}.html" for language in LANGUAGES for name in PAGES):
        scores, lost = best(folder, f"http://127.0.0.1:{server.server_port}/{page}")
        print(f"{page:<26}" + "".join(f"{score:>16}" for score in scores), *lost, sep="\n    ")
        low = low or min(scores) < LIMIT
    server.shutdown()
    return 1 if low else 0


def best(folder: Path, address: str) -> tuple[list[int], list[str]]:
    """The scores of the best run, and the audits that cost it points."""
    found: list[tuple[list[int], list[str]]] = []
    while len(found) < RUNS and (not found or min(found[-1][0]) < LIMIT):
        found.append(score(folder, address))
    return max(found, key=lambda each: sum(each[0]))


def score(folder: Path, address: str) -> tuple[list[int], list[str]]:
    """The scores of one run in per cent, and the audits that cost it points."""
    program = folder / "node_modules" / "lighthouse" / "cli" / "index.js"
    options = [f"--only-categories={','.join(CATEGORIES)}", f"--chrome-flags={CHROMIUM}", "--output=json", "--quiet"]
    environment = {"CHROME_PATH": "/usr/bin/chromium", **os.environ}
    command = ["node", str(program), address, *options]
    report = json.loads(subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE).stdout)
    audits = report["audits"]
    lost = [
        f"{name}: {audits[each['id']]['title']} {audits[each['id']].get('displayValue', '')}"
        for name in CATEGORIES
        for each in report["categories"][name]["auditRefs"]
        if each["weight"] and (audits[each["id"]]["score"] or 0) < 0.9
        if audits[each["id"]]["scoreDisplayMode"] not in ("notApplicable", "manual", "informative")
    ]
    return [round(report["categories"][name]["score"] * 100) for name in CATEGORIES], lost


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
