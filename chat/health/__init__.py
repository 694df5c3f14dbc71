"""The checks of `doctor` and of the set-up page, and their findings."""

from dataclasses import dataclass
from typing import Literal

FindingState = Literal["good", "note", "bad"]
GOOD: FindingState = "good"
NOTE: FindingState = "note"
BAD: FindingState = "bad"


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of a check in words, and what to do about it, "" if nothing."""

    name: str
    state: FindingState
    message: str
    advice: str = ""
