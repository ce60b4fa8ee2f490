"""Check the English of pages with Harper, an offline grammar checker: `python tests/lint/prose.py PAGE …`.

`prose.toml` has the words that it does not know and the rules that do not suit the guide.
Prints one line a fault, and exits with status 1 if there is any.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path

SETTINGS = Path(__file__).with_name("prose.toml")


def main(pages: Sequence[str]) -> int:
    """Print the faults of all pages and return the exit status."""
    faults = list(check(pages))
    print(*faults, sep="\n")
    print(f"{len(faults)} faults in the English of {len(pages)} pages; words and rules: {SETTINGS.name}")
    return 1 if faults else 0


def check(pages: Sequence[str], settings: Path = SETTINGS) -> Iterator[str]:
    """Every fault, as `file:line:column: what is wrong (Rule)`.

    Raises FileNotFoundError for a page that is not there, RuntimeError if Harper fails or does not have such a rule.
    """
    if missing := [page for page in pages if not Path(page).is_file()]:
        raise FileNotFoundError(f"no such page: {', '.join(missing)}")  # Harper would check the name itself
    known = tomllib.loads(settings.read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as folder:
        words = Path(folder, "words.txt")
        words.write_text("".join(f"{word}\n" for word in known["words"]), encoding="utf-8")
        options = ["--format", "json", "--dialect", "uk", "--user-dict-path", str(words)]
        options += [option for rule in known["off"] for option in ("--ignore", rule)]
        command = [sys.executable, "-m", "harper", "lint", "--quiet", "--no-color", *options, *pages]
        answer = subprocess.run(command, capture_output=True, text=True)
    if unknown := re.findall("unknown rule '(.*)'", answer.stderr):
        raise RuntimeError(f"{settings}: Harper has no rule {', '.join(unknown)}")
    try:
        found = json.loads(answer.stdout)
    except ValueError:
        raise RuntimeError(f"Harper failed: {answer.stderr or answer.stdout}") from None
    for page, result in zip(pages, found, strict=True):  # in this order; results name files without their folder
        for fault in result["lints"]:
            advice = "".join(f" {each}." for each in fault["suggestions"][:1])
            where = f"{page}:{fault['line']}:{fault['column']}"
            yield f"{where}: {fault['matched_text']!r}: {fault['message']}{advice} ({fault['rule']})"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
