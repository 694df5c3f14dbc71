"""The files of a round, kept to find a cause: schedule, timeline, what was seen and stored, leases, logs."""

import json
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

from .round import Report
from .stage import Stage
from .verdict import Counts, Outcome, beyond, reloads_wrong

TABLES = ("chat_run", "chat_worker", "chat_runchunk")


def keep(folder: Path, stage: Stage, report: Report, replay: str) -> None:
    """Write everything about the round into the new folder `folder`."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / "schedule.txt").write_text("".join(f"{fault}\n" for fault in report.faults))
    (folder / "timeline.txt").write_text(f"{replay}\n\n" + "".join(f"{line}\n" for line in timeline(report)))
    for name, outcome in report.outcomes.items():
        if report.counts[name].failures or report.counts[name].interruptions:
            whole = json.dumps(_whole(outcome, report.counts[name]), indent=1, ensure_ascii=False)
            (folder / f"{name}.json").write_text(whole)
    (folder / "leases.txt").write_text("".join(f"{line}\n" for line in leases(stage, report)))
    for table in TABLES:
        rows = stage.storage.database.rows(f"SELECT * FROM {table}")
        (folder / f"{table}.txt").write_text("".join(f"{row}\n" for row in rows))
    for process in stage.processes:
        shutil.copy(process.log, folder)


def timeline(report: Report) -> Iterator[str]:
    """Return the events of processes and viewers in their order, then a line for each reply."""
    notes = list(report.notes)
    for name, outcome in report.outcomes.items():
        for number, sighting in enumerate(outcome.sightings):
            kind = "page" if sighting.page else "text"
            notes += [(at, f"  {name} viewer {number} ({kind}): {what}") for at, what in sighting.notes]
    for at, what in sorted(notes):
        yield f"{clock(at)} {what}"
    yield ""
    for name, outcome in report.outcomes.items():
        yield line(name, outcome, report.counts[name])


def line(name: str, outcome: Outcome, counts: Counts) -> str:
    """One reply: how far everybody came."""
    seen = max((len(text) for each in outcome.sightings for text in each.all_texts), default=0)
    owners = ",".join(map(str, outcome.owners)) or "none"
    told = [status for each in outcome.sightings for status in each.statuses]
    return (
        f"{name}: process {owners}, sent {len(outcome.text)}, seen {seen}, stored {len(outcome.stored.text)} "
        f"{outcome.stored.statuses}, viewers told {told}, "
        f"{counts.failures or counts.interruptions or 'as promised'}"
    )


def leases(stage: Stage, report: Report) -> Iterator[str]:
    """Return the changes of each worker's row, then the owners of the replies that lost theirs."""
    numbers = {pid: process.number for process in stage.processes for pid in process.pids}
    known = report.leases
    for worker, changes in known.changes.items():
        yield f"worker {worker}, process {numbers.get(known.pids[worker], 'of an earlier round')}"
        for before, change in pairwise([None, *changes]):
            assert change
            after = f", {change.by - before.by:.1f} s after the one before" if before else ""
            yield f"  {clock(change.by)} epoch {change.row.epoch}, heartbeat {change.row.number}{after}"
    for at, why in known.missed:
        yield f"{clock(at)} could not look: {why}"
    for name, outcome in report.outcomes.items():
        for run in outcome.stored.runs if report.counts[name].interruptions else ():
            yield f"{name}: run {run}, {known.owners.get(run)}, silence {known.fenced(run)}, {outcome.cause}"


def clock(at: float) -> str:
    return f"{datetime.fromtimestamp(at, UTC):%H:%M:%S.%f}"


def _whole(outcome: Outcome, counts: Counts) -> dict[str, object]:
    stored = outcome.stored
    return {
        "failures": counts.failures,
        "interruptions": counts.interruptions,
        "cause": outcome.cause,
        "reloads_wrong": reloads_wrong(outcome),
        "owners": outcome.owners,
        "killed": outcome.killed,
        "stored": {"statuses": stored.statuses, "runs": stored.runs, "questions": stored.questions},
        "stored_text": stored.text,
        "stored_reasoning": stored.reasoning,
        "page": outcome.page,
        "again": outcome.again and [outcome.again.statuses, outcome.again.text, outcome.again.reasoning],
        "seen": [
            {
                "page": each.page,
                "statuses": each.statuses,
                "finished": each.finished,
                "problems": each.problems,
                "wrong_positions": each.wrong_positions,
                "texts": each.all_texts,
                "reasonings": each.all_reasonings,
                "beyond_stored": beyond(max(each.all_texts, key=len), stored.text),
                "html": each.blocks,
            }
            for each in outcome.sightings
        ],
    }
