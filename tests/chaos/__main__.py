"""`python -m tests.chaos`: random faults in rounds; exit code 0 only if all that must be zero is zero."""

import argparse
import asyncio
import random
import signal
import sys
from contextlib import suppress
from pathlib import Path

from . import evidence, schedule
from .faults import Fault, Kind
from .round import Report, Round
from .schedule import Size
from .stage import Stage, staged
from .table import Totals

DEFAULT = Size()
EVIDENCE = Path("data/chaos")


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description=__doc__)
    parser.add_argument("--database", choices=("sqlite", "postgres", "both"), default="both")
    parser.add_argument("--rounds", type=int, default=2, help="on each database")
    parser.add_argument("--faults", type=int, default=DEFAULT.faults, help="in each round")
    parser.add_argument("--replies", type=int, default=DEFAULT.replies, help="in each round")
    parser.add_argument("--rate", type=float, default=DEFAULT.rate, help="tokens a second of each reply")
    parser.add_argument("--seed", type=int, help="of the first round; each further one has the next")
    parser.add_argument("--only", type=Kind, nargs="+", choices=list(Kind), help="faults of these kinds")
    parser.add_argument("--viewers", type=int, default=DEFAULT.viewers, help="of each reply")
    parser.add_argument("--fleet", action="store_true", help="on three hosts that can be cut off (as root)")
    parser.add_argument("--evidence", type=Path, default=EVIDENCE, help="where failing rounds are kept")
    given = parser.parse_args()
    if given.fleet and given.database == "sqlite":
        parser.error("hosts share no SQLite file: a fleet needs --database postgres")
    return given


async def rounds(database: str, given: argparse.Namespace, seed: int, found: list[Totals]) -> None:
    """All rounds on one database; what is counted so far is in `found` at any time."""
    async with staged(database, fleet=given.fleet) as stage:
        totals = Totals(database, stage.skipped)
        found.append(totals)
        for number in range(given.rounds):
            report = await one(stage, given, seed + number)
            totals.add(report.faults, report.total)


async def one(stage: Stage, given: argparse.Namespace, seed: int) -> Report:
    size = Size(given.replies, given.faults, given.rate, viewers=given.viewers)
    faults = planned(stage, given, seed, size)
    looks = seed % 2 == 0
    print(
        f"\n{stage.kind}, seed {seed}, {size.replies} replies, proxy {'looks' if looks else 'does not look'}"
    )
    print("\n".join(map(str, faults)), flush=True)
    report = await Round(stage, schedule.replies(seed, size), faults, looks=looks).run()
    print(f"  {report.total.failures or 'as promised'}", flush=True)
    if interruptions := report.total.interruptions:
        print(f"  interrupted, their process not ended: {interruptions}", flush=True)
    if report.needs_evidence:
        folder = given.evidence / f"{stage.kind}-{seed}"
        await asyncio.to_thread(evidence.keep, folder, stage, report, replay(stage, given, seed))
        print(f"  kept in {folder}; again: {replay(stage, given, seed)}", flush=True)
    return report


def planned(stage: Stage, given: argparse.Namespace, seed: int, size: Size) -> list[Fault]:
    kinds = [kind for kind in stage.kinds if not given.only or kind in given.only]
    hosts = stage.hosts.count if stage.hosts else 0
    return schedule.faults(seed, size, kinds, len(stage.processes), shared=stage.shared, hosts=hosts)


def replay(stage: Stage, given: argparse.Namespace, seed: int) -> str:
    command = f"python -m tests.chaos --database {stage.kind} --rounds 1 --seed {seed}"
    command += f" --faults {given.faults} --replies {given.replies} --rate {given.rate:g}"
    command += f" --only {' '.join(given.only)}" if given.only else ""
    command += f" --viewers {given.viewers}" if given.viewers != DEFAULT.viewers else ""
    return command + (" --fleet" if given.fleet else "")


async def everything(given: argparse.Namespace) -> int:
    task = asyncio.current_task()
    assert task
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    seed = random.randrange(1_000_000) if given.seed is None else given.seed
    both = ["postgres"] if given.fleet else ["sqlite", "postgres"]
    databases = both if given.database == "both" else [given.database]
    found: list[Totals] = []
    try:
        for database in databases:
            await rounds(database, given, seed, found)
    finally:
        for totals in found:
            print(f"\n{totals}", flush=True)
    return int(any(totals.counts.failures or not totals.counts.seen for totals in found))


def main() -> int:
    with suppress(KeyboardInterrupt, asyncio.CancelledError):
        return asyncio.run(everything(options()))
    return 130


if __name__ == "__main__":
    sys.exit(main())
