"""Browsers let pages of listed origins call the API, and nothing else of the site."""

from typing import Any

import pytest
from django.test import Client

from chat.api import gateway_options, responses
from chatsite import cors

PAGE = "https://app.example.org"
ASKED = (
    "authorization",
    "content-type",
    "last-event-id",
    "cf-aig-skip-cache",
    "cf-aig-metadata",
    "x-stainless-os",
)
API = ["/v1/chat/completions", "/v1/models", "/v1/nothing", "/v1", "/client/v4/accounts/a/ai/run/@cf/a/b"]
MIDDLEWARE = "corsheaders.middleware.CorsMiddleware"


@pytest.fixture
def client(settings: Any) -> Client:
    """Return a client of a site that allows the page's origin."""
    settings.CORS_ALLOWED_ORIGINS = [PAGE, "http://localhost:5173"]
    settings.MIDDLEWARE = [MIDDLEWARE, *settings.MIDDLEWARE]
    return Client(raise_request_exception=False)


def preflight(client: Client, where: str, origin: str = PAGE) -> Any:
    request_headers = {"origin": origin, "access-control-request-method": "POST"}
    return client.options(
        where, headers={**request_headers, "access-control-request-headers": ",".join(ASKED)}
    )


@pytest.mark.parametrize("where", API)
@pytest.mark.parametrize("origin", [PAGE, "http://localhost:5173"])
def test_a_browser_may_ask_what_sdks_send(client: Client, where: str, origin: str) -> None:
    response = preflight(client, where, origin)
    assert response.status_code == 200
    assert response["Access-Control-Allow-Origin"] == origin
    assert set(ASKED) <= set(response["Access-Control-Allow-Headers"].split(", "))
    assert "POST" in response["Access-Control-Allow-Methods"]
    assert int(response["Access-Control-Max-Age"]) > 0
    assert "origin" in response["Vary"].lower()
    assert "Access-Control-Allow-Credentials" not in response


@pytest.mark.parametrize(
    ("method", "where", "status"),
    [
        ("GET", "/v1/openapi.json", 200),
        ("GET", "/v1/nothing", 404),
        ("GET", "/v1/chat/completions", 405),
        ("OPTIONS", "/v1/chat/completions", 405),
        ("POST", "/client/v4/user/tokens/verify", 405),
    ],
)
def test_a_page_reads_answers_and_refusals(client: Client, method: str, where: str, status: int) -> None:
    response = client.generic(method, where, headers={"origin": PAGE})
    assert (response.status_code, response["Access-Control-Allow-Origin"]) == (status, PAGE)
    named = {value for name, value in vars(responses).items() if name.endswith("_HEADER")}
    named |= {responses.REQUESTED_MODEL, responses.SERVED_BY, "Retry-After", "x-should-retry"}
    assert named <= set(response["Access-Control-Expose-Headers"].split(", "))
    assert "origin" in response["Vary"].lower()
    assert "Access-Control-Allow-Credentials" not in response


def allowed(response: Any) -> list[str]:
    return [name for name in response.headers if name.lower().startswith("access-control")]


@pytest.mark.parametrize(
    "origin",
    ["https://elsewhere.example", "null", f"{PAGE}.evil.example", "http://app.example.org", f"{PAGE}:8443"],
)
def test_other_origins_are_told_nothing(client: Client, origin: str) -> None:
    response = preflight(client, API[0], origin)
    assert allowed(response) == []
    assert "origin" in response["Vary"].lower()
    assert allowed(client.get("/v1/openapi.json", headers={"origin": origin})) == []


@pytest.mark.parametrize(
    "where", ["/", "/c/", "/settings/keys/", "/accounts/login/", "/admin/", "/v1x", "/client/"]
)
def test_session_urls_are_closed_to_other_origins(client: Client, where: str) -> None:
    for response in (preflight(client, where), client.get(where, headers={"origin": PAGE})):
        assert allowed(response) == []


def test_nothing_is_allowed_where_nothing_is_listed(settings: Any) -> None:
    assert settings.API_ALLOWED_ORIGINS == []
    assert MIDDLEWARE not in settings.MIDDLEWARE
    response = preflight(Client(), API[0])
    assert (response.status_code, allowed(response)) == (405, [])


def test_a_call_of_each_gateway_header_is_let_through() -> None:
    assert set(cors.GATEWAY_HEADERS) == set(gateway_options.GATEWAY_OPTIONS)
    assert set(cors.GATEWAY_HEADERS) <= set(cors.REQUEST_HEADERS)
    assert all(name == name.lower() for name in cors.REQUEST_HEADERS)
