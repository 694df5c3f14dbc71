"""The access log and the request id: what an entry holds, and what it never holds."""

import json
import re
import socket
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from django.test import RequestFactory

from chat.telemetry.request_id import request_id
from chat.views.requests.errors import refuse
from tests.fake_cloudflare.server import Fake
from tests.support.people import PASSWORD
from tests.support.server import Server
from tests.support.waiting import until

NEW = re.compile(r"[0-9a-f]{32}")
ON = {"ACCESS_LOG": "1", "LOG_FORMAT": "json"}


@pytest.fixture
def logging_server(servers: Callable[..., Server]) -> Server:
    return servers(**ON)


@pytest.fixture
def proxied_server(servers: Callable[..., Server]) -> Server:
    return servers(TRUSTED_PROXY="1", **ON)


def entries(server: Server) -> list[dict[str, Any]]:
    lines = (json.loads(line) for line in server.log.read_text().splitlines() if line.startswith("{"))
    return [entry for entry in lines if entry["logger"] == "chat.access"]


def entry(server: Server, path: str) -> dict[str, Any]:
    """Return the only entry of this path, once it is there."""
    until(lambda: any(entry["path"] == path for entry in entries(server)))
    (found,) = (entry for entry in entries(server) if entry["path"] == path)
    return found


def test_an_entry_tells_what_was_requested(logging_server: Server) -> None:
    response = httpx.get(f"{logging_server.url}/accounts/login/?next=/c/secret-words/")
    logged = entry(logging_server, "/accounts/login/")
    assert (logged["message"], logged["level"]) == ("GET /accounts/login/ 200", "INFO")
    assert (logged["client"], logged["method"], logged["status"]) == ("127.0.0.1", "GET", 200)
    assert logged["bytes"] == response.num_bytes_downloaded
    assert 0 < logged["seconds"] < 60
    assert logged["request_id"] == response.headers["X-Request-ID"]
    assert NEW.fullmatch(logged["request_id"])


def test_no_entry_holds_what_was_said_or_who_said_it(logging_server: Server) -> None:
    alice = logging_server.person("alice")
    alice.asked("a question about sailing")
    assert alice.get("/search/?q=sailing").status_code == 200
    httpx.get(f"{logging_server.url}/s/{'t' * 43}/")
    entry(logging_server, "/search/")
    assert entry(logging_server, "/s/…/")["status"] == 404
    assert entry(logging_server, "/c/")["method"] == "POST"
    assert not re.search("sailing|alice|sessionid|tttt", logging_server.log.read_text())


def test_without_the_setting_nothing_is_logged(servers: Callable[..., Server]) -> None:
    server = servers(LOG_FORMAT="json")
    httpx.get(f"{server.url}/accounts/login/")
    assert NEW.fullmatch(httpx.get(f"{server.url}/accounts/login/").headers["X-Request-ID"])
    assert entries(server) == []


def test_an_unknown_client_does_not_choose_the_id(logging_server: Server) -> None:
    headers = {"X-Request-ID": "chosen-by-a-client", "X-Forwarded-For": "203.0.113.9"}
    response = httpx.get(f"{logging_server.url}/accounts/login/", headers=headers)
    assert NEW.fullmatch(response.headers["X-Request-ID"])
    assert entry(logging_server, "/accounts/login/")["client"] == "127.0.0.1"


def test_a_trusted_proxy_chooses_the_id(proxied_server: Server) -> None:
    headers = {"X-Request-ID": "proxy-4711.a:b_c", "X-Forwarded-For": "203.0.113.9"}
    response = httpx.get(f"{proxied_server.url}/accounts/login/", headers=headers)
    assert response.headers["X-Request-ID"] == "proxy-4711.a:b_c"
    logged = entry(proxied_server, "/accounts/login/")
    assert (logged["client"], logged["request_id"]) == ("203.0.113.9", "proxy-4711.a:b_c")


@pytest.mark.parametrize(
    "sent", ["short", "x" * 65, "with space", 'quote"quote', "ümlautümlaut", "a\tbcdefgh"]
)
def test_an_id_of_another_form_is_replaced(proxied_server: Server, sent: str) -> None:
    headers = [(b"X-Request-ID", sent.encode("latin-1")), (b"X-Forwarded-Proto", b"http")]
    response = httpx.get(f"{proxied_server.url}/accounts/login/", headers=headers)
    assert NEW.fullmatch(response.headers["X-Request-ID"])


def test_a_body_that_is_too_large_is_logged(logging_server: Server) -> None:
    response = httpx.post(f"{logging_server.url}/accounts/login/", content=b"x" * 1_100_000)
    assert response.status_code == 413
    logged = entry(logging_server, "/accounts/login/")
    assert (logged["status"], logged["request_id"]) == (413, response.headers["X-Request-ID"])


def test_a_viewer_that_leaves_is_logged_with_what_it_got(logging_server: Server) -> None:
    alice = logging_server.person("alice")
    with alice.ask("fake: words tokens=400 delay=0.05") as stream:
        stream.until(10)
        assert not [entry for entry in entries(logging_server) if "message" in entry["path"]]
    until(lambda: [entry for entry in entries(logging_server) if entry["method"] == "POST"])
    (logged,) = (entry for entry in entries(logging_server) if entry["method"] == "POST")
    assert logged["status"] == 200
    assert logged["bytes"] > 100


def test_a_client_that_leaves_before_the_response_has_no_status(logging_server: Server) -> None:
    host, port = httpx.URL(logging_server.url).host, httpx.URL(logging_server.url).port
    with socket.create_connection((host, port)) as connection:
        connection.sendall(b"POST /accounts/login/ HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\nx")
    assert entry(logging_server, "/accounts/login/")["status"] is None


def test_a_call_of_the_api_is_logged_with_its_own_id_too(logging_server: Server) -> None:
    fields = {"name": "a program", "run": True, "list": True, "password": PASSWORD}
    key = logging_server.person("alice").post("/settings/keys/", fields).json()["key"]
    response = httpx.post(
        f"{logging_server.url}/v1/chat/completions",
        headers={"Authorization": f"Bearer {key}"},
        json={"model": "@cf/zai-org/glm-4.7-flash", "messages": [{"role": "user", "content": "hello"}]},
        timeout=30,
    )
    logged = entry(logging_server, "/v1/chat/completions")
    assert logged["call_id"] == response.headers["X-Request-Id"] != logged["request_id"]


def test_a_gateway_learns_the_id_of_the_send(servers: Callable[..., Server], fake: Fake) -> None:
    with servers(AI_GATEWAY_ID="team").person("alice").ask("hello") as stream:
        stream.to_end()
        told = stream.response.headers["X-Request-ID"]
    assert json.loads(fake.calls[-1]["headers"]["cf-aig-metadata"])["request"] == told


@pytest.mark.parametrize(("status", "shown"), [(500, True), (503, True), (404, False), (403, False)])
def test_an_error_page_shows_the_id_if_the_server_is_at_fault(status: int, shown: bool) -> None:
    request_id.set("0123456789abcdef")
    page = refuse(RequestFactory().get("/", headers={"Accept": "text/html"}), status)
    assert (b"Request 0123456789abcdef" in page.content) is shown
    request_id.set("")
    assert b"Request" not in refuse(RequestFactory().get("/", headers={"Accept": "text/html"}), 500).content
