"""Calls that another site has a browser make leave no trace, and no other site may read a response."""

import httpx
import pytest

from chat.views.requests.errors import NO_CSRF
from tests.support.databases import Database
from tests.support.people import CSRF, SESSIONS
from tests.support.server import Server
from tests.views.objects import Turn, address, make_turn
from tests.views.rights import API, ROWS, Row
from tests.views.stored import everything

SENDS = [row for row in ROWS if "POST" in row.methods and row not in API]  # where a session opens nothing
FOREIGN = "https://evil.example"
# The headers and cookies in which such a call differs from our page's own; None: not sent.
FORGED: dict[str, dict[str, str | None]] = {
    "without a token": {"X-CSRFToken": None},
    "with another token": {"X-CSRFToken": "d" * 32},
    "without the cookie": {"csrftoken": None},
    "from a page without an origin": {"Origin": "null"},
    "from another site": {"Origin": FOREIGN},
    "from another site as a plain text": {
        "Origin": FOREIGN,
        "Content-Type": "text/plain",
        "X-CSRFToken": None,
    },
    "as a plain text": {"Content-Type": "text/plain", "X-CSRFToken": None},
}


@pytest.fixture(scope="module")
def turn(server: Server) -> Turn:
    return make_turn(server.person("alice"))


def send(server: Server, path: str, row: Row, forged: dict[str, str | None]) -> httpx.Response:
    headers = {"X-CSRFToken": CSRF, "Origin": server.url, "Content-Type": "application/json"}
    headers |= {name: value for name, value in forged.items() if name != "csrftoken" and value}
    for name in forged:
        if forged[name] is None:
            headers.pop(name, None)
    cookies = [f"sessionid={SESSIONS['root' if row.route.startswith('admin') else 'alice']}"]
    if "csrftoken" not in forged:
        cookies.append(f"csrftoken={CSRF}")
    headers["Cookie"] = "; ".join(cookies)
    return httpx.post(server.url + path, verify=False, headers=headers, content=b'{"content": "forged"}')


@pytest.mark.parametrize("how", FORGED)
def test_a_forged_call_is_refused_at_every_address(
    server: Server, turn: Turn, database: Database, how: str
) -> None:
    sessions = "SELECT COUNT(*) FROM django_session"
    before = everything(database), database.value(sessions)
    for row in SENDS:
        path = address(row, turn)
        response = send(server, path, row, FORGED[how])
        assert response.status_code in (403, 405), f"{path}: {response.status_code}"
        assert "Set-Cookie" not in response.headers or "sessionid" not in response.headers["Set-Cookie"]
    assert (everything(database), database.value(sessions)) == before


def test_the_same_calls_get_through_from_our_own_page(server: Server) -> None:
    turn = make_turn(server.person("alice"))
    for row in SENDS:
        if not row.signs_out and "delete" not in row.route:
            response = send(server, address(row, turn), row, {})
            assert str(NO_CSRF) not in response.text, row.route


@pytest.mark.parametrize("origin", [FOREIGN, "null", "http://localhost.evil.example"])
def test_no_other_site_may_read_any_answer(server: Server, turn: Turn, origin: str) -> None:
    people = [server.person(name) for name in ("", "alice", "root")]
    for row in ROWS:
        for person in people:
            for method in {"GET", "OPTIONS"} & set(row.methods.split()) | {"OPTIONS"}:
                headers = {"Origin": origin, "Access-Control-Request-Method": "POST"}
                response = person.call(method, address(row, turn), headers=headers)
                names = [name for name in response.headers if name.lower().startswith("access-control-")]
                assert names == [], f"{method} {row.route}"
    static = people[0].get("/static/css/chat.css", headers={"Origin": origin})
    assert static.status_code == 200
    assert "access-control-allow-origin" not in static.headers
