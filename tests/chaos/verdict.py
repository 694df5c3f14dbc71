"""The verdict on a round: the viewers' texts, compared with the stored and the sent ones."""

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, fields

from .interruption import Cause
from .sighting import Sighting
from .stored import Stored

KILLED_SECONDS = 0.5  # of text that may be lost with a process that is killed
ALLOWED = ("replies", "seen", "lost_by_kill", "cut_frozen", "cut_off")
INTERRUPTIONS = ("cut_frozen", "cut_off", "cut_short")


@dataclass(slots=True)
class Counts:
    """Counts of a reply, a round or all rounds. All have to be zero but those of `ALLOWED`."""

    replies: int = 0
    seen: int = 0  # characters
    lost_by_kill: int = 0  # characters, within what a killed process may lose
    cut_frozen: int = 0  # replies that were interrupted because their process was frozen beyond its lease
    cut_off: int = 0  # replies whose process alone was cut off from the database beyond its lease
    cut_short: int = 0  # replies that were interrupted though their process was neither ended nor that
    lost: int = 0  # characters
    invented: int = 0  # characters seen or stored that the upstream did not send
    failed: int = 0  # replies, though the upstream refuses nothing
    left_live: int = 0  # rows
    calls_doubled: int = 0
    steps_lost: int = 0  # that a viewer saw in another state than is stored, at the end
    endings_doubled: int = 0
    messages_doubled: int = 0
    without_end: int = 0  # viewers
    positions_wrong: int = 0
    reloads_wrong: int = 0
    never_taken: int = 0  # sends

    @property
    def failures(self) -> dict[str, int]:
        must_be_zero = [each.name for each in fields(self) if each.name not in ALLOWED]
        return self._counted(must_be_zero)

    @property
    def interruptions(self) -> dict[str, int]:
        """The replies whose process lives, for each cause."""
        return self._counted(INTERRUPTIONS)

    def _counted(self, names: Sequence[str]) -> dict[str, int]:
        return {name: count for name in names if (count := getattr(self, name))}

    def add(self, other: "Counts") -> None:
        for each in fields(self):
            setattr(self, each.name, getattr(self, each.name) + getattr(other, each.name))


@dataclass(slots=True)
class Outcome:
    """The facts about one reply. `killed`: its process was killed while it wrote; `ended`: or drained.

    `page` is the HTML of the reply on its conversation's page; `again` what a reader saw of the whole stream.
    """

    text: str
    reasoning: str
    sightings: list[Sighting]
    stored: Stored
    calls: int
    steps: int = 0  # the turns with a call that were planned
    second: int = 0  # characters that the upstream sends in a second
    token: int = 0  # characters of its longest token: half a second may begin and end with one
    killed: bool = False
    ended: bool = False
    cause: Cause = Cause.UNKNOWN  # of an interruption, if the process was not ended
    page: str | None = None
    again: Sighting | None = None
    owners: list[int] = field(default_factory=list)  # the processes that asked


def judge(outcome: Outcome) -> Counts:
    """The counts of one reply."""
    stored, sightings = outcome.stored, outcome.sightings
    texts = [text for each in sightings for text in each.all_texts]
    thoughts = [text for each in sightings for text in each.all_reasonings]
    allowed = int(outcome.second * KILLED_SECONDS) + outcome.token if outcome.killed else 0
    missing = _missing(texts, stored.text), _missing(thoughts, stored.reasoning)
    excess = max(0, sum(missing) - allowed)
    is_cut = stored.status == "interrupted" and not outcome.ended
    return Counts(
        replies=1,
        seen=max(map(len, texts), default=0) + max(map(len, thoughts), default=0),
        lost=excess,
        lost_by_kill=sum(missing) - excess,
        invented=_missing([*texts, stored.text], outcome.text)
        + _missing([*thoughts, stored.reasoning], outcome.reasoning),
        failed=stored.statuses.count("failed"),
        left_live=stored.live,
        cut_frozen=int(is_cut and outcome.cause == Cause.FROZEN),
        cut_off=int(is_cut and outcome.cause == Cause.CUT_OFF),
        cut_short=int(is_cut and outcome.cause == Cause.UNKNOWN),
        calls_doubled=max(0, outcome.calls - 1 - outcome.steps),
        steps_lost=_steps_lost(outcome),
        endings_doubled=_endings_beyond_one(outcome),
        messages_doubled=max(0, stored.questions - 1) + max(0, len(stored.runs) - 1),
        without_end=sum(not each.finished for each in sightings) if stored.runs else 0,
        positions_wrong=sum(len(each.wrong_positions) for each in sightings),
        reloads_wrong=len(reloads_wrong(outcome)),
        never_taken=int(not stored.runs),
    )


def _missing(seen: Sequence[str], kept: str) -> int:
    """Characters of the longest of these that `kept` does not begin with."""
    return max((len(beyond(text, kept)) for text in seen), default=0)


def beyond(text: str, kept: str) -> str:
    """Return the rest of `text` from the first difference from `kept`."""
    pairs = enumerate(zip(text, kept, strict=False))
    same = next((place for place, (one, other) in pairs if one != other), min(len(text), len(kept)))
    return text[same:]


def _steps_lost(outcome: Outcome) -> int:
    """Steps that are not stored as viewers saw them at their end, and those that still run without a run."""
    ended = [each for each in outcome.sightings if each.statuses]
    looks = [*ended, outcome.again] if outcome.again else ended
    stored = outcome.stored.steps
    wrong = sum(look.steps.get(number) != state for look in looks for number, state in stored.items())
    wrong += sum(number not in stored for look in looks for number in look.steps)
    return wrong + (0 if outcome.stored.live else list(stored.values()).count("running"))


def _endings_beyond_one(outcome: Outcome) -> int:
    """Viewers that saw two ends, and ends other than the stored one."""
    twice = sum(len(each.statuses) > 1 for each in outcome.sightings)
    ends = {status for each in outcome.sightings for status in each.statuses}
    return twice + len(ends - {outcome.stored.status})


def reloads_wrong(outcome: Outcome) -> list[str]:
    """Looks at the reply afterwards that show something else than is stored: the page and the stream; and
    viewers whose HTML shows something else than the text that they were sent.
    """
    stored, again, wrong = outcome.stored, outcome.again, []
    if outcome.page is not None and words(outcome.page) != stored.text.split():
        wrong.append(f"the page shows {outcome.page!r}")
    if again is not None:
        whole = (again.text, again.reasoning, again.statuses)
        if whole != (stored.text, stored.reasoning, [stored.status]):
            wrong.append(f"the stream says {whole!r}")
    for number, each in enumerate(outcome.sightings):
        if each.page and each.statuses and words("".join(each.blocks)) != each.text.split():
            wrong.append(f"viewer {number} has {''.join(each.blocks)!r}")
    return wrong


def words(markup: str) -> list[str]:
    """The words that a page of plain paragraphs shows."""
    return html.unescape(re.sub(r"<[^>]+>", " ", markup)).split()
