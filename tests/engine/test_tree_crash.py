"""A reply whose server died can be continued, and what had been started is found again while one drains."""

import uuid

import pytest

from tests.engine.draining import begin_to_stop
from tests.fake_cloudflare.server import Fake
from tests.support.server import Server
from tests.support.waiting import until

pytestmark = pytest.mark.database
ENDLESS = "fake: words tokens=9000 delay=0.02\nfake-then: words tokens=9000 delay=0.02"
TEXT = "SELECT text FROM chat_message WHERE role = 'assistant'"


def test_continue_starts_at_the_stored_text_after_each_kill_9(server: Server) -> None:
    alice = server.person("alice")
    stored = "SELECT COALESCE(SUM(LENGTH(text)), 0) FROM chat_runchunk"
    with alice.ask(ENDLESS) as stream:
        stream.until(600)
        until(lambda: server.database.value(stored) > 100)
        server.kill()
    lengths, path = [0], f"/messages/{stream.meta['message']}/continue/"
    for _ in range(2):
        server.start()
        lengths.append(len(server.database.value(TEXT)))
        with alice.start(path) as run:
            run.until(600)
            until(lambda: server.database.value(stored) > 100)
            server.kill()
        assert run.text.startswith("more1 more2 ")
        assert run.position == str(len(run.text))
    server.start()
    whole = server.database.value(TEXT)
    starts = "SELECT text_offset, status FROM chat_run ORDER BY created"
    assert server.database.rows(starts) == [(length, "interrupted") for length in lengths]
    assert lengths == sorted(set(lengths))
    assert whole.startswith("word1 word2 ")
    assert all(whole[start:].lstrip().startswith("more1 more2 ") for start in lengths[1:])
    assert server.database.value("SELECT COUNT(*) FROM chat_runchunk") == 0
    again = alice.followed(run.run)
    assert whole[lengths[-1] :] == again.text


def test_repeated_key_finds_its_run_while_draining(server: Server, fake: Fake) -> None:
    alice = server.person("alice")
    stream = alice.asked("fake: length tokens=3\nfake-then: held")
    path, sent = f"/messages/{stream.meta['message']}/continue/", str(uuid.uuid4())
    with alice.start(path, client_key=sent) as more:
        more.until(5)
        begin_to_stop(server)
        with server.person("alice").start(path, client_key=sent) as again:
            again.until(5)
            assert (again.status, again.run) == (200, more.run)
        for call in ("continue", "regenerate"):
            refused = server.person("alice").post(f"/messages/{stream.meta['message']}/{call}/", {})
            assert (refused.status_code, refused.json()["error"]["code"]) == (503, "draining")
        edit = f"/messages/{stream.meta['user_message']}/edit/"
        assert server.person("alice").post(edit, {"content": "hello"}).status_code == 503
        fake.go_on()
        more.to_end()
    assert more.done["status"] == "complete"
    assert server.database.value(TEXT) == stream.text + more.text
