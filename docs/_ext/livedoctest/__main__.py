"""`python -m livedoctest verify|accept|record SRC [docname …]`: work on the blocks of pages without a build."""

from __future__ import annotations

import argparse
import gc
import os
import signal
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path

from sphinx.errors import SphinxError
from sphinx.util.console import color_terminal, nocolor

from livedoctest import records
from livedoctest.accept import Change, accept
from livedoctest.execute import Verification
from livedoctest.problems import Stop
from livedoctest.report import page_lines
from livedoctest.session import Session, session

FAILED, UNABLE, INTERRUPTED, TERMINATED = 1, 2, 130, 143
COMMANDS = {
    "verify": "run the blocks of pages and compare their outputs; write nothing",
    "accept": "verify, then write the outputs that differ into the sources",
    "record": "verify on live hardware, and keep what ran there in the folder `livedoctest_records`",
}
EPILOG = "Exit status: 0 all is well, 1 a block failed or an output was refused, 2 nothing could be run."


def parser() -> argparse.ArgumentParser:
    """The command line. Its options may stand anywhere, which argparse allows only where commands are plain words."""
    commands = "".join(f"\n  {name:8}{help}" for name, help in COMMANDS.items())
    made = argparse.ArgumentParser(
        "python -m livedoctest",
        description=f"Work on the blocks of pages without a build.\n\ncommands:{commands}",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    made.add_argument("command", metavar="command", choices=COMMANDS, help="one of those above")
    made.add_argument("source", metavar="SRC", type=Path, help="folder of the pages")
    made.add_argument("names", metavar="docname", nargs="*", default=[], help="a page or its file; else all")
    made.add_argument("-c", "--conf-dir", metavar="DIR", type=Path, help="folder of conf.py, unless it is SRC")
    made.add_argument(
        "-D", dest="define", metavar="name=value", help="a setting", action="append", default=[], type=definition
    )
    return made


def definition(text: str) -> tuple[str, str]:
    """A configuration value, as sphinx-build takes it."""
    name, equals, value = text.partition("=")
    if not equals:
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form name=value")
    return name, value


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit status."""
    options = parser().parse_intermixed_args(arguments)
    if options.command == "accept" and os.environ.get("CI"):
        return unable(
            f"accept does not run where the variable CI is set (CI={os.environ['CI']}): "
            "outputs are accepted by a person, who then reads the change. Verify instead."
        )
    if not color_terminal():
        nocolor()
    configuration = options.conf_dir or options.source
    define = dict(options.define)
    if options.command == "record":
        define["livedoctest_device"] = "hardware"
    try:
        with session(options.source, configuration, options.names, define, sys.stderr) as made:
            return {"verify": verify, "accept": accept_outputs, "record": write_records}[options.command](made)
    except KeyboardInterrupt:
        print("livedoctest: interrupted", file=sys.stderr)
        return INTERRUPTED
    except Stop:  # which has said why
        return UNABLE
    except SphinxError as error:
        return unable(f"{error.category}: {error}")
    except Exception:  # not a page's fault, and no verdict on any: 1 would say that a block failed
        return unable(traceback.format_exc())


def unable(cause: str) -> int:
    """Say why nothing could be done."""
    print(f"livedoctest: {cause}", file=sys.stderr)
    return UNABLE


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
        return unable("livedoctest_records is not set: name the folder of the records in conf.py.")
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


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(TERMINATED))  # as an exception, so that folders are removed
    status = main()
    gc.freeze()  # else Python looks for garbage among all of Sphinx at its end, for a quarter of a second
    sys.exit(status)
