"""Two tabs order, delete, restore and send at once: no row is lost, and nothing hangs on what is deleted."""

import random
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.support.databases import Database
from tests.support.server import Person, Server
from tests.support.waiting import until
from tests.views.trees import ask_to_end

pytestmark = pytest.mark.database
ROUNDS = 40
# A deletion is taken back at once: the other two tabs find the conversation most of the time, for any seed.
ORDER = (("pin",), ("unpin",), ("archive",), ("unarchive",), ("tag",), ("untag",), ("delete", "restore"))
# A message that is not deleted below one that is; a leaf that is shown although it is deleted.
HANGING = """
SELECT COUNT(*) FROM chat_message m JOIN chat_message p ON p.id = m.parent_id
WHERE m.deleted IS NULL AND p.deleted IS NOT NULL
"""
SHOWN = """
SELECT COUNT(*) FROM chat_conversation c JOIN chat_message m ON m.id = c.active_leaf_id
WHERE m.deleted IS NOT NULL
"""
BOTH = "SELECT COUNT(*) FROM chat_conversation WHERE pinned_at IS NOT NULL AND archived_at IS NOT NULL"


def test_two_tabs_at_once_lose_no_row(server: Server, database: Database, hers: str) -> None:
    seed = random.randrange(10**6)
    print("seed", seed)
    tabs = [server.person("alice") for _ in range(3)]
    sent = [
        ask_to_end(tabs[0], "fake: words tokens=2 delay=0", f"/c/{hers}/messages/").meta for _ in range(2)
    ]
    known = [key for meta in sent for key in (meta["user_message"], meta["message"])]
    with ThreadPoolExecutor(3) as pool:
        works = [
            pool.submit(order, tabs[0], hers, random.Random(seed)),
            pool.submit(cut, tabs[1], known, random.Random(seed + 1)),
            pool.submit(send, tabs[2], hers, known),
        ]
        statuses = [status for work in works for status in work.result(timeout=120)]
    assert set(statuses) <= {200, 404, 409}, statuses
    assert statuses.count(200) > ROUNDS // 2, statuses
    until(lambda: not database.value("SELECT COUNT(*) FROM chat_run WHERE finished IS NULL"))
    stored = {str(key).replace("-", "") for (key,) in database.rows("SELECT id FROM chat_message")}
    assert {key.replace("-", "") for key in known} <= stored
    assert [database.value(sql) for sql in (HANGING, SHOWN, BOTH)] == [0, 0, 0]
    tabs[0].post("/conversations/", {"action": "restore", "conversations": [hers]})
    assert tabs[0].get(f"/c/{hers}/").status_code == 200


def order(tab: Person, conversation: str, chance: random.Random) -> list[int]:
    found = []
    for _ in range(ROUNDS):
        for action in chance.choice(ORDER):
            body = {"action": action, "conversations": [conversation], "tag": "red"}
            found.append(tab.post("/conversations/", body).status_code)
    return found


def cut(tab: Person, known: list[str], chance: random.Random) -> list[int]:
    found = []
    for _ in range(ROUNDS):
        message, action = chance.choice(known), chance.choice(("delete", "undelete", "undelete"))
        found.append(tab.post(f"/messages/{message}/{action}/").status_code)
    return found


def send(tab: Person, conversation: str, known: list[str]) -> list[int]:
    found = []
    for _ in range(ROUNDS // 2):
        with tab.ask("fake: words tokens=2 delay=0", f"/c/{conversation}/messages/") as stream:
            found.append(stream.status)
            if stream.status == 200:
                stream.to_end()
                known += [stream.meta["user_message"], stream.meta["message"]]
    return found
