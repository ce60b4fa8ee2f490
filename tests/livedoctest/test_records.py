"""Records of live hardware. There is none here: a device class of this test stands for it, and says so in its name."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from bs4 import BeautifulSoup

from livedoctest import workshop
from livedoctest.__main__ import main
from livedoctest.device import Device, DeviceError

PAGE = """# A page

```{doctest}
>>> 1 + 1
2
>>> object()
<object object at 0x...>
```

```{doctest}
:requires: simulated

>>> 1 / 0
```
"""
OVERVIEW = "---\nlivedoctest: none\n---\n\n# Overview\n\n```{livedoctest-overview}\n```\n\n```{toctree}\na/page\n```\n"
CONF = "livedoctest_records = 'records'\n"
NAME = "NPU of a test"
VERSIONS = {"python": "3.11.0", "cann": "9.1.0", "torch": "2.13.0", "torch_npu": None, "tensordict": None}


class DeviceOfATest(Device):
    """A live device that does not exist."""

    def __init__(self, name: str = NAME) -> None:
        super().__init__("hardware", name, 1, VERSIONS)


@pytest.fixture
def project(site, monkeypatch):
    """A project whose commands find the device of this test if they ask for hardware."""

    def detect(wanted: str) -> Device:
        return DeviceOfATest() if wanted == "hardware" else Device("none", versions=VERSIONS)

    monkeypatch.setattr(workshop, "detect", detect)
    return site({"index.md": OVERVIEW, "a/page.md": PAGE}, conf=CONF)


def file(made) -> Path:
    return made.source / "records" / NAME / "a/page.json"


def test_a_run_on_hardware_is_recorded(project, capsys):
    assert main(["record", str(project.source)]) == 0, capsys.readouterr()
    assert f"a/page: recorded for {NAME}" in capsys.readouterr().out
    content = json.loads(file(project).read_text())
    assert content["device"] == NAME
    assert content["versions"] == VERSIONS
    first, second = content["blocks"]
    assert first["status"] == "passed"
    assert first["text"] == "2\n<object object at 0x…>\n"  # not, letter for letter, what the page expects
    assert (second["status"], "output" in second) == ("skipped", False)


def test_a_run_that_differs_in_its_date_only_leaves_the_file_alone(project, capsys):
    main(["record", str(project.source)])
    text = file(project).read_text().replace('"date": "2', '"date": "1')
    file(project).write_text(text)
    main(["record", str(project.source)])
    assert f"a/page: recorded before for {NAME}" in capsys.readouterr().out
    assert file(project).read_text() == text
    project.write("a/page.md", PAGE.replace("1 + 1", "3 - 1"))
    main(["record", str(project.source)])
    assert '"date": "2' in file(project).read_text()


def test_a_page_that_fails_is_not_recorded(project, capsys):
    project.write("a/page.md", PAGE.replace("1 + 1", "3"))
    assert main(["record", str(project.source)]) == 1
    assert "a/page.md:4" in capsys.readouterr().err
    assert not file(project).exists()


@pytest.mark.parametrize(
    ("language", "words"), [("en", ["Live hardware: ", "has changed since"]), ("zh_CN", ["真实硬件：", "代码有改动"])]
)
def test_pages_and_overview_show_records_and_which_are_stale(project, language, words):
    options = ["-W", "-D", f"language={language}", "-D", "html_search_language=en"]
    assert project.build(*options).status == 0, project.log
    assert words[0] not in project.html("a/page")
    assert NAME not in project.html()
    main(["record", str(project.source)])
    assert project.build(*options).status == 0, project.log  # no page has changed
    assert words[0] in project.html("a/page")
    assert words[1] not in project.html("a/page")
    assert NAME in project.html()
    assert '<a class="reference internal" href="a/page.html">A page</a>' in project.html()
    project.write("a/page.md", PAGE.replace("1 + 1", "3 - 1"))
    assert project.build(*options).status == 0, project.log
    assert words[1] in project.html("a/page")


def test_the_overview_follows_the_outcomes(project):
    project.build()
    assert "1 verified, 1 not run here" in project.html()
    stamp = (project.out / "index.html").stat().st_mtime_ns
    project.build()
    assert (project.out / "index.html").stat().st_mtime_ns == stamp
    project.write("a/page.md", PAGE.replace("1 + 1", "3"))
    project.build()
    assert "1 failed, 1 not run here" in project.html()


def test_a_landing_page_has_the_facts_without_the_matrix(project):
    project.write("index.md", OVERVIEW.replace("overview}\n", "overview}\n:facts:\n"))
    assert project.build("-W").status == 0, project.log
    facts = [row.get_text(" ", strip=True) for row in BeautifulSoup(project.html(), "html.parser").select("table tr")]
    assert {"Code blocks 1 verified, 1 not run here", "Pages with code 1"} <= set(facts)
    assert "Pages recorded on live hardware none yet" in facts
    main(["record", str(project.source)])
    assert project.build("-W").status == 0, project.log
    assert f"{NAME}: 1" in project.html()
    assert "This build" not in project.html()


@pytest.mark.parametrize("builder", ["latex", "text", "dirhtml", "singlehtml"])
def test_the_overview_of_other_builders(project, builder):
    assert project.build("-W", builder=builder).status == 0, project.log
    if builder == "text":
        assert "1 verified, 1 not run here" in (project.out / "index.txt").read_text()


def test_a_record_that_cannot_be_read_is_named(project):
    main(["record", str(project.source)])
    file(project).write_text("{")
    built = project.build()
    assert built.log.count("This record cannot be read") == 1
    assert str(file(project)) in built.log
    assert "[livedoctest.record]" in built.log


def test_without_hardware_nothing_is_recorded(project, monkeypatch, capsys):
    def none(wanted: str) -> Device:
        assert wanted == "hardware"
        raise DeviceError("CANN counts no NPU")

    monkeypatch.setattr(workshop, "detect", none)
    assert main(["record", str(project.source)]) == 2
    assert "CANN counts no NPU" in capsys.readouterr().err
    assert not (project.source / "records").exists()


def test_a_project_without_a_folder_for_records(site, capsys):
    assert main(["record", str(site(index=PAGE).source)]) == 2
    assert "livedoctest_records is not set" in capsys.readouterr().err
