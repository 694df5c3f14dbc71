"""The page of API keys: made, shown once, taken back; and what the administration sees of them."""

import hashlib
import re
from typing import Any

import httpx
import pytest

from tests.support.databases import Database
from tests.support.people import CSRF, PASSWORD
from tests.support.server import Person, Server

pytestmark = pytest.mark.database
PAGE = "/settings/keys/"
WANTED = {"name": "a program", "run": True, "list": True, "password": PASSWORD}


def form(person: Person, path: str = PAGE, **fields: Any) -> httpx.Response:
    return person.client.post(path, data={"csrfmiddlewaretoken": CSRF, **fields})


def test_a_key_is_shown_once_and_only_its_digest_is_stored(alice: Person, database: Database) -> None:
    made = form(
        alice,
        name=" for  <b>my</b> script ",
        run="1",
        list="1",
        days="30",
        keep="conversations",
        password=PASSWORD,
    )
    assert (made.status_code, made.headers["Location"]) == (303, PAGE)
    cookie = made.headers["Set-Cookie"].split("; ", 1)[1]
    assert {"HttpOnly", "SameSite=Strict", f"Path={PAGE}", "Max-Age=60"} <= set(cookie.split("; "))
    shown = alice.get(PAGE)
    assert shown.headers["Cache-Control"] == "no-store"
    found = re.search(r'value="(chat_[\w-]{43})"', shown.text)
    assert found
    secret = found[1]
    again = alice.get(PAGE).text
    assert secret not in again
    assert f"{secret[:12]}…" in again
    assert "for &lt;b&gt;my&lt;/b&gt; script" in again
    rows = database.rows("SELECT digest, may_run, may_list, keeps_conversations, expires FROM chat_apikey")
    assert hashlib.sha256(secret.encode()).hexdigest() in [row[0] for row in rows]
    assert secret not in repr(database.rows("SELECT * FROM chat_apikey"))


def test_a_new_secret_is_shown_to_its_owner_only(alice: Person, server: Server) -> None:
    secret = alice.post(PAGE, WANTED).json()["key"]
    for who, sent in (("bob", secret), ("alice", "chat_forged")):
        person = server.person(who)
        person.client.cookies.set("new-key", sent)
        assert sent not in person.get(PAGE).text


def test_lifetimes_are_in_order_and_90_days_are_offered(alice: Person, database: Database) -> None:
    page = alice.get(PAGE).text
    assert re.findall(r'name="days" value="(\w+)"', page) == ["30", "90", "365", "never"]
    assert 'name="days" value="90" checked' in page
    refused = form(alice, name="x", run="1", days="365", password="wrong")
    assert refused.status_code == 403
    assert 'name="days" value="365" checked' in refused.text


def test_a_key_is_revoked_for_good_and_stays_in_the_list(alice: Person, database: Database) -> None:
    key = alice.post(PAGE, WANTED).json()["id"]
    response = form(alice, f"{PAGE}{key}/revoke/")
    assert (response.status_code, response.headers["Location"]) == (303, PAGE)
    assert f"{PAGE}{key}/revoke/" not in alice.get(PAGE).text
    when = database.value(f"SELECT revoked FROM chat_apikey WHERE id IN ('{key}', '{key.replace('-', '')}')")
    assert when
    assert alice.post(f"{PAGE}{key}/revoke/").status_code == 200
    assert when == database.value(
        f"SELECT revoked FROM chat_apikey WHERE id IN ('{key}', '{key.replace('-', '')}')"
    )


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        ({}, 400),
        ({"name": "x"}, 400),
        ({"name": " ", "run": True}, 400),
        ({"name": 7, "run": True}, 400),
        ({"name": "x" * 81, "run": True}, 413),
        ({"name": "x\0", "run": True}, 400),
        ({"name": "x", "run": True, "days": "31"}, 400),
        ({"name": "x", "run": True, "days": []}, 400),
        ({"name": "x", "run": True, "keep": "all"}, 400),
        ({"name": "x", "run": True, "user": 1}, 400),
        ({"name": "x", "run": True, "digest": "0"}, 400),
    ],
)
def test_an_invalid_key_is_refused(alice: Person, database: Database, fields: Any, status: int) -> None:
    before = database.rows("SELECT * FROM chat_apikey")
    assert alice.post(PAGE, fields).status_code == status
    assert database.rows("SELECT * FROM chat_apikey") == before


def test_one_person_has_at_most_fifty_keys(server: Server) -> None:
    bob = server.person("bob")
    statuses = [bob.post(PAGE, WANTED).status_code for _ in range(51)]
    assert statuses == [201] * 50 + [409]


def test_an_administrator_sees_and_revokes_everybodys_keys(server: Server, alice: Person) -> None:
    root = server.person("root")
    made = alice.post(PAGE, {**WANTED, "name": "to be revoked"}).json()
    page = root.get("/admin/chat/apikey/")
    assert "to be revoked" in page.text
    assert made["key"] not in page.text
    assert made["key"][:12] in page.text
    sent = {"action": "revoke", "_selected_action": made["id"], "csrfmiddlewaretoken": CSRF}
    assert root.client.post("/admin/chat/apikey/", data=sent).status_code == 302
    assert f"{PAGE}{made['id']}/revoke/" not in alice.get(PAGE).text


def test_only_an_administrator_lets_a_key_set_the_gateway(
    server: Server, alice: Person, database: Database
) -> None:
    made = alice.post(PAGE, {**WANTED, "name": "through a gateway"}).json()["id"]
    allowed = f"SELECT may_set_gateway FROM chat_apikey WHERE id IN ('{made}', '{made.replace('-', '')}')"
    assert alice.post(PAGE, {**WANTED, "may_set_gateway": True}).status_code == 400
    assert "sets AI Gateway options" not in alice.get(PAGE).text
    for action, then in (("allow_gateway", True), ("forbid_gateway", False)):
        sent = {"action": action, "_selected_action": made, "csrfmiddlewaretoken": CSRF}
        sent |= {"confirmed": "1", "current": PASSWORD}
        for who in ("alice", "carol", "erin"):
            server.person(who).client.post("/admin/chat/apikey/", data=sent)
        assert bool(database.value(allowed)) is not then
        assert server.person("root").client.post("/admin/chat/apikey/", data=sent).status_code == 302
        assert bool(database.value(allowed)) is then
        assert ("sets AI Gateway options" in alice.get(PAGE).text) is then
