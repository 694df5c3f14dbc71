"""Stored questions."""

from tests.support.server import Server


def count_questions(server: Server, text: str) -> int:
    """Return how often this question is stored."""
    return server.database.value(f"SELECT count(*) FROM chat_message WHERE role = 'user' AND text = '{text}'")
