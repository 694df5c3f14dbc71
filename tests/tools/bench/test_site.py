"""The made site has what its size says, and the application shows and finds it."""

from collections.abc import Callable

import pytest

from tests.support.databases import Database
from tests.support.server import Server
from tests.tools.bench import administration, site

SMALL = site.Size(
    people=20, conversations=60, messages=600, own_conversations=20, own_messages=200, longest=120,
    calls=20, readings=20,
)  # fmt: skip


@pytest.mark.database
def test_it_has_what_its_size_says(database: Database) -> None:
    made = site.fill(database, SMALL)
    for table, rows in {"user": 20, "conversation": 60, "call": 20}.items():
        assert database.value(f"SELECT COUNT(*) FROM chat_{table}") == rows
    assert 580 <= database.value("SELECT COUNT(*) FROM chat_message") <= 620
    key = database.key(str(made.longest))
    assert database.value(f"SELECT COUNT(*) FROM chat_message WHERE conversation_id = '{key}'") == 120
    of_alice = "FROM chat_message m JOIN chat_conversation c ON c.id = m.conversation_id"
    assert 180 <= database.value(f"SELECT COUNT(*) {of_alice} WHERE c.user_id = {made.alice}") <= 220
    titles_and_messages = 60 + database.value("SELECT COUNT(*) FROM chat_message")
    assert database.value("SELECT COUNT(*) FROM chat_searchdocument") == titles_and_messages


def test_every_page_of_the_bench_shows_it(servers: Callable[..., Server], database: Database) -> None:
    made = site.fill(database, SMALL)
    server = servers()
    assert server.person("erin").get("/admin/chat/conversation/").text.count("<tr>") > 50
    assert all(line.measured > 0 for line in administration.lines("made", server.url, made, tries=1))
    found = server.person("alice").get("/search/?q=ban", headers=administration.JSON).json()
    assert found["results"]
