"""Conversations that are too long to be asked for one by one, written past the engine."""

import uuid
from datetime import UTC, datetime, timedelta

from tests.e2e.sidebar_page import conversations
from tests.support.server import Server

MODEL = "@cf/zai-org/glm-4.7-flash"
AT_ONCE = 500  # rows of one statement


def talk(server: Server, owner: str, texts: list[str]) -> str:
    """A conversation of these questions and replies, one after the other. Returns its address.

    In SQL, for a process that loads Django costs more than most tests do.
    """
    (address,) = conversations(server.database, owner, ["A long talk"])
    key = uuid.UUID(address).hex  # as SQLite holds it; PostgreSQL reads both forms
    begun = datetime.now(UTC) - timedelta(days=1)
    ids = [uuid.uuid4().hex for _ in texts]
    rows = []
    for n, text in enumerate(texts):
        parent = f"'{ids[n - 1]}'" if n else "NULL"
        role, model = ("assistant", MODEL) if n % 2 else ("user", "")
        at = (begun + timedelta(seconds=n)).strftime("%Y-%m-%d %H:%M:%S.%f")
        quoted = text.replace("'", "''")
        rows.append(f"('{ids[n]}', '{key}', {parent}, '{role}', '{quoted}', '', '{model}', '{at}')")
    columns = "id, conversation_id, parent_id, role, text, reasoning, model, created"
    for first in range(0, len(rows), AT_ONCE):
        values = ", ".join(rows[first : first + AT_ONCE])
        server.database.rows(f"INSERT INTO chat_message ({columns}) VALUES {values}")
    server.database.rows(
        f"UPDATE chat_conversation SET model = '{MODEL}', active_leaf_id = '{ids[-1]}' WHERE id = '{key}'"
    )
    return f"/c/{address}/"


def numbered(count: int, lines: int = 3) -> list[str]:
    """Return so many messages, each with its number."""
    more = "".join(f"\n\nLine {line} of it." for line in range(lines))
    return [f"Message {n}.{more}" for n in range(1, count + 1)]


def count_questions(server: Server, text: str) -> int:
    return server.database.value(f"SELECT count(*) FROM chat_message WHERE role = 'user' AND text = '{text}'")
