"""Every address of the API answers in its own dialect, also where no view of it does."""

import json
from typing import Any

import pytest
from django.http import HttpRequest, HttpResponse
from django.test import Client, RequestFactory
from django.urls import path

from chat.views.requests import errors
from chatsite import urls

BROWSER = {"accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
OPENAI = ["/v1", "/v1/", "/v1/nothing", "/v1/chat/completions/", "/client/v4/accounts/a/ai/v1/embeddings"]
WORKERS_AI = [
    *("/client/v4", "/client/v4/", "/client/v4/zones", "/client/v4/accounts/a/ai/run/", "/client/v4/a%00b"),
    *("/client/v4/accounts/a/ai/tomarkdown", "/client/v4/accounts//ai/run"),
]


def broken(request: HttpRequest, **address: Any) -> HttpResponse:
    raise RuntimeError("the inside of the house")


urlpatterns = [path("v1/models", broken), path("client/v4/user/tokens/verify", broken), *urls.urlpatterns]
handler400, handler403, handler404, handler500 = (
    urls.handler400,
    urls.handler403,
    urls.handler404,
    urls.handler500,
)


def told(response: Any) -> tuple[int, Any]:
    """The status and the code, from the envelope that the dialect has."""
    body = json.loads(response.content)
    if "error" in body:
        assert set(body["error"]) == {"message", "type", "param", "code"}
        assert body["error"]["message"]
        return response.status_code, body["error"]["code"]
    assert (body["success"], body["result"], body["messages"]) == (False, None, [])
    assert body["errors"][0]["message"]
    return response.status_code, body["errors"][0]["code"]


@pytest.mark.parametrize(
    "where",
    [
        "/v1/responses", "/v1/embeddings", "/v1/completions", "/v1/messages", "/v1/chat/completions/",
        "/v1/chat/completion", "//v1/chat/completions", "/v1/v1/chat/completions", "/chat/completions",
        "/chat/completions/", "/responses",
        "/api/v1/chat/completions", "/openai/v1/responses", "/api/chat/completions",
        "/client/v4/accounts/a/ai/v1/responses", "/client/v4/accounts/a/ai/v1/messages",
    ],
)  # fmt: skip
def test_other_endpoints_of_openai_s_api_name_the_right_one(client: Client, where: str) -> None:
    response = client.post(where, "{}", "application/json")
    assert told(response) == (404, "unknown_url")
    assert " /v1/chat/completions. " in response.json()["error"]["message"]


@pytest.mark.parametrize("method", ["GET", "POST", "DELETE", "OPTIONS"])
@pytest.mark.parametrize("where", OPENAI + WORKERS_AI)
def test_missing_endpoints(client: Client, method: str, where: str) -> None:
    response = client.generic(method, where, "{}", "application/json", headers=BROWSER)
    assert told(response) == (404, "unknown_url" if where in OPENAI else 7003)


def test_a_page_that_begins_alike_is_a_page(client: Client) -> None:
    for where in ("/v1x", "/v11/models", "/client/v4x", "/client"):
        assert client.get(where, headers=BROWSER)["Content-Type"].startswith("text/html")


@pytest.mark.parametrize(
    ("method", "where", "allowed", "code"),
    [
        ("GET", "/v1/chat/completions", "POST", "method_not_allowed"),
        ("PUT", "/v1/models", "GET, HEAD", "method_not_allowed"),
        ("GET", "/client/v4/accounts/a/ai/run/@cf/a/b", "POST", 7001),
        ("POST", "/client/v4/accounts/a/ai/finetunes", "GET, HEAD", 7001),
        ("OPTIONS", "/client/v4/user/tokens/verify", "GET, HEAD", 7001),
    ],
)
def test_a_method_that_an_address_does_not_take(
    client: Client, method: str, where: str, allowed: str, code: object
) -> None:
    response = client.generic(method, where)
    assert told(response) == (405, code)
    assert response["Allow"] == allowed


def test_a_failure_of_the_server(settings: Any) -> None:
    settings.ROOT_URLCONF = __name__
    client = Client(raise_request_exception=False)
    assert told(client.get("/v1/models", headers=BROWSER)) == (500, "server_error")
    response = client.get("/client/v4/user/tokens/verify", headers=BROWSER)
    assert told(response) == (500, 7009)
    assert b"inside of the house" not in response.content


def test_a_name_that_the_server_does_not_have(client: Client) -> None:
    response = client.get("/v1/models", headers={"host": "evil.example"})
    assert told(response) == (400, "malformed")
    assert "ALLOWED_HOSTS" in response.json()["error"]["message"]


@pytest.mark.parametrize("status", errors.CODE_OF_STATUS)
def test_whatever_else_is_refused_there(rf: RequestFactory, status: int) -> None:
    """Refuse as a middleware does: the views of the API have their own words."""
    response = errors.refuse(rf.get("/v1/models"), status, "No.", retry_after=1.2)
    assert response.status_code == told(response)[0] == status
    assert response["Retry-After"] == "2"
    response = errors.refuse(rf.get("/client/v4/x"), status, "No.")
    assert response.status_code == told(response)[0] == status
    assert "Retry-After" not in response


def test_without_a_key_the_scheme_is_named(rf: RequestFactory) -> None:
    assert errors.refuse(rf.get("/v1/models"), 401)["WWW-Authenticate"] == "Bearer"
