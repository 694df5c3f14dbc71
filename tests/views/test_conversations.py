"""Actions on a whole conversation: rename, settings, seen, delete and undo."""

import re
import uuid
from typing import Any

import pytest

from tests.support.databases import Database
from tests.support.people import CSRF
from tests.support.server import Person, Server
from tests.views.conversations import OTHER_MODEL, column, others
from tests.views.refusals import refused

pytestmark = pytest.mark.database
FORM = {"csrfmiddlewaretoken": CSRF}


@pytest.mark.parametrize(
    ("sent", "title"),
    [
        ("Sailing", "Sailing"),
        ("  Sailing \n", "Sailing"),
        ("Sailing\nboats", "Sailing boats"),
        ("x" * 80, "x" * 80),
        ("😀" * 80 + "  ", "😀" * 80),
        ("<b>عنوان</b>", "<b>عنوان</b>"),
    ],
    ids=["plain", "trimmed", "one line", "longest", "longest in emoji", "markup"],
)
def test_a_rename_changes_the_title_and_nothing_else(
    alice: Person, hers: str, database: Database, sent: str, title: str
) -> None:
    before = others(database, hers, "title")
    response = alice.post(f"/c/{hers}/rename/", {"title": sent})
    assert response.status_code == 200
    assert response.json() == {"conversation": hers, "title": title}
    assert column(database, "title", hers) == title
    assert others(database, hers, "title") == before


def test_a_later_turn_leaves_the_title_that_was_given(alice: Person, hers: str, database: Database) -> None:
    alice.post(f"/c/{hers}/rename/", {"title": "Mine"})
    alice.asked("and now?", f"/c/{hers}/messages/")
    assert column(database, "title", hers) == "Mine"


def test_a_later_turn_takes_it_out_of_the_archive(alice: Person, hers: str, database: Database) -> None:
    alice.post("/conversations/", {"action": "archive", "conversations": [hers]})
    assert column(database, "archived_at", hers)
    alice.asked("and now?", f"/c/{hers}/messages/")
    assert column(database, "archived_at", hers) is None


@pytest.mark.parametrize(
    ("path", "body", "status", "code"),
    [
        ("rename", {}, 400, "malformed"),
        ("rename", {"title": ""}, 400, "malformed"),
        ("rename", {"title": " \n\t "}, 400, "malformed"),
        ("rename", {"title": None}, 400, "malformed"),
        ("rename", {"title": 7}, 400, "malformed"),
        ("rename", {"title": "a\0b"}, 400, "malformed"),
        ("rename", {"title": "x", "model": OTHER_MODEL}, 400, "malformed"),
        ("rename", {"title": "x" * 81}, 413, "too_long"),
        ("settings", {}, 400, "malformed"),
        ("settings", {"system": None}, 400, "malformed"),
        ("settings", {"system": 7}, 400, "malformed"),
        ("settings", {"model": "@cf/no/such"}, 400, "malformed"),
        ("settings", {"model": OTHER_MODEL, "title": "x"}, 400, "malformed"),
        ("settings", {"system": "x" * 20_001}, 413, "too_long"),
    ],
)
def test_impossible_titles_and_settings_are_refused(
    alice: Person, hers: str, unchanged, path: str, body: Any, status: int, code: str
) -> None:
    refused(alice.post(f"/c/{hers}/{path}/", body), status, code)


def test_settings_hold_from_the_next_turn_on(alice: Person, hers: str, database: Database, fake) -> None:
    before = others(database, hers, "model", "system")
    sent = {"model": OTHER_MODEL, "system": "Be brief.\r\nBe kind."}
    assert alice.post(f"/c/{hers}/settings/", sent).json() == {
        "conversation": hers,
        "model": OTHER_MODEL,
        "system": "Be brief.\nBe kind.",
    }
    assert others(database, hers, "model", "system") == before
    stream = alice.asked("and now?", f"/c/{hers}/messages/")
    assert stream.meta["model"] == OTHER_MODEL
    assert fake.calls[-1]["body"]["messages"][0] == {"role": "system", "content": "Be brief.\nBe kind."}


def test_settings_that_are_not_sent_stay(alice: Person, hers: str, database: Database) -> None:
    alice.post(f"/c/{hers}/settings/", {"model": OTHER_MODEL, "system": "x" * 20_000})
    alice.post(f"/c/{hers}/settings/", {"model": "@cf/zai-org/glm-4.7-flash"})
    assert column(database, "system", hers) == "x" * 20_000
    alice.post(f"/c/{hers}/settings/", {"system": ""})
    assert column(database, "system", hers) == ""
    assert column(database, "model", hers) == "@cf/zai-org/glm-4.7-flash"


def test_a_reply_that_was_seen_has_no_mark_until_the_next_one(alice: Person, hers: str) -> None:
    def marked() -> bool:
        return 'data-state="unseen"' in row(alice, hers)

    assert marked()
    assert alice.post(f"/c/{hers}/seen/").json() == {"conversation": hers}
    assert not marked()
    alice.asked("and now?", f"/c/{hers}/messages/")
    assert marked()


def test_seen_again_or_while_running_changes_nothing(alice: Person, hers: str, database: Database) -> None:
    alice.post(f"/c/{hers}/seen/")
    seen = others(database, hers)
    alice.post(f"/c/{hers}/seen/")
    assert others(database, hers) == seen
    with alice.ask("fake: words tokens=300 delay=0.05", f"/c/{hers}/messages/") as stream:
        stream.until(10)
        during = others(database, hers)
        alice.post(f"/c/{hers}/seen/")
        assert others(database, hers) == during
        assert 'data-state="replying"' in row(alice, hers)
        alice.stop(stream.run)
        stream.to_end()


def row(person: Person, conversation: str) -> str:
    """Return the conversation's row in the list of another page."""
    return next(each for each in person.get("/").text.split("<li") if conversation in each)


def test_a_restored_conversation_is_as_before(alice: Person, hers: str, database: Database) -> None:
    before = others(database, hers)
    assert alice.post(f"/c/{hers}/delete/").json() == {"conversation": hers, "deleted": True}
    assert alice.get(f"/c/{hers}/").status_code == 404
    for _ in range(2):  # once more is no mistake
        assert alice.post(f"/c/{hers}/undelete/").json() == {"conversation": hers, "deleted": False}
    assert others(database, hers) == before
    assert alice.get(f"/c/{hers}/").status_code == 200


def test_the_page_after_a_deletion_offers_to_take_it_back(server: Server, alice: Person, hers: str) -> None:
    gone = alice.client.post(f"/c/{hers}/delete/", data=FORM)
    assert (gone.status_code, gone.headers["Location"]) == (303, f"/?deleted={hers}")
    action = f'action="/c/{hers}/undelete/"'
    assert action in alice.get(gone.headers["Location"]).text
    assert action not in alice.get("/").text
    assert action not in server.person("bob").get(gone.headers["Location"]).text
    back = alice.client.post(f"/c/{hers}/undelete/", data=FORM)
    assert (back.status_code, back.headers["Location"]) == (303, f"/c/{hers}/")
    assert action not in alice.get(gone.headers["Location"]).text
    assert alice.get("/?deleted=nonsense").status_code == 200


@pytest.mark.parametrize("path", ["rename", "settings", "seen"])
def test_forms_lead_back_to_the_conversation(alice: Person, hers: str, path: str) -> None:
    fields = {"rename": {"title": "By form"}, "settings": {"system": "By form", "model": ""}, "seen": {}}
    response = alice.client.post(f"/c/{hers}/{path}/", data={**fields[path], **FORM})
    assert (response.status_code, response.headers["Location"]) == (303, f"/c/{hers}/")
    if fields[path]:
        page = alice.get(f"/c/{hers}/").text
        assert "By form" in page
        for form in {"rename": ["rename"], "settings": ["instruct", "reset"]}[path]:
            assert f'<form id="{form}" method="post" action="/c/{hers}/{path}/">' in page
        assert 'name="parameters" value="reset"></form>' in page


@pytest.mark.parametrize("path", ["rename", "settings", "seen", "delete", "messages", "undelete"])
def test_login_returns_to_the_conversation_of_the_form(server: Server, path: str) -> None:
    key = uuid.uuid4()
    response = server.person("").client.post(f"/c/{key}/{path}/", data=FORM)
    home = path == "undelete"  # there is no such conversation until it is taken back
    expected = "/accounts/login/?next=/" if home else f"/accounts/login/?next=/c/{key}/"
    assert (response.status_code, response.headers["Location"]) == (302, expected)


def test_a_new_chat_proposes_the_model_of_the_site(server: Server) -> None:
    bob = server.person("bob")
    chosen = re.compile(r'<option value="([^"]+)" selected')
    assert chosen.findall(bob.get("/").text) == ["@cf/zai-org/glm-4.7-flash"]
    bob.asked("hello", model=OTHER_MODEL)
    assert chosen.findall(bob.get("/").text) == ["@cf/zai-org/glm-4.7-flash"]
