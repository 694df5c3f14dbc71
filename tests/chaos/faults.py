"""Faults as lines of a schedule: what happens to whom, when and for how long."""

from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    KILL = "kill"  # SIGKILL, and started again
    TERM = "term"  # SIGTERM: a drain, and started again
    FREEZE = "freeze"  # SIGSTOP, then SIGCONT
    DATABASE = "database"  # the link to PostgreSQL is down
    LOCK = "lock"  # another writer holds SQLite's only lock
    DISK = "disk"  # the file system of the database is full
    REDIS = "redis"  # the link to Redis is down
    CLOCK = "clock"  # the wall clock jumps, and back
    SLOW = "slow"  # the link to the database, or with SQLite that to the viewers, is slow
    CUT = "cut"  # all connections of viewers are cut
    HOST = "host"  # a host is cut off, with every process on it


class How(StrEnum):
    """The behaviour of a link that is down."""

    REFUSED = "refused"  # connections are reset, new ones refused
    SILENT = "silent"  # nothing arrives until it is up again, then everything
    LOST = "lost"  # nothing arrives, and in the end the connections are reset
    UNANSWERED = "unanswered"  # requests arrive, responses do not; in the end the connections are reset


class Reach(StrEnum):
    """The services that a host still reaches while it is cut off."""

    NOTHING = "nothing"
    MODEL = "model"  # its replies go on


# Faults that keep text from being stored within half a second: a process that is killed meanwhile loses more.
STORAGE = {Kind.DATABASE, Kind.LOCK, Kind.DISK, Kind.SLOW, Kind.FREEZE, Kind.HOST}
ENDINGS = {Kind.KILL, Kind.TERM}
HARMLESS_TOGETHER = {Kind.CUT, Kind.REDIS, Kind.CLOCK}


@dataclass(frozen=True, slots=True)
class Fault:
    """`process` is its number, None for everyone; for `Kind.HOST` it is the host's."""

    at: float
    kind: Kind
    process: int | None = None
    seconds: float = 0.0
    how: str = ""

    @property
    def end(self) -> float:
        return self.at + self.seconds

    def __str__(self) -> str:
        kind = "host" if self.kind == Kind.HOST else "process"
        whom = "everyone" if self.process is None else f"{kind} {self.process}"
        line = f"{self.at:6.1f} s  {self.kind:<8}  {whom}"
        line += f"  for {self.seconds:g} s" if self.seconds else ""
        return line + (f"  ({self.how})" if self.how else "")

    def touches(self, other: "Fault") -> bool:
        """Return True if both may happen to the same process."""
        if Kind.HOST in (self.kind, other.kind):
            return True
        return None in (self.process, other.process) or self.process == other.process
