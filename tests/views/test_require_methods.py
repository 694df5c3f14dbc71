"""Refusals: methods, addresses, and the pages of errors."""

import asyncio
import threading
import uuid
from typing import Any

import pytest
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.test import Client, RequestFactory
from django.urls import path, resolve

from chat.exceptions import NotAuthenticated
from chat.views.requests import access, errors, request_fields
from chatsite import urls

STREAMS = ("/runs/{}/stream/", "/c/", "/c/{}/messages/", "/messages/{}/edit/", "/messages/{}/regenerate/")
BROWSER = {"accept": "text/html,application/xhtml+xml,*/*;q=0.8"}


def call(view: access.AsyncView, method: str = "GET", **headers: str) -> HttpResponseBase:
    return asyncio.run(view(RequestFactory().generic(method, "/readings/", headers=headers)))


def thread_name(request: HttpRequest) -> HttpResponse:
    return HttpResponse(threading.current_thread().name)


async def async_thread_name(request: HttpRequest) -> HttpResponse:
    return thread_name(request)


def signed_out(request: HttpRequest) -> HttpResponse:
    raise NotAuthenticated("signed out")


def test_synchronous_view_runs_in_a_database_thread() -> None:
    assert call(access.require_methods("GET")(thread_name)).getvalue().startswith(b"db")


def test_coroutine_view_runs_on_the_event_loop() -> None:
    assert call(access.require_methods("GET")(async_thread_name)).getvalue() == b"MainThread"


def test_other_method_is_refused_with_allow_header() -> None:
    refused = call(access.require_methods("GET", "HEAD")(thread_name), "POST")
    assert (refused.status_code, refused["Allow"]) == (405, "GET, HEAD")


@pytest.mark.parametrize("accept", ["text/html", "application/json"])
def test_page_sends_signed_out_reader_to_login(accept: str) -> None:
    response = call(access.require_methods("GET", page=True)(signed_out), Accept=accept)
    assert (response.status_code, response["Location"]) == (302, "/accounts/login/?next=/readings/")


def test_script_that_fetches_part_of_a_page_gets_401() -> None:
    view = access.require_methods("GET", page=True)(signed_out)
    assert call(view, **{"X-Requested-With": "fetch"}).status_code == 401


def test_signed_out_program_gets_401_unless_it_reads_a_page() -> None:
    assert call(access.require_methods("GET")(signed_out), Accept="application/json").status_code == 401


@pytest.mark.parametrize("path", STREAMS)
def test_a_stream_matches_one_of_the_first_patterns(path: str) -> None:
    match = resolve(path.format(uuid.uuid4()))
    assert match.tried is not None
    assert len(match.tried) <= 25


def broken(request: HttpRequest) -> HttpResponse:
    raise RuntimeError("the inside of the house")


urlpatterns = [path("broken/", broken), *urls.urlpatterns]
handler400, handler403, handler404, handler500 = (
    urls.handler400,
    urls.handler403,
    urls.handler404,
    urls.handler500,
)


def test_a_refused_hosts_page_names_the_setting_and_not_the_host(client: Client) -> None:
    response = client.get("/accounts/login/", headers={"host": "evil.example", **BROWSER})
    page = response.content.decode()
    assert response.status_code == 400
    assert "ALLOWED_HOSTS" in page
    assert "SITE_URL" in page
    assert "evil" not in page


def test_a_missing_page_repeats_nothing_of_its_address(client: Client) -> None:
    response = client.get("/<script>alert(1)</script>", headers=BROWSER)
    assert response.status_code == 404
    assert "alert" not in response.content.decode()
    assert "default-src 'none'" in response["Content-Security-Policy"]


def test_a_failure_shows_nothing_of_the_inside(settings: Any) -> None:
    settings.ROOT_URLCONF = __name__
    client = Client(raise_request_exception=False)
    page = client.get("/broken/", headers=BROWSER)
    assert page.status_code == 500
    assert "inside of the house" not in page.content.decode()
    assert "RuntimeError" not in page.content.decode()
    call = client.post("/broken/", "{}", content_type="application/json")
    assert call.json()["error"]["code"] == "error"


def test_a_forged_form_gets_a_page_and_a_forged_call_gets_json() -> None:
    client = Client(enforce_csrf_checks=True)
    page = client.post("/accounts/login/", {"login": "a"}, headers=BROWSER)
    call = client.post("/accounts/login/", "{}", content_type="application/json")
    assert (page.status_code, call.status_code) == (403, 403)
    assert page["Content-Type"].startswith("text/html")
    assert call.json() == {"error": {"code": "csrf", "message": errors.NO_CSRF}}


@pytest.mark.parametrize(
    ("method", "where", "sent", "accept", "json"),
    [
        ("GET", "/", "", "text/html", False),
        ("GET", "/", "", "*/*", False),
        ("GET", "/", "", "", False),
        ("GET", "/c/x/", "", "application/json", True),
        ("GET", "/runs/x/stream/", "", "text/event-stream", True),
        ("GET", "/runs/x/stream/", "", "*/*", True),
        ("POST", "/runs/x/stop/", "", "*/*", True),
        ("POST", "/c/", "application/json", "text/html", True),
        ("POST", "/c/", "text/event-stream", "*/*", True),
        ("POST", "/c/", "application/x-www-form-urlencoded", "text/html", False),
        ("POST", "/c/", "application/x-www-form-urlencoded", "*/*", False),
        ("POST", "/c/", "text/plain", "*/*", True),
    ],
)
def test_requests_answered_in_json(
    method: str, where: str, sent: str, accept: str, json: bool, rf: Any
) -> None:
    request = rf.generic(method, where, "x", content_type=sent, headers={"accept": accept})
    assert request_fields.wants_json(request) is json


def test_a_refusal_says_when_to_come_back(rf: Any) -> None:
    call = errors.refuse(rf.get("/runs/x/"), 503, "Later.", code="draining", retry_after=1.2, run="r")
    assert call["Retry-After"] == "2"
    assert (
        call.content == b'{"error": {"code": "draining", "message": "Later.", "run": "r", "retry_after": 2}}'
    )
    page = errors.refuse(rf.get("/"), 429, retry_after=0)
    assert (page.status_code, page["Retry-After"]) == (429, "1")


@pytest.mark.parametrize("status", errors.CODE_OF_STATUS)
def test_each_refusal_has_a_page_that_says_what_it_is(status: int) -> None:
    page = errors.refuse(RequestFactory().get("/x", headers=BROWSER), status)
    assert page.status_code == status
    text = page.content.decode()
    assert f"Error {status}" in text
    title = text.split("<title>")[1].split("</title>")[0]
    assert title.strip()
    assert f"<h1>{title}</h1>" in text


def test_only_what_may_pass_offers_another_try() -> None:
    ways = {
        (method, status): '"/list?page=2&amp;x=1"'
        in errors.refuse(
            RequestFactory().generic(method, "/list?page=2&x=1", headers=BROWSER), status
        ).content.decode()
        for method in ("GET", "POST")
        for status in errors.CODE_OF_STATUS
    }
    offered = {key for key, offers in ways.items() if offers}
    assert offered == {("GET", 429), ("GET", 500), ("GET", 503)}


def test_a_method_that_an_address_does_not_take_gets_a_page(client: Client) -> None:
    page = client.put("/", headers=BROWSER)
    assert (page.status_code, page["Allow"]) == (405, "GET, HEAD")
    assert "Error 405" in page.content.decode()
