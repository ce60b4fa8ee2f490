"""A live device, played by a module: cards are dealt to pages, and processes start as the device allows.

Nothing here is a record of hardware; the device's name says so.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from running import block, events, page

from livedoctest import workshop
from livedoctest.device import Device

# Pages see the cards that are visible to them; the device works only in the process that imported it, if it says so.
MODULE = """
import os
IMPORTER = os.getpid()

def cards():
    return os.environ.get("ASCEND_RT_VISIBLE_DEVICES", "4,5,6").split(",")

def start():
    if FORK_FAILS and os.getpid() != IMPORTER:
        raise RuntimeError("Cannot re-initialize NPU in forked subprocess")
    return len(cards())
"""
PROBE = "import fakenpu\nassert fakenpu.start() == 1"


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Make the device: `fake(fork_fails)`; builds then find it."""

    def make(fork_fails: bool) -> dict[str, str]:
        (tmp_path / "modules").mkdir()
        (tmp_path / "modules" / "fakenpu.py").write_text(f"FORK_FAILS = {fork_fails}\n{MODULE}")
        path = os.pathsep.join(filter(None, [str(tmp_path / "modules"), os.environ.get("PYTHONPATH")]))
        environment = {"PYTHONPATH": path}
        device = Device(
            "hardware", "a fake for tests", 3, {"python": "3.11.0", "cann": "9.1.0", "driver": "1"}, environment,
            preload=("fakenpu",), cards=("4", "5", "6"), probe=PROBE,
        )  # fmt: skip
        monkeypatch.setattr(workshop, "detect", lambda wanted: device)
        return environment

    return make


CARDS = """# Cards

```{doctest}
:requires: hardware

>>> import fakenpu, os
>>> fakenpu.start() == len(fakenpu.cards())
True
```

```{testcode}
import pathlib, time
folder = pathlib.Path(FOLDER)
for card in fakenpu.cards():
    (folder / f"card{card}").mkdir()
time.sleep(0.2)
for card in fakenpu.cards():
    (folder / f"card{card}").rmdir()
(folder / f"COUNT-of-NAME").write_text(",".join(fakenpu.cards()))
```
"""


@pytest.mark.parametrize("fork_fails", [False, True])
def test_each_page_has_cards_of_its_own(site, fake, tmp_path, fork_fails):
    fake(fork_fails)
    text = CARDS.replace("FOLDER", repr(str(tmp_path)))
    pages = {f"{name}.md": text.replace("NAME", name).replace("COUNT", "1") for name in ("index", "b", "d")}
    two = text.replace("requires: hardware", "requires: npu>=2 and hardware").replace("COUNT", "2")
    built = site({**pages, "c.md": two.replace("NAME", "c"), "e.md": two.replace("NAME", "e")}).build()
    assert built.status == 0, built.log
    assert built.report["totals"]["passed"] == 10
    assert built.report["device"]["name"] == "a fake for tests"
    dealt = {path.name: path.read_text().split(",") for path in tmp_path.glob("*-of-*")}
    assert {name: len(cards) for name, cards in dealt.items()} == {
        "1-of-index": 1, "1-of-b": 1, "1-of-d": 1, "2-of-c": 2, "2-of-e": 2,
    }  # fmt: skip
    assert {card for cards in dealt.values() for card in cards} <= {"4", "5", "6"}
    assert ("cannot be initialised after a fork" in built.log) == fork_fails


def test_a_page_in_a_new_interpreter_is_watched_like_any_other(fake):
    options = {"env": fake(True), "preload": ["fakenpu"], "cards": ["4"], "probe": PROBE}
    pages = [
        page("import fakenpu, sys\nprint(__name__, fakenpu.start(), sys.argv)"),
        page(block("print('so far')\nx = 1\nwhile x: pass", line=5, timeout=1), "x", docname="hang"),
        page(block("import ctypes\nctypes.string_at(0)", line=5), docname="crash"),
        page(block("import warnings\nwarnings.warn('a')\n1 / 0", line=5), docname="error"),
    ]
    found = {
        (event["docname"], event["block"]): event["result"] for event in events(*pages, **options) if "block" in event
    }
    assert found["page", 0]["units"][0]["output"] == "__main__ 1 ['']\n"
    assert (found["hang", 0]["fault"]["kind"], found["hang", 0]["fault"]["line"]) == ("timeout", 7)
    assert found["hang", 0]["units"][-1]["output"] == "so far\n"
    assert found["hang", 1]["fault"]["kind"] == "lost"
    assert (found["crash", 0]["fault"]["kind"], found["crash", 0]["fault"]["line"]) == ("died", 6)
    assert found["error", 0]["units"][0]["exception"]["line"] == 7
    assert [each["text"] for each in found["error", 0]["warnings"]] == ["a"]


def test_a_module_that_a_new_interpreter_cannot_import_fails_its_page(fake, tmp_path):
    env = fake(True)
    (tmp_path / "modules" / "fakenpu.py").write_text(
        "import os\nif 'ASCEND_RT_VISIBLE_DEVICES' in os.environ:\n    raise ImportError('no card')\n"
        f"FORK_FAILS = True\n{MODULE}"
    )
    [event, _] = events(page("x"), env=env, preload=["fakenpu"], cards=["4"], probe=PROBE)
    assert "exit status 70" in event["result"]["fault"]["text"]
    assert "ImportError: no card" in event["result"]["log"]


def test_a_probe_that_ends_badly_means_no_fork(fake):
    logs: list[str] = []
    options = {"env": fake(False), "preload": [], "cards": ["4"], "probe": "raise SystemExit(1)", "log": logs.append}
    [event, _] = events(page("print(1)"), **options)
    assert event["result"]["units"][0]["output"] == "1\n"
    assert "cannot be initialised after a fork" in "".join(logs)
