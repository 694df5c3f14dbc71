"""A round's schedule from a seed: its replies, and the faults that meet them."""

from dataclasses import dataclass
from random import Random

from .faults import ENDINGS, HARMLESS_TOGETHER, STORAGE, Fault, How, Kind, Reach

OUTAGES_SECONDS = (5.0, 12.0, 12.0, 20.0, 20.0, 60.0)
HOUR_SECONDS = 3600
MARGIN_SECONDS = 6.0  # between a fault that keeps text from being stored and the end of a process
FIRST_FAULT_SECONDS = 4.0
PEOPLE = ("alice", "bob", "erin", "root")
TRIES = 200


@dataclass(frozen=True, slots=True)
class Reply:
    """One reply: what it will say, and who watches. `pages`: for each viewer, whether it asks for HTML.

    `steps`: the turns in which its model calls a tool before it says anything. `allows`: what everybody who
    watches answers, if a call asks first.
    """

    name: str
    at: float
    tokens: int
    thoughts: int
    delay: float
    person: str
    pages: tuple[bool, ...]
    sent_twice: bool
    steps: int = 0
    allows: bool = False

    @property
    def seconds(self) -> float:
        return (self.tokens + self.thoughts) * self.delay


@dataclass(frozen=True, slots=True)
class Size:
    """The number of events in a round."""

    replies: int = 12
    faults: int = 5
    rate: float = 20.0  # tokens a second of each reply
    span: float = 30.0  # seconds within which the faults begin
    shortest: float = 20.0  # seconds of a reply
    longest: float = 60.0
    viewers: int = 2  # of each reply


def replies(seed: int, size: Size) -> list[Reply]:
    random = Random(f"replies {seed}")
    return [_reply(random, f"r{seed}k{number}", number, size) for number in range(size.replies)]


def _reply(random: Random, name: str, number: int, size: Size) -> Reply:
    """Two of three are asked before the first fault, the others while faults happen."""
    early = number % 3 < 2
    tokens = int(random.uniform(size.shortest, size.longest) * size.rate)
    return Reply(
        name,
        at=round(random.uniform(0, 3) if early else random.uniform(3, size.span), 1),
        tokens=tokens,
        thoughts=int(3 * size.rate) if number % 4 == 3 else 0,
        delay=round(1 / size.rate, 4),
        person=PEOPLE[number % len(PEOPLE)],
        pages=tuple(random.random() < 0.5 for _ in range(size.viewers)),
        sent_twice=number % 4 == 0,
        steps=3 if number % 2 else 0,
        allows=number % 4 == 1,
    )


def faults(
    seed: int, size: Size, kinds: list[Kind], processes: int, *, shared: bool, hosts: int = 0
) -> list[Fault]:
    """`shared`: one file for all, as with SQLite, where a frozen process may hold the lock of the others."""
    random = Random(f"faults {seed}")
    chosen: list[Fault] = []
    for _ in range(TRIES):
        if len(chosen) == size.faults:
            break
        fault = _fault(random, random.choice(kinds), size, processes, hosts, shared)
        if not any(conflict(fault, other, shared=shared) for other in chosen):
            chosen.append(fault)
    return sorted(chosen, key=lambda fault: fault.at)


def _fault(random: Random, kind: Kind, size: Size, processes: int, hosts: int, shared: bool) -> Fault:
    at = round(random.uniform(FIRST_FAULT_SECONDS, FIRST_FAULT_SECONDS + size.span), 1)
    one = random.randrange(processes)
    anybody = random.choice([None, None, one])
    match kind:
        case Kind.KILL | Kind.TERM:
            return Fault(at, kind, one, random.choice([1.0, 3.0, 8.0, 20.0]))
        case Kind.FREEZE:
            return Fault(at, kind, one, float(random.randint(5, 35)))
        case Kind.DATABASE:
            return Fault(at, kind, anybody, random.choice(OUTAGES_SECONDS), random.choice(list(How)))
        case Kind.REDIS:
            how = random.choice([How.REFUSED, How.SILENT, How.LOST])
            return Fault(at, kind, anybody, random.choice(OUTAGES_SECONDS[:5]), how)
        case Kind.LOCK | Kind.DISK:
            return Fault(at, kind, None, random.choice(OUTAGES_SECONDS))
        case Kind.CLOCK:
            jump = random.choice([HOUR_SECONDS, -HOUR_SECONDS])
            # Processes that share a file share a machine, and with it the clock.
            return Fault(at, kind, None if shared else one, float(random.randint(8, 25)), f"{jump:+d}")
        case Kind.SLOW:
            return Fault(
                at, kind, None if shared else one, float(random.randint(8, 25)), random.choice(["100", "300"])
            )
        case Kind.CUT:
            return Fault(at, kind)
        case Kind.HOST:
            host, reach = random.randrange(hosts), random.choice(list(Reach))
            return Fault(at, kind, host, random.choice(OUTAGES_SECONDS), reach)


def conflict(one: Fault, other: Fault, *, shared: bool) -> bool:
    """Return True if the faults must not overlap: one would undo the other, or no text could be stored."""
    margin = MARGIN_SECONDS if {one.kind, other.kind} & ENDINGS else 1.0
    apart = one.end + margin <= other.at or other.end + margin <= one.at
    if apart:
        return False
    if one.kind == other.kind:
        return one.touches(other)
    if {one.kind, other.kind} & HARMLESS_TOGETHER:
        return False
    both = {one.kind, other.kind}
    if both & ENDINGS and both & STORAGE and shared:
        return True
    return one.touches(other)
