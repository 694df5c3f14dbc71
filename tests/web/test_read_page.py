"""Pages that are read: where requests go, what they carry, and what of a page comes back."""

import asyncio
import gzip
from typing import Any

import pytest

from chat.conversations.tools import addresses, destinations
from chat.conversations.tools.read_page import CUT
from tests.files import pdfs
from tests.support.waiting import becomes
from tests.web.pages import ARTICLE, PARAGRAPH, Names, Pages, read, refused, serving

FORBIDDEN = "This address is not on the public web, so it can’t be read."
TOO_MANY = "The address leads to too many others."


async def test_a_page_is_read(pages: Pages) -> None:
    head = '<meta property="article:modified_time" content="2026-10-02T08:00Z"><title>Harbour | News</title>'
    links = '<a href="/b?x=1#part">b</a><a href="//example.org">c</a><a href="mailto:a@b.example">d</a>'
    url = pages.page("/a", f"{head}<nav>{links}</nav><main><h1>Harbour</h1>{PARAGRAPH}</main>")
    result = await read(url)
    (source,) = result.sources
    assert (source.title, source.url, source.date) == ("Harbour | News", url, "2026-10-02")
    assert source.text.startswith("# Harbour\n\nThe harbour has been open")
    assert result.links == {url, pages.url("/b?x=1"), "http://example.org"}
    assert (result.summary, result.text, result.cost) == ("Harbour | News", "", 0.0)


async def test_links_to_hosts_of_ones_own_come_from_those(
    pages: Pages, names: Names, monkeypatch: Any
) -> None:
    """Else a page of the web could have pages of the network read, without a question."""
    monkeypatch.setattr(destinations, "is_public", lambda address: address == "127.0.0.1")
    monkeypatch.setattr(addresses, "DEFAULT_PORTS", {"http": pages.port, "https": 443})
    names.answers["web.example"] = [["127.0.0.1"]]
    pages.page("/a", f'<main>{PARAGRAPH}<a href="http://127.0.0.1:8080/x">x</a><a href="/y">y</a></main>')
    result = await read(pages.url("/a", "web.example"))
    assert result.links == {pages.url("/a", "web.example"), pages.url("/y", "web.example")}


async def test_a_request_carries_nothing_of_the_person(pages: Pages, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    pages.page("/b")
    pages.raw("/a", "HTTP/1.1 302 Found\r\nLocation: /b\r\nSet-Cookie: a=1\r\nContent-Length: 0\r\n\r\n", b"")
    await read(pages.url("/a?q=1#part"))
    first, second = pages.requests
    assert first.startswith("GET /a?q=1 HTTP/1.1\r\n")
    names = {line.partition(":")[0].lower() for line in second.strip().split("\r\n")[1:]}
    assert names == {"host", "user-agent", "accept", "accept-encoding", "connection"}


@pytest.mark.parametrize(
    "host",
    ["localhost", "127.0.0.1", "[::1]", "[::ffff:127.0.0.1]", "[64:ff9b::7f00:1]", "10.0.0.1",
     "169.254.169.254", "①②⑦.⓪.⓪.①", "localhost.", "127.0.0.1.", "chat.localhost"],
)  # fmt: skip
async def test_no_host_of_a_network_of_ones_own_is_asked(host: str) -> None:
    assert await refused(f"http://{host}/") == FORBIDDEN


@pytest.mark.parametrize(
    "answer",
    [["127.0.0.1"], ["10.0.0.1"], ["93.184.215.14", "127.0.0.1"], ["2606:4700::1", "fe80::1%eth0"], ["::1"],
     ["::ffff:169.254.169.254"], ["64:ff9b::a9fe:a9fe"]],
)  # fmt: skip
async def test_no_name_leads_there_either(names: Names, answer: list[str]) -> None:
    """One such answer among others is enough."""
    names.answers["evil.example"] = [answer]
    assert await refused("http://evil.example/") == FORBIDDEN


async def test_the_site_itself_is_not_read(settings: Any, names: Names) -> None:
    settings.ALLOWED_HOSTS = ["chat.example.org", ".example.net"]
    for host in ("chat.example.org", "CHAT.example.org.", "a.example.net"):
        assert await refused(f"https://{host}/") == FORBIDDEN
    assert names.asked == []


@pytest.fixture
def only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the loopback addresses, 127.0.0.2 stands for the public web."""
    monkeypatch.setattr(destinations, "is_public", lambda address: address == "127.0.0.2")


async def test_an_answer_that_changes_is_not_looked_up_again(
    only: None, names: Names, monkeypatch: pytest.MonkeyPatch
) -> None:
    """DNS rebinding: the second answer leads to this machine, so nobody may ask for it."""
    names.answers["evil.example"] = [["127.0.0.2"], ["127.0.0.1"]]
    async with serving("127.0.0.2") as web, serving("127.0.0.1") as own:
        monkeypatch.setattr(addresses, "DEFAULT_PORTS", {"http": web.port, "https": 443})
        web.page("/")
        assert (await read(web.url("/", "evil.example"))).sources
        assert (names.asked, own.requests) == (["evil.example"], [])


async def test_a_redirect_is_looked_up_and_checked_anew(
    only: None, names: Names, monkeypatch: pytest.MonkeyPatch
) -> None:
    names.answers["evil.example"] = [["127.0.0.2"], ["127.0.0.1"]]
    async with serving("127.0.0.2") as web:
        monkeypatch.setattr(addresses, "DEFAULT_PORTS", {"http": web.port, "https": 443})
        web.redirect("/", "/again")
        assert await refused(web.url("/", "evil.example")) == FORBIDDEN
        assert len(web.requests) == 1


async def test_a_socket_checks_what_it_connects_to() -> None:
    guard = destinations.Guard("p")
    with pytest.raises(destinations.Forbidden):
        guard.socket((2, 1, 6, "", ("127.0.0.1", 80)))


@pytest.mark.parametrize(
    ("target", "sentence"),
    [
        ("file:///etc/passwd", "Only addresses that begin with https:// or http:// can be read."),
        ("http://ann:pw@example.org/", "An address with a name or a password can’t be read."),
        ("http://[::1", "The address leads to one that can’t be read."),
        ("http://0x7f.1/", "This is no address of a web page."),
        ("http://example.org:22/", "This site may not read addresses with a port of their own."),
        ("http://169.254.169.254/latest/meta-data/", FORBIDDEN),
        ("http://localhost/", FORBIDDEN),
        ("http://\udcff.example/", "The address leads to one that can’t be read."),
    ],
)
async def test_a_redirect_is_refused_like_an_address(pages: Pages, target: str, sentence: str) -> None:
    assert await refused(pages.redirect("/a", target)) == sentence


async def test_three_redirects_are_followed(pages: Pages) -> None:
    pages.page("/d")
    for path, target in (
        ("/a", "b"),
        ("/b", pages.url("/c?x=1")),
        ("/c", "//127.0.0.1:" + f"{pages.port}/d"),
    ):
        pages.redirect(path, target, 307)
    result = await read(pages.url("/a"))
    assert result.sources[0].url == pages.url("/d")
    assert pages.url("/d") in result.links
    pages.redirect("/z", "/a", 308)
    assert await refused(pages.url("/z")) == TOO_MANY
    assert await refused(pages.redirect("/loop", "/loop")) == TOO_MANY


async def test_no_page_of_the_web_leads_to_what_is_allowed(
    only: None, pages: Pages, monkeypatch: pytest.MonkeyPatch
) -> None:
    pages.page("/wiki")
    async with serving("127.0.0.2") as web:
        monkeypatch.setattr(addresses, "DEFAULT_PORTS", {"http": web.port, "https": 443})
        assert await refused(web.redirect("/", pages.url("/wiki"))) == FORBIDDEN
    assert (await read(pages.url("/wiki"))).sources
    assert len(pages.requests) == 1


async def test_a_host_may_be_allowed_on_one_port(pages: Pages, settings: Any) -> None:
    url = pages.page("/a")
    settings.READ_PAGE_ALLOWED_HOSTS = [("127.0.0.1", pages.port)]
    assert (await read(url)).sources
    settings.READ_PAGE_ALLOWED_HOSTS = [("127.0.0.1", pages.port + 1)]
    assert "port" in await refused(url)


@pytest.mark.parametrize(
    ("body", "media_type", "text"),
    [
        ("Plain & simple\n\n<b>", "text/plain", "Plain & simple\n\n<b>"),
        ("<!doctype html><p>shown as it is", "text/plain; charset=utf-8", "<!doctype html><p>shown as it is"),
        ('{"a": 1}', "application/ld+json", '{"a": 1}'),
        ("<a>1</a>", "application/xml", "<a>1</a>"),
        ("a,b\n1,2", "text/csv", "a,b\n1,2"),
        ("<!doctype html><p>Guessed", None, "Guessed"),
        ("only words", "application/octet-stream", "only words"),
        ("<p>Grüße".encode("latin-1"), "text/html; charset=iso-8859-1", "Grüße"),
        ("<p>Grüße".encode("latin-1"), "text/html; charset=utf-8", "Grüße"),
        ("<p>Grüße".encode(), "text/html; charset=iso-8859-1", "Grüße"),
        ("<p>Grüße".encode(), "text/html; charset=nonsense", "Grüße"),
        ("<p>Привет, мир, как дела".encode("koi8-r"), "text/html; charset=koi8-r", "Привет, мир, как дела"),
        ("<p>漢字かな交じり文".encode("shift_jis"), "text/html;charset=Shift_JIS", "漢字かな交じり文"),
        ("<p>Grüße".encode("utf-16"), "text/html", "Grüße"),
    ],
)
async def test_the_types_and_encodings_that_are_read(
    pages: Pages, body: str | bytes, media_type: str | None, text: str
) -> None:
    assert (await read(pages.page("/a", body, media_type))).sources[0].text == text


@pytest.mark.parametrize("media_type", ["application/pdf", "application/octet-stream", "text/html"])
async def test_a_pdf_is_read(pages: Pages, media_type: str) -> None:
    content = pdfs.page((50, 700, "Ships call every day."))
    url = pages.page("/b.pdf", content, media_type, Last_Modified="Fri, 02 Oct 2026 08:00:00 GMT")
    (source,) = (await read(url)).sources
    assert (source.title, source.text, source.date) == ("b.pdf", "Ships call every day.", "2026-10-02")


async def test_a_packed_page_is_unpacked(pages: Pages) -> None:
    assert (await read(pages.gzipped("/a", ARTICLE.encode()))).sources
    assert (await read(pages.page("/b", gzip.compress(ARTICLE.encode()), Content_Encoding="x-gzip"))).sources


async def test_of_a_long_page_the_beginning_is_read(pages: Pages) -> None:
    result = await read(pages.page("/a", f"<main>a<p>{'ß' * 90_000}</p></main>"))
    text = result.sources[0].text
    assert result.text == CUT
    assert 99_990 <= len(text.encode()) <= 100_000


async def test_a_stopped_call_closes_its_connection(pages: Pages) -> None:
    async def begin(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 100\r\n\r\n<p>")

    task = asyncio.ensure_future(read(pages.played("/a", begin)))
    await becomes(lambda: pages.requests)
    assert pages.open == 1
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await becomes(lambda: pages.open == 0)
