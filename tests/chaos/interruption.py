"""Why a reply was interrupted: because its process was ended, or what its lease and the faults say."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from .faults import Kind
from .leases import Leases, Silence

STORING_SECONDS = 1.0  # a reply may have ended so long before its process, and not be stored


@dataclass(slots=True)
class Ending:
    """A process that was killed or told to end at `at`, and had ended by `gone`. `pid` is that life's."""

    kind: Kind
    process: int
    pid: int
    at: float
    gone: float = float("inf")

    def met_call(self, process: int, call: dict[str, Any]) -> bool:
        """Return True if the process made the call before it was gone, and the call did not end before."""
        is_over = call["ended"] is not None and call["ended"] < self.at - STORING_SECONDS
        return process == self.process and call["started"] <= self.gone and not is_over

    def met_run(self, run: str, leases: Leases) -> bool:
        """Return True if that process owned the run, which may not have called the upstream yet."""
        is_its_own = leases.pid_of(run) == self.pid
        return is_its_own and leases.owners[run].seen >= self.at - STORING_SECONDS


class Cause(StrEnum):
    """The lease of a process that is silent for too long passes on, whatever silences it."""

    FROZEN = "its process was frozen beyond its lease"
    CUT_OFF = "its process, not all, was cut off from the database beyond its lease"
    UNKNOWN = "no fault explains it"


CUTTING_OFF = {Kind.DATABASE, Kind.HOST}


@dataclass(frozen=True, slots=True)
class Trouble:
    """A fault that happened to some of the processes only, and its time."""

    kind: Kind
    processes: frozenset[int]
    begin: float
    end: float

    def silenced(self, process: int, silence: Silence) -> bool:
        """Return True if it happened to the process, and during its silence."""
        return process in self.processes and self.begin <= silence.end and silence.begin <= self.end


def cause_of(run: str, process: int | None, leases: Leases, troubles: Iterable[Trouble]) -> Cause:
    """Return why the run was interrupted. `process` is the number of its owner."""
    silence = leases.expired(run)
    if silence is None or process is None:
        return Cause.UNKNOWN
    kinds = {trouble.kind for trouble in troubles if trouble.silenced(process, silence)}
    if Kind.FREEZE in kinds:
        return Cause.FROZEN
    return Cause.CUT_OFF if kinds & CUTTING_OFF else Cause.UNKNOWN
