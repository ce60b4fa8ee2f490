"""One page, run in its own process: its blocks in order, in one fresh module named `__main__`, as a script would be.

Everything here runs in the process that the server forked for the page. Whatever page code raises becomes part of a
result.
"""

from __future__ import annotations
import __future__

import ast
import atexit
import builtins
import contextlib
import importlib
import linecache
import os
import sys
import threading
import types
from collections.abc import Callable, Iterator
from os import _exit, getpid  # by name: page code may replace what is in the module
from pathlib import Path
from signal import pause
from time import perf_counter
from typing import Any

from livedoctest import console, failure, imports
from livedoctest.capture import Capture, flush
from livedoctest.recorder import Recorder

_FUTURES = sum(getattr(__future__, name).compiler_flag for name in __future__.all_feature_names)


class Page:
    """Runs the blocks of one page.

    Args:
        blocks: The page's blocks, as the protocol describes them.
        folder: The page's working folder.
        capture: Its descriptors 1 and 2.
        send: Takes each message for the server.
        progress: Is told the index of the block and the line that run now.
    """

    def __init__(
        self,
        blocks: list[dict[str, Any]],
        folder: Path,
        capture: Capture,
        send: Callable[[dict[str, Any]], None],
        progress: Callable[[int, int], None],
    ) -> None:
        self._blocks = blocks
        self._folder = folder
        self._capture = capture
        self._progress = progress
        self._process = getpid()
        self._futures = 0
        self._module = types.ModuleType("__main__")
        self._warnings = Recorder({block["source"] for block in blocks})
        self._send_message = send
        self._ended = False

    def run(self) -> None:
        """Run all blocks; one message as a block starts, one after each of its units, one as it ends."""
        self._prepare()
        for index, block in enumerate(self._blocks):
            self._send({"start": index})
            self._capture.begin_block()
            self._warnings.begin_block()
            before = _counters() if block["count"] else None
            started = perf_counter()
            self._run_units(index, block)
            seconds = perf_counter() - started
            after = _counters() if block["count"] else None
            self._send(
                {
                    "warnings": self._warnings.recorded,
                    "log": self._capture.logged(),
                    "seconds": seconds,
                    "moves": before and after and {name: after[name] - before[name] for name in after},
                }
            )

    def end(self) -> None:
        """End as a script does: wait for threads, then call what page code has registered; one message of all that.

        It also says which modules of no distribution are loaded then.
        What imported modules registered before the page began is called too, but it is none of the page's doing.
        """
        self._capture.begin_block()
        self._warnings.begin_block()
        # as multiprocessing does in its forked children, with the same private function: there is no public one
        threading._shutdown()  # type: ignore[attr-defined]
        atexit._run_exitfuncs()
        self._report_end()  # page code may have taken it off the list

    def _report_end(self) -> None:
        if not self._ended:
            self._ended = True
            flush()
            end = {"output": self._capture.output(), "warnings": self._warnings.recorded}
            self._send({"end": end, "modules": imports.local_files(self._folder)})

    def _prepare(self) -> None:
        vars(self._module)["__builtins__"] = builtins
        sys.modules["__main__"] = self._module
        sys.argv = [""]
        # as for a script; "" would not reach the processes that multiprocessing spawns
        sys.path.insert(0, str(self._folder))
        _show_sources(self._blocks)
        self._warnings.install()
        atexit.register(self._report_end)  # is called after all that page code registers

    def _send(self, message: dict[str, Any]) -> None:
        if getpid() != self._process:  # page code forked, and the child ran to the end of its unit
            _exit(0)
        self._send_message(message)

    def _run_units(self, index: int, block: dict[str, Any]) -> None:
        for unit in block["units"]:
            self._progress(index, unit["line"])
            start = self._capture.size()
            exception, status = self._run_unit(index, block["source"], unit)
            flush()
            while self._capture.too_much():
                pause()  # the server sees the size too, and ends this process
            output = self._capture.output(start)
            result = {"output": output, "exception": exception, "status": status}
            self._send({"unit": result, "size": self._capture.size()})
            if exception and unit["mode"] == "exec":
                break

    def _run_unit(self, index: int, source: str, unit: dict[str, Any]) -> tuple[dict[str, Any] | None, int | None]:
        tree = None
        try:
            if unit["mode"] == "shell":
                return None, console.run(unit["code"], self._capture.out)
            if unit["mode"] == "file":
                self._write_file(unit["name"], unit["code"])
            else:
                tree = self._parse(source, unit)
                self._execute(index, source, unit["mode"], tree)
        except BaseException as error:  # SystemExit and KeyboardInterrupt too end the unit, not the page
            return failure.describe(error, source, tree, unit["line"]), None
        return None, None

    def _parse(self, source: str, unit: dict[str, Any]) -> ast.Module:
        placed = "\n" * (unit["line"] - 1) + unit["code"]  # so that every line number is the page's
        flags = self._futures | ast.PyCF_ONLY_AST
        tree: ast.Module = compile(placed, source, "exec", flags, dont_inherit=True)
        return tree

    def _execute(self, index: int, source: str, mode: str, tree: ast.Module) -> None:
        for line, code in list(self._compile(source, mode, tree)):  # all of it, before any of it runs
            self._progress(index, line)
            exec(code, vars(self._module))  # noqa: S102  running page code is what this process is for

    def _compile(self, source: str, mode: str, tree: ast.Module) -> Iterator[tuple[int, types.CodeType]]:
        """One code object a statement, so that the server knows the line when the process dies."""
        for statement in tree.body:
            part: ast.Interactive | ast.Module
            if mode == "single":
                part = ast.Interactive([statement])
            elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
                continue  # alone in a module, a string would become its documentation
            else:
                part = ast.Module([statement], type_ignores=[])
            code = compile(part, source, mode, self._futures, dont_inherit=True)
            self._futures |= code.co_flags & _FUTURES
            yield statement.lineno, code

    def _write_file(self, name: str, code: str) -> None:
        path = (self._folder / name).resolve()
        if not path.is_relative_to(self._folder):
            raise ValueError(f"the file {name!r} would be outside the page's folder")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(code if code.endswith("\n") else code + "\n", encoding="utf-8", newline="\n")
        importlib.invalidate_caches()  # the import system looks at the time stamps of folders, which are too coarse


def _show_sources(blocks: list[dict[str, Any]]) -> None:
    """Put the code of the blocks where tracebacks, warnings and inspect look for it, at its lines in its file."""
    files: dict[str, list[str]] = {}
    for block in blocks:
        lines = files.setdefault(block["source"], [])
        for unit in block["units"]:
            if unit["mode"] in ("exec", "single"):
                code = [line + "\n" for line in unit["code"].split("\n")]
                start = unit["line"] - 1
                lines.extend(["\n"] * (start + len(code) - len(lines)))
                lines[start : start + len(code)] = code
    for source, lines in files.items():
        # without a time stamp linecache keeps an entry whose file it cannot find, as for modules from loaders
        linecache.cache[source] = (sum(map(len, lines)), None, lines, source)


def _counters() -> dict[str, int] | None:
    """The simulated device's counters of data movement, or None where there is none."""
    if os.environ.get("NPUSIM") != "1":
        return None
    with contextlib.suppress(ImportError):
        import npusim

        return npusim.counters()
    return None
