"""The reference page against what was measured."""

import json
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
ROWS = {"in all": "rows", "agree": "agrees", "differ": "differs", "have no sample": "no_sample"}


def test_the_page_shows_the_measured_agreement():
    page = (ROOT / "docs" / "reference" / "npusim.md").read_text(encoding="utf-8")
    measured = json.loads((ROOT / "tests" / "conformance" / "result.json").read_text(encoding="utf-8"))
    shown = dict(re.findall(rf"^\| ({'|'.join(ROWS)}) \| ([\d,]+) \|$", page, re.MULTILINE))
    assert shown == {name: f"{measured[key]:,}" for name, key in ROWS.items()}
    assert measured["crashed"] == 0
