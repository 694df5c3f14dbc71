"""A disabled person, or one whose password changed, loses access at once: pages, streams, the admin."""

import re
import time
from collections.abc import Iterator

import httpx
import pytest

from tests.engine.access_check import ONE_CHECK
from tests.fake_cloudflare.server import Fake
from tests.support.databases import Database
from tests.support.people import CSRF, PASSWORD
from tests.support.server import Person, Server, Stream
from tests.support.waiting import until

pytestmark = pytest.mark.database
AT_ONCE = ONE_CHECK  # seconds until an open stream ends
NEW = "a lighthouse by the sea"
LONG = "fake: words tokens=4000 delay=0.05"


@pytest.fixture
def root(server: Server) -> Iterator[Person]:
    """The administrator; whom a test disables is enabled again afterwards."""
    root = server.person("root")
    yield root
    for name in ("alice", "bob", "carol"):
        set_active(server, root, name, True)


def key(server: Server, name: str) -> int:
    return int(server.database.value(f"SELECT id FROM chat_user WHERE username = '{name}'"))


def set_active(server: Server, root: Person, name: str, active: bool) -> None:
    """Set the flag as the form of the admin does."""
    path = f"/admin/chat/user/{key(server, name)}/change/"
    staff = re.search(r'name="is_staff"[^>]*checked', root.get(path).text)
    form = {"username": name, "email": f"{name}@example.org", "csrfmiddlewaretoken": CSRF}
    form |= {"current": PASSWORD}
    form |= {"is_active": "on"} if active else {}
    form |= {"is_staff": "on"} if staff else {}
    assert root.client.post(path, data=form).status_code == 302


def is_signed_out(person: Person) -> bool:
    page, send = person.get("/"), person.post("/c/", {"content": "hello"})
    assert (page.status_code == 302) == (send.status_code == 401)
    return page.status_code == 302


def revoked_after(stream: Stream) -> float:
    """Seconds until the stream says that its reader is signed out, and ends there."""
    began = time.monotonic()
    stream.to_end()
    assert stream.problems[-1]["code"] == "signed_out"
    assert not stream.finished
    return time.monotonic() - began


def test_disabled_user_is_out_and_the_reply_is_finished(server: Server, root: Person, fake: Fake) -> None:
    alice, later = server.person("alice"), server.person("alice")
    assert not is_signed_out(later)
    with alice.ask("fake: held key=disabled tokens=150") as stream:
        stream.until(20)
        set_active(server, root, "alice", False)
        assert is_signed_out(later)
        assert later.post(f"/c/{stream.conversation}/messages/", {"content": "more"}).status_code == 401
        assert later.get(f"/runs/{stream.run}/stream/").status_code == 401
        assert later.stop(stream.run).status_code == 401
        assert revoked_after(stream) < AT_ONCE
    status = f"SELECT status FROM chat_run WHERE id = '{stored(server, stream.run)}'"
    fake.go_on("disabled")
    until(lambda: server.database.value(status) == "complete")  # nobody reads it
    set_active(server, root, "alice", True)
    back = sign_in(server, "alice", PASSWORD)
    assert back
    with back.follow(stream.run) as again:
        assert again.to_end().text.endswith("word150")


def stored(server: Server, run: str) -> str:
    """Return a UUID in the form in which this database stores it."""
    return run.replace("-", "") if server.database.url.startswith("sqlite") else run


def test_a_disabled_reviewer_is_out_of_the_admin_at_once(server: Server, root: Person) -> None:
    carol = server.person("carol")
    assert carol.get("/admin/").status_code == 200
    set_active(server, root, "carol", False)
    response = carol.get("/admin/")
    assert response.status_code == 302
    assert "/login/" in response.headers["Location"]


def test_an_account_enabled_again_has_to_sign_in(server: Server, root: Person) -> None:
    set_active(server, root, "bob", False)
    assert sign_in(server, "bob", PASSWORD) is None
    set_active(server, root, "bob", True)
    assert sign_in(server, "bob", PASSWORD)


def sign_in(server: Server, name: str, password: str) -> Person | None:
    """Sign a person in in another browser; None if the login is refused."""
    person = server.person("")
    form = {"login": name, "password": password, "csrfmiddlewaretoken": CSRF}
    response = person.client.post("/accounts/login/", data=form, headers={"accept": "application/json"})
    if response.status_code == 401:
        return None
    person.client.headers["X-CSRFToken"] = response.json()["csrf"]
    return person


def change_password(person: Person, current: str, new: str) -> httpx.Response:
    form = {"current": current, "new_password1": new}
    token = person.client.headers["X-CSRFToken"]
    return person.client.post("/accounts/password/", data=form | {"csrfmiddlewaretoken": token})


def test_password_change_ends_other_sessions_and_streams(database: Database, server: Server) -> None:
    kept, ended = sign_in(server, "bob", PASSWORD), sign_in(server, "bob", PASSWORD)
    assert kept
    assert ended
    with ended.ask(LONG) as stream:
        stream.until(20)
        assert change_password(kept, PASSWORD, NEW).status_code == 302
        assert is_signed_out(ended)
        assert revoked_after(stream) < AT_ONCE
    assert not is_signed_out(kept)
    assert sign_in(server, "bob", PASSWORD) is None
    assert change_password(kept, NEW, PASSWORD).status_code == 302


def test_a_link_for_a_new_password_ends_all_of_them(server: Server, root: Person) -> None:
    bob = sign_in(server, "bob", PASSWORD)
    assert bob
    with bob.ask(LONG) as stream:
        stream.until(20)
        path = f"/admin/chat/user/{key(server, 'bob')}/link/"
        form = {"csrfmiddlewaretoken": CSRF, "current": PASSWORD}
        assert root.client.post(path, data=form).status_code == 200
        assert is_signed_out(bob)
        assert revoked_after(stream) < AT_ONCE


def test_there_is_a_group_for_reviewers_with_one_right(database: Database) -> None:
    rights = database.rows(
        "SELECT p.codename FROM auth_group g JOIN auth_group_permissions gp ON gp.group_id = g.id "
        "JOIN auth_permission p ON p.id = gp.permission_id WHERE g.name = 'Reviewers'"
    )
    assert rights == [("view_conversation",)]
    twice = database.value("SELECT count(*) FROM auth_permission WHERE codename = 'view_conversation'")
    assert twice == 1
