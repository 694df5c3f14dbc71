"""Positions in a run's stream: the `id` of its frames."""

import re
from typing import NamedTuple

MAX_POSITION_CHARS = 40
_POSITION = re.compile(r"(\d{1,12})(?:\.(\d{1,12})(?:\.(\d{1,6}))?)?(!?)", re.ASCII)


class Position(NamedTuple):
    """A position in a run's stream: the number of code points of text and of reasoning that a viewer has, and
    of changes of the run's steps.

    Written as `<text>`, `<text>.<reasoning>` or `<text>.<reasoning>.<steps>`, with `!` appended after `done`.
    Opaque to clients.
    """

    text: int = 0
    reasoning: int = 0
    steps: int = 0
    done: bool = False

    @classmethod
    def parse(cls, text: str) -> "Position":
        """Parse the id of a frame. Raises ValueError if it is not written like one."""
        match = _POSITION.fullmatch(text) if len(text) <= MAX_POSITION_CHARS else None
        if match is None:
            raise ValueError("not a position")
        text, reasoning, steps, done = match.groups()
        return cls(int(text), int(reasoning or 0), int(steps or 0), bool(done))

    def __str__(self) -> str:
        place = f"{self.text}.{self.reasoning}" if self.reasoning or self.steps else str(self.text)
        if self.steps:
            place = f"{place}.{self.steps}"
        return f"{place}!" if self.done else place
