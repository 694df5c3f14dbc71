"""Pages travel compressed; streams, short responses and JSON as they are."""

import gzip
from collections.abc import AsyncIterator
from typing import Any

import pytest
from asgiref.sync import SyncToAsync
from django.http import HttpRequest, HttpResponse, JsonResponse, StreamingHttpResponse
from django.test import AsyncClient, Client
from django.urls import path

from chat.db.fair_executor import RENDER_POOL
from chatsite.middleware import INLINE_BYTES

TEXT = "<p>The same again and again.</p>"
TAKES = {"accept-encoding": "gzip, deflate, br"}


async def page(request: HttpRequest) -> HttpResponse:
    return HttpResponse(TEXT * int(request.GET["times"]))


async def json(request: HttpRequest) -> HttpResponse:
    return JsonResponse({"text": TEXT * 100})


async def stream(request: HttpRequest) -> StreamingHttpResponse:
    async def frames() -> AsyncIterator[bytes]:
        for _ in range(100):
            yield f"data: {TEXT}\n\n".encode()

    return StreamingHttpResponse(frames(), content_type="text/event-stream")


urlpatterns = [path("page/", page), path("json/", json), path("stream/", stream)]


@pytest.fixture(autouse=True)
def ours(settings: Any) -> None:
    settings.ROOT_URLCONF = __name__
    settings.MIDDLEWARE = ["chatsite.middleware.GZipMiddleware", "chatsite.middleware.CommonMiddleware"]


@pytest.fixture
def in_threads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The hooks that were sent to a thread: to Django's, or to those that people share fairly."""
    sent: list[str] = []
    original, submit = SyncToAsync.__call__, RENDER_POOL.submit

    def submitted(person: Any, function: Any, *args: Any, **kwargs: Any) -> Any:
        sent.append(function.__name__)
        return submit(person, function, *args, **kwargs)

    async def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        sent.append(getattr(self.func, "__name__", ""))
        return await original(self, *args, **kwargs)

    monkeypatch.setattr(SyncToAsync, "__call__", call)
    monkeypatch.setattr(RENDER_POOL, "submit", submitted)
    return sent


@pytest.mark.parametrize("times", [50, 5_000])
async def test_a_page_is_compressed_for_who_takes_it_so(times: int) -> None:
    response = await AsyncClient().get(f"/page/?times={times}", headers=TAKES)
    assert response["Content-Encoding"] == "gzip"
    assert int(response["Content-Length"]) == len(response.content) < len(TEXT) * times / 4
    assert gzip.decompress(response.content).decode() == TEXT * times


async def test_for_others_it_is_what_it_was_and_a_cache_is_told() -> None:
    packed = await AsyncClient().get("/page/?times=50", headers=TAKES)
    plain = await AsyncClient().get("/page/?times=50")
    assert packed["Vary"] == plain["Vary"] == "Accept-Encoding"
    assert "Content-Encoding" not in plain
    assert plain.content.decode() == TEXT * 50


async def test_only_a_long_page_is_compressed_in_a_thread(in_threads: list[str]) -> None:
    short, long = INLINE_BYTES // len(TEXT) - 1, INLINE_BYTES // len(TEXT) + 1
    await AsyncClient().get(f"/page/?times={short}", headers=TAKES)
    assert "process_response" not in in_threads
    await AsyncClient().get(f"/page/?times={long}", headers=TAKES)
    assert in_threads.count("process_response") == 1


async def test_a_stream_passes_as_it_is_and_costs_no_thread(in_threads: list[str]) -> None:
    response = await AsyncClient().get("/stream/", headers=TAKES)
    assert "Content-Encoding" not in response
    assert b"".join([piece async for piece in response]) == f"data: {TEXT}\n\n".encode() * 100
    assert "process_response" not in in_threads


async def test_binary_and_short_responses_pass_unchanged() -> None:
    for where in ("/json/", "/page/?times=2"):
        response = await AsyncClient().get(where, headers=TAKES)
        assert response.content.startswith((b"{", b"<p>"))
        assert "Content-Encoding" not in response


async def test_the_length_of_the_same_page_says_little() -> None:
    lengths = {len((await AsyncClient().get("/page/?times=50", headers=TAKES)).content) for _ in range(20)}
    assert len(lengths) > 3


def test_without_a_loop_it_is_the_same() -> None:
    response = Client().get("/page/?times=50", headers=TAKES)
    assert gzip.decompress(response.content).decode() == TEXT * 50


async def test_a_page_that_repeats_a_search_is_not_compressed() -> None:
    """The page's length would tell another site whether its guess is in a conversation."""
    for times in (50, 5_000):
        response = await AsyncClient().get(f"/page/?times={times}&q=guess", headers=TAKES)
        assert "Content-Encoding" not in response
        assert response.content.decode() == TEXT * times
