"""The decorator of every view: methods, threads, and where a signed-out reader is sent."""

import asyncio
import threading

import pytest
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.test import RequestFactory

from chat.exceptions import NotAuthenticated
from chat.views.requests import access


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
