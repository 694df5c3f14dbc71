"""`make audit`: every page under pa11y and Lighthouse, and what streams and long conversations cost.

Ends with 1 where pa11y finds something or a score of accessibility or best practices is under 100. Times
depend on the machine and on what else runs there: their marks are printed, and fail nothing.
"""

import argparse
import os
import sys

from tests.tools.bench.table import Line, table

from . import streaming
from .pages import Look, Site, site
from .tools import CATEGORIES, Report, findings, measured

LARGEST_PAINT, BLOCKED, SHIFTED = 1000, 50, 0.02
MUST = CATEGORIES[1:]


def looked_at(site: Site, wanted: str) -> list[str]:
    """Audit the pages whose name contains `wanted`, printed as they are known: what must be mended."""
    head = f"{'page':<20}{'FCP ms':>8}{'LCP ms':>8}{'TBT ms':>8}{'CLS':>8}  scores       findings"
    marks = f"LCP ≤ {LARGEST_PAINT} ms (=: seen with the FCP), TBT ≤ {BLOCKED} ms, CLS ≤ {SHIFTED}"
    print(f"Pages: {marks}, scores 100/100/100\n{head}")
    wrong: list[str] = []
    notes: list[str] = []
    for look in site.looks():
        if wanted in look.name:
            found, report = findings(look), measured(look)
            print(row(look, report, len(found)), flush=True)
            wrong += [f"{look.name}, {one}" for one in found]
            wrong += low(look, report)
            notes += [f"{look.name}, {one}" for one in report.failed]
    print("".join(f"\n  {note}" for note in notes))
    return wrong


def row(look: Look, report: Report, found: int) -> str:
    scores = "/".join(map(str, report.scores))
    largest = f"{report.largest_paint:.0f}{'=' if report.same_paint else ' '}"
    times = f"{report.first_paint:8.0f}{largest:>9}{report.blocked:7.0f}{report.shifted:8.3f}"
    return f"{look.name:<20}{times}  {scores:<13}{found}"


def low(look: Look, report: Report) -> list[str]:
    scores = zip(CATEGORIES, report.scores, strict=True)
    return [f"{look.name}, {name} {score} of 100" for name, score in scores if name in MUST and score < 100]


def streamed(site: Site) -> None:
    with streaming.chromium() as browser:
        show(
            "A reply of 100 kB, 1,000 tokens a second, processor ÷ 4",
            streaming.long_reply(browser, site.server),
        )
        show(
            "A conversation of 200 messages is opened, processor ÷ 4",
            streaming.long_conversation(browser, site.server, site.long),
        )
        show("Twice the text, at full speed", streaming.twice(browser, site.server))


def show(title: str, lines: list[Line]) -> None:
    print(f"\n{table(title, lines)}", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.tools.audit", description=__doc__)
    parser.add_argument("--only", default="", help="pages whose name contains this, and no streams")
    parser.add_argument("--streams", action="store_true", help="no pages")
    options = parser.parse_args()
    print(f"{os.cpu_count()} cores, load average {os.getloadavg()[0]:.2f}; all times are of this machine.\n")
    with site() as made:
        wrong = [] if options.streams else looked_at(made, options.only)
        if not options.only:
            streamed(made)
    print("".join(f"\n{one}" for one in wrong) or "\nNothing to mend.")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
