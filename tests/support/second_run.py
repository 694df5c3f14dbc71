"""A second run for tests that wait for other processes, in CI only, with a report of what failed at first.

A browser, a server or a database that stands still for some seconds on a busy machine says nothing about the
code. A test that fails twice does. Tests within the test process get no second run.
"""

from typing import Any

import pytest

MARKS = ("browser", "process")
TITLE = "errors of first runs"


class SecondRun:
    """A plugin of pytest. pytest-rerunfailures does the second run."""

    @pytest.hookimpl(trylast=True)  # after the marks have been derived from the fixtures
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        for item in items:
            if any(item.get_closest_marker(mark) for mark in MARKS):
                item.add_marker(pytest.mark.flaky(reruns=1))

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Print the error of each first run: it may be a fault that shows only now and then."""
        first = terminalreporter.stats.get("rerun", [])
        if not first:
            return
        terminalreporter.section(TITLE)
        for report in first:
            terminalreporter.write_line(f"{report.nodeid}: {report.when}")
            terminalreporter.write_line(str(report.longrepr)[-3_000:])
