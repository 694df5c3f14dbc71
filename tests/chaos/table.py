"""The result of all rounds on one database, as lines."""

from collections import Counter

from .faults import Fault, Kind
from .verdict import Counts

WHAT = {
    "replies": "replies",
    "seen": "characters seen",
    "lost_by_kill": "  lost with a process that was killed, within 0.5 s",
    "cut_frozen": "  replies interrupted: their process was frozen beyond its lease",
    "cut_off": "  replies interrupted: it was cut off from the database for as long",
    "cut_short": "replies interrupted without such a cause, their process not ended",
    "lost": "characters lost",
    "invented": "characters that the upstream never sent",
    "failed": "replies that failed",
    "left_live": "rows left live",
    "calls_doubled": "calls doubled",
    "steps_lost": "steps stored otherwise than they were seen",
    "endings_doubled": "endings doubled",
    "messages_doubled": "messages doubled",
    "without_end": "viewers left without an end",
    "positions_wrong": "positions wrong",
    "reloads_wrong": "reloads that show something else",
    "never_taken": "sends never taken",
}


class Totals:
    """The totals of all rounds on one database."""

    def __init__(self, database: str, skipped: dict[Kind, str]) -> None:
        self._database = database
        self._skipped = skipped
        self.rounds = 0
        self._faults: Counter[Kind] = Counter()
        self.counts = Counts()

    def add(self, faults: list[Fault], counts: Counts) -> None:
        self.rounds += 1
        self._faults.update(fault.kind for fault in faults)
        self.counts.add(counts)

    def __str__(self) -> str:
        kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(self._faults.items()))
        lines = [f"{self._database}: {self.rounds} rounds, {self._faults.total()} faults ({kinds})"]
        for name, what in WHAT.items():
            lines.append(f"  {what:<74} {getattr(self.counts, name):>9,}")
        lines += [f"  skipped: {kind}, {why}" for kind, why in self._skipped.items()]
        return "\n".join(lines)
