"""The headers of every kind of response, by the table of Mozilla's HTTP Observatory: nothing costs a point.

Ported from mdn-http-observatory, src/grader/charts.js: 100 points to begin with, extras on top.
"""

import re

import httpx
import pytest

from tests.support.databases import Database
from tests.support.module_server import server_with
from tests.support.people import CSRF, SESSIONS
from tests.support.server import Server

SITE = "chat.example.org"
WANTED = 140
HALF_A_YEAR = 15_768_000
# kind of response: who asks, method, path, and its status
RESPONSES = {
    "login": ("", "GET", "/accounts/login/", 200),
    "to the login": ("", "GET", "/", 302),
    "chat": ("alice", "GET", "/", 200),
    "conversation": ("alice", "GET", "/c/{conversation}/", 200),
    "list": ("alice", "GET", "/conversations/", 200),
    "stream": ("alice", "GET", "/runs/{run}/stream/", 200),
    "source": ("alice", "GET", "/messages/{message}/source/", 200),
    "admin": ("root", "GET", "/admin/", 200),
    "transcript": ("root", "GET", "/admin/chat/conversation/{conversation}/change/", 200),
    "static": ("", "GET", "/static/css/chat.css", 200),
    "no such page": ("alice", "GET", "/nowhere/", 404),
    "no such file": ("", "GET", "/static/nothing.js", 404),
    "forged": ("alice", "POST", "/accounts/logout/", 403),
    "health": ("", "GET", "/healthz", 200),
}


# It stands behind a proxy that speaks TLS.
public = server_with(SITE_URL=f"https://{SITE}", TRUSTED_PROXY="1")


def send_request(public: Server, who: str, method: str, path: str, **options: object) -> httpx.Response:
    cookies = [f"__Host-csrftoken={CSRF}"] + ([f"__Host-sessionid={SESSIONS[who]}"] if who else [])
    headers = {
        "Host": SITE,
        "X-Forwarded-Proto": "https",
        "Cookie": "; ".join(cookies),
        "Accept": "text/html",
    }
    headers |= options.pop("headers", {})  # type: ignore[arg-type]
    return httpx.request(method, public.url + path, verify=False, headers=headers, **options)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def keys(public: Server) -> dict[str, str]:
    headers = {"X-CSRFToken": CSRF, "Origin": f"https://{SITE}"}
    made = send_request(public, "alice", "POST", "/c/", json={"content": "hello"}, headers=headers)
    assert made.status_code == 200
    message = re.search(r'"message":\s*"([^"]+)"', made.text)
    assert message
    return {
        "conversation": made.headers["X-Conversation-Id"],
        "run": made.headers["X-Run-Id"],
        "message": message[1],
    }


def costs(response: httpx.Response) -> dict[str, int]:
    """Return the deductions of the table, by its own names of the findings."""
    headers = response.headers
    policy = headers.get("Content-Security-Policy", "")
    age = re.search(r"max-age=(\d+)", headers.get("Strict-Transport-Security", ""))
    cookies = headers.get_list("Set-Cookie")
    return {
        "csp-not-implemented": -25 * (not policy),
        "csp-implemented-with-unsafe-inline": -20 * ("unsafe-inline" in policy or "data:" in policy),
        "csp-implemented-with-unsafe-eval": -10 * ("unsafe-eval" in policy),
        "csp-implemented-with-insecure-scheme": -20 * bool(re.search(r"\b(http|ftp):|\*", policy)),
        "cookies-without-secure-flag": -20 * any("; Secure" not in cookie for cookie in cookies),
        "cookies-session-without-httponly-flag": -30
        * any("sessionid=" in cookie and "HttpOnly" not in cookie for cookie in cookies),
        "cookies-anticsrf-without-samesite-flag": -20 * any("SameSite" not in cookie for cookie in cookies),
        "cross-origin-resource-sharing-implemented-with-universal-access": -50
        * ("Access-Control-Allow-Origin" in headers),
        "hsts-not-implemented": -20 * (not age),
        "hsts-implemented-max-age-less-than-six-months": -10 * bool(age and int(age[1]) < HALF_A_YEAR),
        "referrer-policy-unsafe": -5 * (headers.get("Referrer-Policy") not in PRIVATE),
        "x-content-type-options-not-implemented": -5 * (headers.get("X-Content-Type-Options") != "nosniff"),
        "x-frame-options-not-implemented": -20 * (headers.get("X-Frame-Options") != "DENY"),
        "cross-origin-resource-policy-cross-origin": -5
        * (headers.get("Cross-Origin-Resource-Policy") != "same-origin"),
        "sri-not-implemented-and-external-scripts-not-loaded-securely": -50
        * bool(re.search(r'<script[^>]+src="(?!/)', response.text)),
    }


PRIVATE = ("no-referrer", "same-origin", "strict-origin", "strict-origin-when-cross-origin")


def extras(response: httpx.Response) -> int:
    headers = response.headers
    policy = headers.get("Content-Security-Policy", "")
    return (
        10 * policy.startswith("default-src 'none'")
        + 5 * ("frame-ancestors 'none'" in policy)
        + 5 * (headers.get("Referrer-Policy") in PRIVATE)
        + 5 * all("Secure" in cookie and "SameSite" in cookie for cookie in headers.get_list("Set-Cookie"))
        + 10 * (headers.get("Cross-Origin-Resource-Policy") == "same-origin")
        + 10 * (headers.get("Cross-Origin-Opener-Policy") == "same-origin")
        + 10 * (headers.get("Cross-Origin-Embedder-Policy") == "require-corp")
    )


@pytest.mark.parametrize("kind", RESPONSES)
def test_no_answer_costs_a_point(public: Server, keys: dict[str, str], kind: str) -> None:
    who, method, path, status = RESPONSES[kind]
    response = send_request(public, who, method, path.format(**keys))
    assert response.status_code == status
    assert {name: cost for name, cost in costs(response).items() if cost} == {}
    assert 100 + extras(response) >= WANTED


def test_pages_without_jquery_enforce_trusted_types(public: Server, keys: dict[str, str]) -> None:
    pages = {kind: response for kind, response in RESPONSES.items() if kind != "static"}
    for kind, (who, method, path, _) in pages.items():
        policy = send_request(public, who, method, path.format(**keys)).headers["Content-Security-Policy"]
        held = "require-trusted-types-for 'script'; trusted-types server-html" in policy
        assert held is (kind != "admin"), kind


def test_a_static_file_opened_as_a_page_may_load_and_run_nothing(public: Server) -> None:
    for path in ("/static/css/chat.css", "/static/img/icon.svg"):
        policy = send_request(public, "", "GET", path).headers["Content-Security-Policy"]
        assert policy == "default-src 'none'; frame-ancestors 'none'"


def test_a_failure_of_the_server_costs_none_either(
    public: Server, database: Database, keys: dict[str, str]
) -> None:
    database.rows("ALTER TABLE chat_feedback RENAME TO chat_feedback_gone")
    try:
        response = send_request(public, "alice", "GET", f"/c/{keys['conversation']}/")
    finally:
        database.rows("ALTER TABLE chat_feedback_gone RENAME TO chat_feedback")
    assert response.status_code == 500
    assert {name: cost for name, cost in costs(response).items() if cost} == {}


def test_the_table_takes_points_off() -> None:
    bare = httpx.Response(200, headers=[("Set-Cookie", "sessionid=x"), ("Access-Control-Allow-Origin", "*")])
    assert sum(costs(bare).values()) <= -150
    weak = httpx.Response(200, headers={"Content-Security-Policy": "script-src 'unsafe-inline' *"})
    assert costs(weak)["csp-implemented-with-unsafe-inline"] == -20
    assert costs(weak)["csp-implemented-with-insecure-scheme"] == -20
