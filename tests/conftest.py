"""What holds for every test: nothing is skipped quietly."""

from __future__ import annotations

import pytest


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail the run if a test was skipped for another reason than a missing live NPU."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    skipped = reporter.stats.get("skipped", []) if reporter else []  # the workers of xdist have no reporter
    unexpected = [report.nodeid for report in skipped if "hardware" not in report.keywords]
    if unexpected:
        reporter.write_line(f"only tests marked `hardware` may be skipped, not {', '.join(unexpected)}", red=True)
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
