"""The options in conf.py, each declared once."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.config import Config

from livedoctest.problems import Stop

DEVICES = ("auto", "hardware", "simulated", "none")
WORDS: dict[type, str] = {str: "a string", float: "a number", list: "a list", type(None): "None"}


def option(default: Any, types: tuple[type, ...], help: str) -> Any:
    """A field of `Settings`: default, accepted types, and the sentence for the reference table."""
    return field(default=default, metadata={"types": types, "help": help})


@dataclass(frozen=True)
class Settings:
    """The values in force. `conf.py` sets each as `livedoctest_<name>`."""

    device: str = option("auto", (str,), "Where blocks run: `auto`, `hardware`, `simulated` or `none`.")
    report: str | None = option(
        None,
        (str, type(None)),
        "Path of the JSON report; by default `verification.json` in the output folder.",
    )
    cache: str | None = option(None, (str, type(None)), "Folder of the stored results; by default beside the doctrees.")
    records: str | None = option(
        None, (str, type(None)), "Folder of the records of runs on live hardware, relative to conf.py; none by default."
    )
    files: tuple[str, ...] = option(
        (), (list, tuple), "Further files whose contents the results depend on, relative to conf.py."
    )
    normalizers: tuple[tuple[str, str], ...] = option(
        (), (list, tuple), "Pairs of a regular expression and its replacement, applied to both sides."
    )
    timeout: float = option(60, (int, float), "Seconds that a block may take unless it says `:timeout:`.")

    @classmethod
    def of(cls, config: Config) -> Settings:
        """The settings that a Sphinx configuration holds."""
        return cls(**{each.name: getattr(config, f"livedoctest_{each.name}") for each in fields(cls)})


def check(app: Sphinx, config: Config) -> None:
    """Refuse values that no build can work with."""
    settings = Settings.of(config)
    known = [f"livedoctest_{each.name}" for each in fields(Settings)]
    for name in config._raw_config:  # private: what conf.py says that no extension asks for, which Sphinx ignores
        if name.startswith("livedoctest_") and name not in known:
            raise Stop(f"there is no setting {name} in conf.py; there are {', '.join(known)}")
    for each in fields(Settings):
        value, types = getattr(settings, each.name), each.metadata["types"]
        if not isinstance(value, types):
            raise refused(each.name, value, " or ".join(WORDS[kind] for kind in types if kind in WORDS))
    if settings.device not in DEVICES:
        raise refused("device", settings.device, f"one of {', '.join(DEVICES)}")
    if not 0 < settings.timeout < math.inf:
        raise refused("timeout", settings.timeout, "seconds above 0")
    for pair in settings.normalizers:
        try:
            pattern, replacement = pair
            re.sub(pattern, replacement, "")
        except (TypeError, ValueError, re.error) as error:
            raise Stop(f"livedoctest_normalizers: {pair!r} is no (pattern, replacement): {error}") from None
    for name in ("cache", "records"):
        folder = getattr(settings, name)
        if folder and Path(app.confdir, folder).is_file():
            raise refused(name, folder, "a folder, and this is a file")
    if settings.report and Path(app.confdir, settings.report).is_dir():
        raise refused("report", settings.report, "a file, and this is a folder")
    for name in settings.files:
        if not Path(app.confdir, str(name)).is_file():
            raise Stop(f"livedoctest_files: there is no file {name!r} beside conf.py")


def refused(name: str, value: object, expected: str) -> Stop:
    """What ends the build because of a setting."""
    return Stop(f"livedoctest_{name} = {value!r}: expected {expected}")


def setup_settings(app: Sphinx) -> None:
    """Register every field of `Settings` as a configuration value, unless that is done."""
    if "livedoctest_device" in app.config:
        return
    for each in fields(Settings):
        default = list(each.default) if isinstance(each.default, tuple) else each.default  # lists can be set by -D
        app.add_config_value(f"livedoctest_{each.name}", default, "", types=each.metadata["types"])
    app.connect("config-inited", check)
