"""Pages that want to harm who reads them: each fails with a sentence, within its time."""

import asyncio
import gzip
import ssl
import time
import zlib
from pathlib import Path
from typing import Any

import pytest

from chat.conversations.tools import page_fetch, page_text, service
from tests.deploy.fronts import certificate
from tests.support.waiting import becomes
from tests.web.pages import ARTICLE, Pages, read, refused, serving

LARGE = "The page is larger than 3 MB."
LATE = "The page took longer than 1 seconds."
KIND = "This kind of page can’t be read."
BROKEN = "The page couldn’t be fetched."
EMPTY = "The page holds no text. It may need scripts, which are not run here."
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"


@pytest.fixture
def a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    service.tls()  # made before the time counts
    monkeypatch.setattr(page_fetch, "SECONDS", 1.0)


async def test_a_bomb_ends_when_it_is_too_large(pages: Pages) -> None:
    packed = gzip.compress(bytes(300_000_000))
    began = time.process_time()
    assert await refused(pages.page("/a", packed, Content_Encoding="gzip")) == LARGE
    assert time.process_time() - began < 2  # all of it would take longer


async def test_bombs_of_deflate_end_too(pages: Pages) -> None:
    packed = zlib.compress(bytes(50_000_000))
    assert await refused(pages.page("/a", packed, Content_Encoding="deflate")) == LARGE


async def test_a_page_that_says_that_it_is_large_is_not_fetched(pages: Pages) -> None:
    head = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 3000001\r\n\r\n"
    assert await refused(pages.raw("/a", head, b"")) == LARGE


async def test_an_endless_page_ends_at_its_size(pages: Pages) -> None:
    async def flood(writer: asyncio.StreamWriter) -> None:
        writer.write(HEAD + b"\r\n")
        while True:
            writer.write(b"<p>more" * 10_000)
            await writer.drain()

    assert await refused(pages.played("/a", flood)) == LARGE
    await becomes(lambda: pages.open == 0)


async def test_empty_blocks_without_end_are_counted_as_sent(pages: Pages, a_second: None) -> None:
    """Blocks of deflate that hold nothing."""

    async def flood(writer: asyncio.StreamWriter) -> None:
        writer.write(HEAD + b"Content-Encoding: gzip\r\n\r\n" + gzip.compress(b"")[:10])
        while True:
            writer.write(b"\x00\x00\x00\xff\xff" * 10_000)
            await writer.drain()

    assert await refused(pages.played("/a", flood)) in (LARGE, LATE)
    await becomes(lambda: pages.open == 0)


async def drip(writer: asyncio.StreamWriter, head: bytes) -> None:
    writer.write(head)
    while True:
        writer.write(b"a")
        await writer.drain()
        await asyncio.sleep(0.05)


@pytest.mark.parametrize("head", [b"", HEAD, HEAD + b"X: ", HEAD + b"\r\n"])
async def test_a_slow_drip_ends_at_its_time(pages: Pages, a_second: None, head: bytes) -> None:
    began = time.monotonic()
    assert await refused(pages.played("/a", lambda writer: drip(writer, head))) in (LATE, BROKEN)
    assert time.monotonic() - began < 5
    await becomes(lambda: pages.open == 0)


async def test_a_slow_lookup_ends_at_its_time(a_second: None, monkeypatch: pytest.MonkeyPatch) -> None:
    from chat.conversations.tools import destinations

    async def lookup(*_: Any) -> Any:
        await asyncio.sleep(60)

    monkeypatch.setattr(destinations, "lookup", lookup)
    assert await refused("http://slow.example/") == LATE


@pytest.mark.parametrize(
    "raw",
    [b"", b"nonsense\r\n\r\n", b"HTTP/1.1 200 OK\r\n" + b"A: b\r\n" * 10_000 + b"\r\n",
     b"HTTP/1.1 200 OK\r\nA: " + b"b" * 100_000 + b"\r\n\r\n", HEAD + b"Content-Length: 10\r\n\r\n<p>",
     HEAD + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n", HEAD + b"Content-Encoding: gzip\r\n\r\nno gzip",
     b"HTTP/1.1 101 Switching Protocols\r\n\r\n", HEAD + b"Content-Length: -1\r\n\r\n"],
)  # fmt: skip
async def test_an_answer_that_is_none(pages: Pages, a_second: None, raw: bytes) -> None:
    async def play(writer: asyncio.StreamWriter) -> None:
        writer.write(raw)
        await writer.drain()
        writer.close()

    assert await refused(pages.played("/a", play)) in (BROKEN, LATE, "The site answered with the error 101.")


async def test_nobody_is_there() -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("chat.conversations.tools.addresses.is_allowed", lambda url: True)
        assert await refused("http://127.0.0.1:1/") == BROKEN
        assert await refused("http://nowhere.invalid/") == "There is no site with this name."


async def test_a_certificate_has_to_be_vouched_for(
    settings: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    settings.READ_PAGE_ALLOWED_HOSTS = [("localhost", None)]
    certificate(tmp_path)
    own = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    own.load_cert_chain(tmp_path / "cert.pem", tmp_path / "key.pem")
    async with serving(tls=own) as pages:
        pages.page("/a")
        url = pages.url("/a", "localhost")
        assert await refused(url) == "The page’s certificate isn’t valid."
        trusting = ssl.create_default_context(cafile=str(tmp_path / "cert.pem"))
        monkeypatch.setattr(service, "tls", lambda: trusting)
        assert (await read(url)).sources


@pytest.mark.parametrize(
    ("body", "media_type", "sentence"),
    [
        (b"\x89PNG\r\n\x1a\n" + bytes(99), "image/png", KIND),
        (b"\x89PNG\r\n\x1a\n" + bytes(99), "text/html", KIND),
        (b"\x00\x01\x02" * 99, "application/octet-stream", KIND),
        (b"PK\x03\x04" + bytes(99), "application/zip", KIND),
        (b"ID3" + bytes(99), "audio/mpeg", KIND),
        (b"%PDF-1.7\nnonsense", "application/pdf", "The page is damaged and can’t be read."),
        (b"", "text/html", "The page holds no text."),
        (b" \n ", "text/plain", "The page holds no text."),
        (b"<!doctype html><script>document.write(1)</script>", "text/html", EMPTY),
        (b"<!doctype html><div id=root></div>", "text/html", EMPTY),
    ],
)
async def test_what_is_no_page(pages: Pages, body: bytes, media_type: str, sentence: str) -> None:
    assert await refused(pages.page("/a", body, media_type)) == sentence


async def test_an_unknown_packing(pages: Pages) -> None:
    assert await refused(pages.page("/a", b"x", Content_Encoding="br")) == KIND


@pytest.mark.parametrize("status", [204, 401, 403, 404, 410, 429, 500, 503])
async def test_an_error_of_the_site(pages: Pages, status: int) -> None:
    url = pages.raw("/a", f"HTTP/1.1 {status} No\r\nContent-Length: 0\r\n\r\n", b"")
    empty = "The page holds no text."
    assert await refused(url) == (empty if status == 204 else f"The site answered with the error {status}.")


@pytest.mark.parametrize(
    "body",
    ["<div>" * 300_000 + "deep", "<table><tr><td>" * 100_000 + "deep", "<ul><li>" * 100_000 + "deep",
     "<a href=/x>" * 200_000 + "deep", "<b><i>" * 100_000 + "deep", "<p>" + "&nbsp;" * 400_000 + "deep",
     "<!--" * 500_000 + "--><p>deep", "<style>" + "a{}" * 500_000 + "</style>deep", "<base href='//['>deep",
     "<select><option>" * 50_000 + "deep", "<svg>" * 100_000 + "</svg>deep",
     "<script type='application/ld+json'>" + "[" * 100_000 + "</script>deep"],
)  # fmt: skip
async def test_deep_and_wide_pages_end_within_their_limits(pages: Pages, body: str) -> None:
    """With their text, or a sentence."""
    began = time.monotonic()
    outcome = await asyncio.gather(read(pages.page("/a", f"<!doctype html>{body}")), return_exceptions=True)
    assert str(outcome[0]) in (
        "The page took too long to read.", "The page is damaged and can’t be read.", EMPTY
    ) or "deep" in outcome[0].sources[0].text  # type: ignore[union-attr]  # fmt: skip
    assert time.monotonic() - began < 60


async def test_a_reader_that_is_taken_over_is_not_believed(
    pages: Pages, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = pages.page("/a")
    for told in (
        b'{"text": "a\\u0000"}', b'{"text": 3}', b'{"date": "<b>", "text": "a"}', b"[]", b"",
        b'{"x": ' + b"[" * 2_000,
        b'{"text": "%s"}' % ("ß".encode() * 60_000), b'{"title": "%s", "text": "a"}' % (b"a" * 301),
    ):  # fmt: skip
        monkeypatch.setattr(page_text, "stream_confined", lambda *_, told=told, **__: iter([told]))
        assert await refused(url) == "The page is damaged and can’t be read."
    links = b'{"text": "a", "links": ["http://127.0.0.1:22/", "javascript:x", "http://ok.example/"]}'
    monkeypatch.setattr(page_text, "stream_confined", lambda *_, **__: iter([links]))
    assert (await read(url)).links == {url, "http://127.0.0.1:22/", "http://ok.example/"}


async def test_a_stopped_reading_ends_its_child(pages: Pages, monkeypatch: pytest.MonkeyPatch) -> None:
    """The thread is free for others within a second."""
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()

    def endless(*_: Any, beat: Any, **__: Any) -> Any:
        try:
            while True:
                time.sleep(0.02)
                beat()
        finally:
            loop.call_soon_threadsafe(ended.set)
        yield b""

    monkeypatch.setattr(page_text, "stream_confined", endless)
    task = asyncio.ensure_future(read(pages.page("/a", ARTICLE)))
    await becomes(lambda: pages.requests)
    await asyncio.sleep(0.2)
    task.cancel()
    async with asyncio.timeout(5):
        await ended.wait()
