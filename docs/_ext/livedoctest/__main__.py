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

from livedoctest.application import application
from livedoctest.problems import Stop

UNABLE, INTERRUPTED, TERMINATED = 2, 130, 143
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
    if options.source.is_file():
        folder, name = options.source.parent, options.source.name
        return unable(f"SRC is the folder of the pages, and {options.source} is a file: write `{folder} {name}`.")
    if not color_terminal():
        nocolor()
    configuration = options.conf_dir or options.source
    define = dict(options.define)
    if options.command == "record":
        define["livedoctest_device"] = "hardware"
    try:
        with application(options.source, configuration, options.names, define, sys.stderr) as app:
            from livedoctest import commands  # now that the server imports torch; at the top, this would come before

            return commands.run(options.command, app, options.names)
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


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(TERMINATED))  # as an exception, so that folders are removed
    status = main()
    gc.freeze()  # else Python looks for garbage among all of Sphinx at its end, for a quarter of a second
    sys.exit(status)
