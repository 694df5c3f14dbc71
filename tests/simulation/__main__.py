"""`make simulate`: try schedules until the time is over, and name the first seed that breaks a rule."""

import argparse
import os
import sys
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor

from .database import Violation
from .scenario import Scenario


def attempt(seeds: range) -> tuple[int, Counter[str], str]:
    """Return the number of schedules that were tried, their faults, and the first violation."""
    faults: Counter[str] = Counter()
    for number, seed in enumerate(seeds):
        scenario = Scenario(seed)
        try:
            scenario.run()
        except Violation as violation:
            return number + 1, faults, str(violation)
        faults += scenario.faults
    return len(seeds), faults, ""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.simulation", description=__doc__)
    parser.add_argument("--schedules", type=int, default=20_000)
    parser.add_argument(
        "--first", type=int, default=0, help="the first seed; a failing one replays with 1 schedule"
    )
    options = parser.parse_args()
    started, share = time.monotonic(), 250
    last = options.first + options.schedules
    parts = [range(first, min(first + share, last)) for first in range(options.first, last, share)]
    tried, faults, violations = 0, Counter[str](), []
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        for number, found, violation in pool.map(attempt, parts):
            tried, faults = tried + number, faults + found
            violations += [violation] if violation else []
    seconds = time.monotonic() - started
    print(f"{tried} schedules in {seconds:.1f} s; faults: {dict(faults)}")
    print("\n".join(violations) or "every character kept, every run ended once, every upstream asked once")
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main())
