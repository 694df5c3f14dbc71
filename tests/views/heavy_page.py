"""Another person's page, opened while one person opens the worst page twenty times at once."""

import multiprocessing
import time
import uuid
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import httpx

from tests.support.people import SESSIONS
from tests.support.server import Server

AT_ONCE = 20  # views of the worst page
PATIENCE = 300.0  # seconds
WORST, PLAIN = uuid.UUID(int=11), uuid.UUID(int=12)  # conversations
FENCES = 576  # of a reply, each another one; each takes pygments by the square of its length
FENCE = "```java\n{number}\n" + "a\n" * 480 + "```\n\n"
SAID = "Some *words* of a reply, with `code`.\n\n- one\n- two\n"


def seconds_meanwhile(server: Server) -> tuple[list[float], list[float]]:
    """Return the seconds of each of bob's views of a plain page, and of each of alice's of the worst one."""
    fill(server, "alice", WORST, ["".join(FENCE.format(number=each) for each in range(FENCES))])
    fill(server, "bob", PLAIN, [SAID] * 10)
    with browser(server.url, "bob") as bob:
        meanwhile = [_open(bob, PLAIN)]
        # In a process of its own: what its clients do must not slow this one.
        with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as crowd:
            crowd.submit(time.monotonic).result()
            views = crowd.submit(_open_at_once, server.url)
            while not views.done():
                meanwhile.append(_open(bob, PLAIN))
        return meanwhile[1:], views.result()


def fill(server: Server, name: str, key: uuid.UUID, replies: list[str]) -> None:
    """A conversation of questions and these replies."""
    database = server.database
    owner = database.value(f"SELECT id FROM chat_user WHERE username = '{name}'")
    database.rows(
        "INSERT INTO chat_conversation (id, user_id, title, model, system, parameters, created, updated, "
        f"last_seen) VALUES ('{key.hex}', {owner}, 'Filled', 'local/model', '', '{{}}', CURRENT_TIMESTAMP, "
        "CURRENT_TIMESTAMP, CURRENT_TIMESTAMP)"
    )
    parent = "NULL"
    for number, text in enumerate(piece for reply in replies for piece in ("Go on.", reply)):
        message = uuid.UUID(int=(key.int << 32) + number)
        role = "assistant" if number % 2 else "user"
        values = f"'{message.hex}', '{key.hex}', {parent}, '{role}', '{text}', '', '', CURRENT_TIMESTAMP"
        database.rows(
            "INSERT INTO chat_message (id, conversation_id, parent_id, role, text, reasoning, model, "
            f"created) VALUES ({values})"
        )
        parent = f"'{message.hex}'"
    database.rows(f"UPDATE chat_conversation SET active_leaf_id = {parent} WHERE id = '{key.hex}'")


def browser(url: str, name: str) -> httpx.Client:
    return httpx.Client(base_url=url, cookies={"sessionid": SESSIONS[name]}, timeout=PATIENCE)


def _open_at_once(url: str) -> list[float]:
    with ThreadPoolExecutor(AT_ONCE) as pool:
        return list(pool.map(_open_worst, [url] * AT_ONCE))


def _open_worst(url: str) -> float:
    with browser(url, "alice") as alice:
        return _open(alice, WORST)


def _open(person: httpx.Client, conversation: uuid.UUID) -> float:
    began = time.perf_counter()
    response = person.get(f"/c/{conversation}/")
    assert response.status_code == 200
    return time.perf_counter() - began
