"""Each address for each role and method: the table in rights.py, walked."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import httpx
import pytest

from chat.accounts.sessions import session_digest
from tests.support.databases import Database
from tests.support.people import SESSIONS
from tests.support.server import Person, Server
from tests.views.objects import SECRET, Turn, address, make_deleted_turn, make_turn, never, routes
from tests.views.rights import ADMIN_LOGIN, ALL, LOGIN, ROLES, ROWS, SAFE, Row
from tests.views.stored import everything

WHATS = ("own", "deleted", "missing")
CHANGING = ("date", "expires", "location", "x-request-id")  # headers that differ between any two requests
UNUSED = {route: set(ALL.split()) for route in {row.route for row in ROWS}}
for listed in ROWS:
    UNUSED[listed.route] -= set(listed.methods.split())


def test_every_address_has_a_row_and_every_row_an_address() -> None:
    assert routes() == set(UNUSED)


@pytest.fixture(scope="module")
def people(server: Server) -> dict[str, Person]:
    return {role: server.person(role) for role in ROLES}


@pytest.fixture(scope="module")
def turns(people: dict[str, Person], database: Database) -> dict[str, Turn]:
    """Return the turns for calls that change nothing."""
    alice, dave = people["alice"], str(database.value("SELECT id FROM chat_user WHERE username = 'dave'"))
    return {
        "own": replace(make_turn(alice, picture=True), person=dave),
        "deleted": replace(make_deleted_turn(alice, picture=True), person=dave),
        "missing": never(),
    }


def told(response: httpx.Response, turn: Turn) -> str:
    """A status, and where it leads if it does, with … for the caller's own words."""
    where = response.headers.get("Location", "").split("?")[0]
    for key in sorted(vars(turn).values(), key=len, reverse=True):  # a short one can be a part of another
        where = where.replace(key, "…")
    return f"{response.status_code} {where}".strip()


@pytest.fixture
def leaver(database: Database, server: Server) -> Iterator[Any]:
    """A copy of somebody's session, for those who sign out."""

    made: list[str] = []

    def copy(role: str) -> Person:
        person = server.person("")
        if role in SESSIONS:
            key = f"leaving{role}{len(made)}".ljust(32, "x")
            made.append(key)
            database.rows(
                f"INSERT INTO django_session SELECT '{session_digest(key)}', session_data, expire_date "
                f"FROM django_session WHERE session_key = '{session_digest(SESSIONS[role])}'"
            )
            person.client.cookies.set("sessionid", key)
        return person

    yield copy
    for key in made:
        database.rows(f"DELETE FROM django_session WHERE session_key = '{session_digest(key)}'")


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_each_role_gets_what_its_row_says(row: Row, people, turns, database: Database, leaver) -> None:
    wrong: list[str] = []
    before = everything(database)
    for method, role, what in calls(row, quiet=True):
        response = people[role].call(method, address(row, turns[what]), row.body)
        wrong += check(row, method, role, what, told(response, turns[what]))
        assert SECRET not in response.text or row.expected(role, what) == "200"
    assert row.records or everything(database) == before
    for method, role, what in calls(row, quiet=False):
        turn = fresh(row, what, people["alice"]) if row.fresh else turns[what]
        person = leaver(role) if row.signs_out else people[role]
        response = person.call(method, address(row, turn), row.body)
        wrong += check(row, method, role, what, told(response, turn))
    assert wrong == []


def calls(row: Row, *, quiet: bool) -> Iterator[tuple[str, str, str]]:
    """Method, role and object of each call that is `quiet`, refused or a mere look, or of each that acts."""
    for method in row.methods.split():
        for role in ROLES:
            for what in WHATS if row.about and method in ("GET", "POST") else WHATS[:1]:
                if (method in SAFE.split() or row.expected(role, what)[0] == "4") is quiet:
                    yield method, role, what


def fresh(row: Row, what: str, alice: Person) -> Turn:
    if what == "missing":
        return never()
    return (make_turn if what == "own" else make_deleted_turn)(alice, picture="attachment" in row.route)


def check(row: Row, method: str, role: str, what: str, got: str) -> list[str]:
    expected = row.expected(role, what)
    return [] if got == expected else [f"{method} {role or 'nobody'} {what}: {got}, not {expected}"]


@pytest.mark.parametrize("route", [route for route, methods in sorted(UNUSED.items()) if methods])
def test_methods_without_a_row_are_refused(route: str, people, turns, database: Database) -> None:
    row = next(row for row in ROWS if row.route == route)
    before = everything(database)
    for method in UNUSED[route]:
        for role in ROLES:
            response = people[role].call(method, address(row, turns["own"]), row.body)
            assert response.status_code == 405, f"{method} {role}"
    assert everything(database) == before


@pytest.mark.parametrize("row", [row for row in ROWS if row.about], ids=str)
def test_a_strangers_object_and_a_missing_one_get_the_same_bytes(row: Row, people, turns) -> None:
    """Compare all but the caller's own words: any difference would tell which objects exist."""
    for role in ROLES:
        if row.expected(role, "own") not in ("404", "403", LOGIN, ADMIN_LOGIN):
            continue
        seen = [bytes_of(people[role], row, turn) for turn in turns.values()]
        assert seen[0] == seen[1] == seen[2], role


def bytes_of(person: Person, row: Row, turn: Turn) -> tuple[str, bytes, dict[str, str]]:
    response = person.call(row.methods.split()[0], address(row, turn), row.body)
    headers = {name: value for name, value in response.headers.items() if name.lower() not in CHANGING}
    return told(response, turn), response.content, headers


def test_signed_out_people_are_told_so(people, turns) -> None:
    for who in ("", "dave"):
        response = people[who].post(f"/c/{turns['own'].conversation}/messages/", {"content": "hello"})
        assert response.json()["error"]["code"] == "signed_out"
