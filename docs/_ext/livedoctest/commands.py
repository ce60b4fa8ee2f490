"""What the commands of the command line do with pages, and the lines that they print."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from sphinx.application import Sphinx

from livedoctest import records
from livedoctest.accept import Change, accept
from livedoctest.execute import Verification
from livedoctest.problems import Stop
from livedoctest.report import page_lines
from livedoctest.session import Session

FAILED = 1


def run(command: str, app: Sphinx, names: Sequence[str]) -> int:
    """Carry out a command on pages, or their files; returns the exit status."""
    made = Session(app, names)
    return {"verify": verify, "accept": accept_outputs, "record": write_records}[command](made)


def verify(made: Session) -> int:
    """Verify, and print what happened to each page."""
    verification = made.verify()
    for name in sorted(verification.pages):
        lines = page_lines(verification.pages[name], verification.outcomes[name], verification.runs[name])
        print(*lines, sep="\n")
    return made.app.statuscode


def accept_outputs(made: Session) -> int:
    """Accept, and print a line for each file that had a failure, with what was refused below it."""
    # they are what this is for; those that cannot be accepted are printed below
    made.app.config.suppress_warnings = [
        *made.app.config.suppress_warnings,
        "livedoctest.failed",
        "livedoctest.not-run",
    ]
    changes = accept(made, made.verify())
    for change in changes:
        print(change.summary)
        for refusal in sorted(set(change.refusals)):
            print(f"  {shown_path(change)}:{refusal.line}: {refusal.reason}")
    if not changes:
        print("Nothing to accept: every block that runs here passes.")
    return FAILED if any(change.refusals for change in changes) else 0


def write_records(made: Session) -> int:
    """Verify, and write the record of each page that has no failed block."""
    folder = records.folder_of(made.app)
    if folder is None:
        raise Stop("livedoctest_records is not set: name the folder of the records in conf.py.")
    status = verify(made)
    verification: Verification = made.app.livedoctest  # type: ignore[attr-defined]
    for name, page in sorted(verification.pages.items()):
        outcomes = verification.outcomes[name]
        if any(each.status == "passed" for each in outcomes) and not any(each.status == "failed" for each in outcomes):
            new = records.record(page, outcomes, verification.runs[name], verification.device)
            words = "recorded" if records.write(folder, name, new) else "recorded before"
            print(f"{name}: {words} for {new.device}")
    return status


def shown_path(change: Change) -> str:
    """The file, relative to the current folder where it is below it."""
    here = Path.cwd()
    return str(change.path.relative_to(here) if change.path.is_relative_to(here) else change.path)
