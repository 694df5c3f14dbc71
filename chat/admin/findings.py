"""The findings of the set-up check."""

from dataclasses import dataclass
from typing import Literal

State = Literal["good", "note", "bad"]
GOOD: State = "good"
NOTE: State = "note"
BAD: State = "bad"


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of a check in words, and what to do about it, "" if nothing."""

    name: str
    state: State
    message: str
    advice: str = ""
