"""A disabled person is out at once, and the reply is finished all the same; the right of reviewers."""

import time

import pytest

from tests.engine.access_check import ONE_CHECK
from tests.fake_cloudflare.server import Fake
from tests.support.databases import Database
from tests.support.people import CSRF, PASSWORD
from tests.support.server import Server
from tests.support.waiting import until

pytestmark = pytest.mark.database


def set_active(server: Server, active: bool) -> None:
    """Set alice's flag as the form of the admin does."""
    key = server.database.value("SELECT id FROM chat_user WHERE username = 'alice'")
    form = {"username": "alice", "email": "alice@example.org", "csrfmiddlewaretoken": CSRF}
    form |= {"current": PASSWORD} | ({"is_active": "on"} if active else {})
    changed = server.person("root").client.post(f"/admin/chat/user/{key}/change/", data=form)
    assert changed.status_code == 302


def test_disabled_user_is_out_and_the_reply_is_finished(server: Server, fake: Fake) -> None:
    alice, later, back = server.person("alice"), server.person("alice"), server.person("")
    assert later.get("/").status_code == 200
    with alice.ask("fake: held key=disabled tokens=150") as stream:
        stream.until(20)
        set_active(server, False)
        assert later.get("/").status_code == 302
        assert later.post(f"/c/{stream.conversation}/messages/", {"content": "more"}).status_code == 401
        assert later.get(f"/runs/{stream.run}/stream/").status_code == 401
        assert later.stop(stream.run).status_code == 401
        lost = time.monotonic()
        stream.to_end()
        assert time.monotonic() - lost < ONE_CHECK
    assert stream.problems[-1]["code"] == "signed_out"
    assert not stream.finished
    status = f"SELECT status FROM chat_run WHERE id IN ('{stream.run}', '{stream.run.replace('-', '')}')"
    fake.go_on("disabled")
    until(lambda: server.database.value(status) == "complete")  # nobody reads it
    set_active(server, True)
    form = {"login": "alice", "password": PASSWORD, "csrfmiddlewaretoken": CSRF}
    assert back.client.post("/accounts/login/", data=form).status_code == 302
    with back.follow(stream.run) as again:
        assert again.to_end().text.endswith("word150")


def test_there_is_a_group_for_reviewers_with_one_right(database: Database) -> None:
    rights = database.rows(
        "SELECT p.codename FROM auth_group g JOIN auth_group_permissions gp ON gp.group_id = g.id "
        "JOIN auth_permission p ON p.id = gp.permission_id WHERE g.name = 'Reviewers'"
    )
    assert rights == [("view_conversation",)]
    twice = database.value("SELECT count(*) FROM auth_permission WHERE codename = 'view_conversation'")
    assert twice == 1
