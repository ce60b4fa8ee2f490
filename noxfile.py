"""What one does with the guide: `nox -l` lists the sessions, `nox -s docs` builds and verifies the site.

All sessions share one environment: `environment` makes it with pip and keeps it until `pyproject.toml`
changes.
"""

from __future__ import annotations

import filecmp
import os
import platform
import shutil
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import nox

nox.options.default_venv_backend = "virtualenv"
nox.options.reuse_venv = "yes"
nox.options.sessions = ["docs", "tests", "lint"]

PROJECT = nox.project.load_toml("pyproject.toml")
LANGUAGES = ("en", "zh_CN")
HTML = Path("build/html")
LIGHTHOUSE = "lighthouse@12.2.3"
CPU_INDEX = "https://download.pytorch.org/whl/cpu"
PYTHON = f"python{sys.version_info.major}.{sys.version_info.minor}"
# Nox would keep an environment of another Python for ever, also one that it has just refused.
OTHER_PYTHONS = {path.name for path in Path(".nox/environment/lib").glob("python3*")} - {PYTHON}


@nox.session(default=False, reuse_venv=not OTHER_PYTHONS)
def environment(session: nox.Session) -> None:
    """Make the virtual environment that the other sessions share."""
    refuse_other_machines(session)
    installed = session.env_dir / "pyproject.toml"
    if installed.exists() and filecmp.cmp("pyproject.toml", installed, shallow=False):
        return
    install_torch(session)
    groups = nox.project.dependency_groups(PROJECT, "site", "live", "test", "lint", "translate")
    session.install("--editable", ".[npu]", *groups)
    shutil.copyfile("pyproject.toml", installed)


@nox.session(requires=["environment"], venv_backend="none")
def docs(session: nox.Session) -> None:
    """Build the site in both languages; every example runs and is checked on the way."""
    with ThreadPoolExecutor() as builds:  # at once: one executes the pages while the other one reads them
        started = [builds.submit(sphinx, session, "html", language, HTML / language) for language in LANGUAGES]
    for build in started:
        build.result()  # raises what went wrong
    python(session, "-m", "guide.root", str(HTML))


@nox.session(requires=["docs"], venv_backend="none")
def tests(session: nox.Session) -> None:
    """Run the tests, those of the built site in a real browser; arguments after `--` go to pytest."""
    python(session, "-m", "pytest", *session.posargs)


@nox.session(requires=["environment"], venv_backend="none")
def lint(session: nox.Session) -> None:
    """Check style, types, spelling, grammar, workflows and the translations."""
    python(session, "-m", "ruff", "check")
    python(session, "-m", "ruff", "format", "--check")
    python(session, "-m", "mypy")
    python(session, "-m", "codespell_lib", ".ci", "conf.py", "docs", "noxfile.py", "README.md", "tests")
    pages = map(str, ["README.md", *sorted(Path("docs").rglob("*.md"))])
    python(session, "tests/lint/prose.py", *pages)
    program(session, "zizmor", "--offline", "--quiet", ".github")  # has no `python -m`
    workflows = map(str, sorted(Path(".github/workflows").glob("*.yml")))
    python(session, "-m", "check_jsonschema", "--builtin-schema", "vendor.github-workflows", *workflows)
    python(session, "-m", "check_jsonschema", "--builtin-schema", "vendor.readthedocs", ".readthedocs.yaml")
    sphinx(session, "gettext", "en", "build/gettext")
    python(session, "tests/lint/catalogs.py", "build/gettext", "docs/locale/zh_CN/LC_MESSAGES")


@nox.session(requires=["environment"], venv_backend="none", default=False)
def verify(session: nox.Session) -> None:
    """Verify on a live NPU and keep the records that the site shows: `nox -s verify -- features/locking`, or all."""
    python(session, "-m", "livedoctest", "record", "-c", ".", "docs", *session.posargs)


@nox.session(requires=["environment"], venv_backend="none", default=False)
def accept(session: nox.Session) -> None:
    """Write the outputs that blocks really give into the pages: `nox -s accept -- features/locking`, or all pages."""
    python(session, "-m", "livedoctest", "accept", "-c", ".", "docs", *session.posargs)


@nox.session(requires=["environment"], venv_backend="none", default=False)
def translate(session: nox.Session) -> None:
    """Extract the texts of all pages and merge them into the catalogs, without obsolete entries."""
    sphinx(session, "gettext", "en", "build/gettext")
    sphinx_intl = "import sys; from sphinx_intl.commands import main; sys.exit(main())"  # it has no `python -m`
    arguments = ["--pot-dir", "build/gettext", "--locale-dir", "docs/locale", "--language", "zh_CN"]
    python(session, "-c", sphinx_intl, "update", "--no-obsolete", *arguments)


@nox.session(requires=["docs"], venv_backend="none", default=False)
def serve(session: nox.Session) -> None:
    """Build the site and serve it at http://127.0.0.1:8000; another port as `nox -s serve -- 8080`."""
    python(session, "-m", "http.server", "--bind", "127.0.0.1", "--directory", str(HTML), *session.posargs)


@nox.session(requires=["environment"], venv_backend="none", default=False)
def live(session: nox.Session) -> None:
    """Show pages while you write: a save runs the page's code and reloads it; `nox -s live -- zh_CN` for Chinese."""
    language = session.posargs[0] if session.posargs else LANGUAGES[0]
    options = ["-c", ".", "-d", f"build/doctrees/live-{language}", "-D", f"language={language}"]
    report = ["-D", f"livedoctest_report=build/live/{language}.json"]  # that of the site stays as it is
    watch = ["--watch", "conf.py", "--ignore", "*/docs/tutorials/*", "--ignore", "*.mo", "--open-browser"]
    python(session, "-m", "sphinx_autobuild", *options, *report, *watch, "docs", f"build/live/{language}")


@nox.session(requires=["environment"], venv_backend="none", default=False)
def conformance(session: nox.Session) -> None:
    """Compare the simulated NPU with the CPU over PyTorch's operator database, all or `-- operator …`."""
    python(session, "-m", "npusim", "tests/conformance/run.py", *session.posargs)


@nox.session(requires=["environment"], venv_backend="none", default=False)
def bench(session: nox.Session) -> None:
    """Measure simulator and engine, `-- --peers` also MyST-NB; or, with `-- --lighthouse`, score the built site."""
    if "--lighthouse" in session.posargs:
        session.run("npm", "install", "--silent", "--prefix", "build/bench/npm", LIGHTHOUSE, external=True)
        python(session, "tests/bench/lighthouse.py", "build/bench/npm")
        return
    python(session, "tests/bench/simulator.py")
    python(session, "tests/bench/overhead.py")
    if "--peers" in session.posargs:  # apart from the environment: nothing else may come to depend on them
        needs = nox.project.dependency_groups(PROJECT, "bench")
        python(session, "-m", "pip", "install", "--quiet", "--upgrade", "--target", "build/bench", *needs)
    python(session, "tests/bench/engine.py", *session.posargs)


@nox.session(default=False)
def newest(session: nox.Session) -> None:
    """Verify the pages with the newest torch, torch_npu and tensordict, to see what will break."""
    session.install("--upgrade", "torch", "torch-npu", "tensordict", "--extra-index-url", CPU_INDEX)
    session.install("--editable", ".", *nox.project.dependency_groups(PROJECT, "site"))
    session.run("python", "-m", "livedoctest", "verify", "-c", ".", "docs")


@nox.session(requires=["environment"], venv_backend="none", default=False)
def links(session: nox.Session) -> None:
    """Check the links to other sites, which needs the open internet."""
    sphinx(session, "linkcheck", "en", "build/linkcheck")


def install_torch(session: nox.Session) -> None:
    """Install the CPU build of torch: what PyPI gives is a CUDA build, beside which torch_npu refuses to load."""
    (pin,) = (need for need in PROJECT["project"]["optional-dependencies"]["npu"] if need.startswith("torch=="))
    wheel = f"{pin}+cpu"
    try:
        session.install("--no-deps", wheel, silent=True)  # a mirror or a wheel folder of one's own comes first
    except nox.command.CommandFailed:
        session.log(f"no index that pip is set up for has {wheel}: taking it from {CPU_INDEX}")
        session.install("--no-deps", wheel, "--extra-index-url", CPU_INDEX)


def refuse_other_machines(session: nox.Session) -> None:
    """End the session where the guide cannot run, which pip would say less clearly and much later."""
    if platform.system() != "Linux":
        session.error(f"torch_npu exists for Linux only, not {platform.system()}: use Linux or a container")
    if platform.machine() not in ("x86_64", "aarch64"):
        session.error(f"torch_npu has no wheel for {platform.machine()}: use x86_64 or aarch64")
    if not (3, 11) <= sys.version_info < (3, 14):
        found = platform.python_version()
        remedy = "make .venv anew (venv --clear) with Python 3.11, 3.12 or 3.13"
        session.error(f"the guide does not support Python {found}: {remedy}")


def python(session: nox.Session, *arguments: str) -> None:
    """Run the shared environment's Python."""
    program(session, "python", *arguments)


def program(session: nox.Session, name: str, *arguments: str) -> None:
    """Run a program of the shared environment, as if the environment were activated."""
    programs = (session.env_dir.parent / "environment" / "bin").resolve()
    path = os.pathsep.join([str(programs), os.environ["PATH"]])
    session.run(str(programs / name), *arguments, env={"PATH": path}, external=True)


def sphinx(session: nox.Session, builder: str, language: str, output: Path | str) -> None:
    """Run one builder on the guide; a warning fails it, after all pages are done."""
    doctrees = f"build/doctrees/{builder}-{language}"
    options = ["-b", builder, "-c", ".", "-d", doctrees, "-D", f"language={language}", "-W", "--keep-going"]
    # -u: lines of progress show at once in a log too
    python(session, "-u", "-m", "sphinx", *options, "docs", str(output))
