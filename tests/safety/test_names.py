"""Payloads as title, name, instructions, reason and error: on every page and in the admin."""

from collections.abc import Callable
from urllib.parse import quote

import pytest

from tests.fake_cloudflare.text_scenarios import says_line
from tests.safety.browser_watch import Watch
from tests.safety.payloads import LEAKS, SCRIPTS, aimed
from tests.safety.spy import Spy
from tests.support.databases import Database
from tests.support.server import Person, Server

TITLES = 60  # so many are in the sidebar of one page
Opens = Callable[[str], Watch]
HOSTILE = ("image", "out of a quote", "out of a title", "svg", "a template of the server", "script", "link")


@pytest.fixture(scope="module")
def alice(server: Server) -> Person:
    return server.person("alice")


def ask_to_end(person: Person, text: str, **fields: str) -> tuple[str, str]:
    """The keys of the conversation and of the reply."""
    stream = person.asked(text, **fields)
    return stream.conversation, stream.meta["message"]


def renamed(database: Database, who: str, name: str) -> None:
    name = name.replace("'", "''")
    names = f"username = '{name}', first_name = '{name[:150]}'"
    database.rows(f"UPDATE chat_user SET {names} WHERE email = '{who}@example.org'")


def test_titles_are_text_in_sidebar_lists_and_admin(watched: Opens, alice: Person, spy: Spy) -> None:
    payloads = [text.replace("\0", "") for text in aimed(SCRIPTS, spy.port) + aimed(LEAKS, spy.port)]
    for payload in payloads[:TITLES]:
        conversation, _ = ask_to_end(alice, payload)
    for payload in payloads[TITLES:]:
        changed = alice.post(
            f"/c/{ask_to_end(alice, 'hello')[0]}/rename/", {"title": payload.splitlines()[0][:80]}
        )
        assert changed.status_code == 200
    hers = watched("alice")
    hers.visit("/")
    hers.visit(f"/c/{conversation}/")
    hers.visit("/conversations/")
    titles = hers.page.locator("main, body").first.inner_text()
    assert "<script>" in titles
    erins = watched("erin")
    erins.visit("/admin/chat/conversation/")
    erins.visit("/admin/chat/conversation/?p=1")
    erins.visit(f"/admin/chat/conversation/?q={quote(payloads[0])}")


@pytest.mark.parametrize("name", HOSTILE)
def test_a_name_instructions_a_reason_and_an_error_are_text(
    watched: Opens, server: Server, database: Database, spy: Spy, name: str
) -> None:
    payload = dict(zip(SCRIPTS, aimed(SCRIPTS, spy.port), strict=True))[name]
    renamed(database, "bob", payload)
    renamed(database, "erin", payload + "'s reviewer")
    bob = server.person("bob")
    conversation, reply = ask_to_end(bob, f"{payload}\n{says_line(payload)}", system=payload)
    assert bob.post(f"/messages/{reply}/feedback/", {"thumb": "down", "reason": payload}).status_code == 200
    denied, _ = ask_to_end(bob, f"{payload}\n{says_line(payload).replace('says', 'denies')}")
    erins = watched("erin")
    for page in (f"/{conversation}/change/", f"/{denied}/change/", "/", f"/?q={quote(payload)}"):
        erins.visit(f"/admin/chat/conversation{page}")
    bobs = watched("bob")
    for page in (
        "/",
        f"/c/{conversation}/",
        f"/c/{denied}/",
        "/readings/",
        "/accounts/password/",
        "/conversations/",
    ):
        bobs.visit(page)
    roots = watched("root")
    for page in (
        "chat/user/",
        "chat/run/",
        "chat/reading/",
        "chat/worker/",
        "chat/invite/",
        "",
        f"chat/user/?q={quote(payload)}",
    ):
        roots.visit(f"/admin/{page}")


def test_error_pages_repeat_nothing_that_runs(
    watched: Opens, server: Server, alice: Person, spy: Spy
) -> None:
    conversation, _ = ask_to_end(alice, "hello")
    hers, nobodys = watched("alice"), watched("")
    for payload in (text.replace("\0", "") for text in aimed(SCRIPTS, spy.port)[:25]):
        quoted = quote(payload, safe="")
        hers.visit(f"/{quoted}")
        hers.visit(f"/c/{conversation}/?before={quoted}")
        nobodys.visit(f"/accounts/login/?next={quoted}")
