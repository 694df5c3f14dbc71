"""The order of files over the processes of a run: the longest first.

By itself pytest-xdist begins with the file that has the most tests. Then a file of one long test comes last,
and its process runs alone at the end.
"""

from collections import Counter, defaultdict

import pytest

SECONDS = "chat/seconds"  # in pytest's cache: how long each file took when it ran last
# A guess for a file that has not run yet: seconds of one test, by what it starts.
BROWSER, SERVERS, SERVER, OTHER = 3.0, 2.0, 0.3, 0.03
LONG = {  # files that take much longer than that, because they start things without a fixture or wait
    "tests/e2e/test_axe.py": 120.0,
    "tests/tools/images/test_images.py": 60.0,
    "tests/chaos/test_chaos.py": 60.0,
    "tests/test_prepare.py": 60.0,
    "tests/test_outage.py": 60.0,
    "tests/test_backup.py": 60.0,
    "tests/move/test_move.py": 45.0,
    "tests/test_doctor.py": 40.0,
    "tests/test_static.py": 40.0,
    "tests/test_workers.py": 40.0,
    "tests/move/test_refusals.py": 35.0,
    "tests/engine/test_unsaved.py": 35.0,
    "tests/transfer/test_restart.py": 30.0,
    "tests/test_deadlines.py": 30.0,
    "tests/upgrade/test_under_load.py": 30.0,
    "tests/simulation/test_simulation.py": 30.0,
    "tests/test_start.py": 30.0,
    "tests/upstream/providers/test_llama_cpp.py": 30.0,
    "tests/api/test_openapi.py": 30.0,
    "tests/engine/test_open_streams.py": 25.0,
    "tests/safety/test_forgery.py": 25.0,
    "tests/metrics/test_served.py": 20.0,
    "tests/safety/test_crawl.py": 20.0,
    "tests/deploy/test_systemd.py": 20.0,
    "tests/engine/test_processes.py": 20.0,
    "tests/test_migrations.py": 20.0,
    "tests/engine/test_failures.py": 20.0,
    "tests/views/test_fair_pages.py": 20.0,
    "tests/engine/test_writer.py": 15.0,
    "tests/test_tools.py": 15.0,
    "tests/files/test_hostile_documents.py": 15.0,
    "tests/files/test_readers.py": 15.0,
    "tests/views/test_identifiers.py": 15.0,
    "tests/upgrade/test_older_version.py": 15.0,
}


def file_of(nodeid: str) -> str:
    return nodeid.split("::", 1)[0]


def guess(item: pytest.Item) -> float:
    used = getattr(item, "fixturenames", ())
    if item.get_closest_marker("browser"):
        return BROWSER
    if "servers" in used:
        return SERVERS
    return SERVER if "server" in used else OTHER


class LongestFirst:
    """Sorts the files of a run by the seconds that they took last time, and notes what they take now."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._key = f"{SECONDS}/{config.getoption('--database')}"
        self._took: Counter[str] = Counter()

    @property
    def _cache(self) -> pytest.Cache | None:
        return getattr(self._config, "cache", None)  # there is none with `-p no:cacheprovider`

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        guessed: dict[str, float] = defaultdict(float)
        for item in items:
            guessed[file_of(item.nodeid)] += guess(item)
        known = self._cache.get(self._key, {}) if self._cache else {}
        weights = {
            file: known.get(file, max(seconds, LONG.get(file, 0))) for file, seconds in guessed.items()
        }
        items.sort(key=lambda item: -weights[file_of(item.nodeid)])

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._took[file_of(report.nodeid)] += report.duration

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Store the durations, in the first process, which gets every test's report."""
        if self._cache and not hasattr(self._config, "workerinput"):
            known = self._cache.get(self._key, {})
            took = {file: round(seconds, 1) for file, seconds in self._took.items()}
            self._cache.set(self._key, known | took)
