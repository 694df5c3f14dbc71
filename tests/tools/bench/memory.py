"""What a process still holds of replies that have ended."""

import time

from .load import Job
from .stage import Stage
from .table import Line
from .targets import Words

AT_ONCE = 50
FIRST = 100
TOKENS = 200  # about 1.3 kB of text
KEPT_SECONDS = 62.0  # a finished run stays in memory for a minute, for those who come back
MARK_MB = 5.0


def kept(stage: Stage, replies: int) -> list[Line]:
    """Resident memory after so many replies, beyond that after the first hundred."""
    with stage.server() as (_, process, chat):
        answer(stage, chat, FIRST)
        time.sleep(KEPT_SECONDS)
        before = process.memory()
        answer(stage, chat, replies - FIRST)
        time.sleep(KEPT_SECONDS)
        grown = process.memory() - before
    title = f"memory after {replies:,} replies, beyond that after {FIRST}"
    return [Line(title, grown, "MB", MARK_MB if replies >= 10_000 else None)]


def answer(stage: Stage, chat: object, replies: int) -> None:
    for _ in range(replies // AT_ONCE):
        stage.complete(Job(chat, Words(TOKENS), AT_ONCE))
