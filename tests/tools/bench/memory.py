"""The memory that a process still holds for replies that have ended."""

import time

from .load import Job
from .stage import Stage
from .table import Line
from .targets import Words

AT_ONCE = 50
FIRST = 100
TOKENS = 200  # about 1.3 kB of text
REST_SECONDS = 10.0  # after the last reply, until what ended is let go
MARK_MB = 5.0


def kept(stage: Stage, replies: int) -> list[Line]:
    """Own memory after so many replies, beyond that after the first hundred."""
    with stage.server() as (_, process, chat):
        add_replies(stage, chat, FIRST)
        time.sleep(REST_SECONDS)
        before, before_mapped = process.own_memory(), process.memory()
        add_replies(stage, chat, replies - FIRST)
        time.sleep(REST_SECONDS)
        grown, grown_mapped = process.own_memory() - before, process.memory() - before_mapped
    title = f"memory after {replies:,} replies, beyond that after {FIRST}"
    return [
        Line(title, grown, "MB", MARK_MB if replies >= 10_000 else None),
        Line("  with the pages of the database file that SQLite maps", grown_mapped, "MB"),
    ]


def add_replies(stage: Stage, chat: object, replies: int) -> None:
    for _ in range(replies // AT_ONCE):
        stage.complete(Job(chat, Words(TOKENS), AT_ONCE))
