"""A position in a run's stream: the number of code points of text and of reasoning that a viewer has."""

import re
from typing import NamedTuple

LONGEST = 40
_PATTERN = re.compile(r"(\d{1,12})(?:\.(\d{1,12}))?(!?)", re.ASCII)


class Position(NamedTuple):
    """Written as `<text>` or `<text>.<reasoning>`, with `!` appended after `done`. Opaque to clients."""

    text: int = 0
    reasoning: int = 0
    done: bool = False

    @classmethod
    def parse(cls, written: str) -> "Position":
        """Parse the id of a frame. Raises ValueError if it is not written like one."""
        match = _PATTERN.fullmatch(written) if len(written) <= LONGEST else None
        if match is None:
            raise ValueError("not a position")
        text, reasoning, done = match.groups()
        return cls(int(text), int(reasoning or 0), bool(done))

    def __str__(self) -> str:
        place = f"{self.text}.{self.reasoning}" if self.reasoning else str(self.text)
        return f"{place}!" if self.done else place
