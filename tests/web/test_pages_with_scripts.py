"""Pages that scripts fill: opened in a browser of Cloudflare's, if the site has it and they need it."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from chat.conversations.tools import addresses, destinations, page_fetch
from chat.conversations.tools.page_fetch import LOADING
from chat.health import web_search as health
from tests.fake_cloudflare import browser_run
from tests.fake_cloudflare.server import TOKEN, WorkersAI, running
from tests.support.waiting import becomes
from tests.web.pages import PARAGRAPH, Names, Pages, read, refused, serving

SHELL = "<!doctype html><title>App</title><div id=app>{}</div><script src=/app.js></script>"
EMPTY = SHELL.format("")
NOT_RUN = "The page holds no text. It may need scripts, which are not run here."
NOT_PERMITTED = "This page needs scripts, and this site’s account may not run them. Tell your administrator."
BUSY = "This page needs scripts, and the service that runs them is busy. Try again in a moment."
FAILED = "This page needs scripts, and couldn’t be opened with them."


@pytest.fixture
async def web(monkeypatch: pytest.MonkeyPatch, names: Names) -> AsyncIterator[Pages]:
    """A server whose pages are of the public web, as far as the chat can tell."""
    names.answers["web.example"] = [["127.0.0.1"]]
    monkeypatch.setattr(destinations, "is_public", lambda address: address == "127.0.0.1")
    async with serving() as found:
        monkeypatch.setattr(addresses, "DEFAULT_PORTS", {"http": found.port, "https": 443})
        found.host = "web.example"
        yield found


@pytest.fixture
async def fake(settings: Any) -> AsyncIterator[WorkersAI]:
    async with running() as found:
        settings.CLOUDFLARE_ACCOUNT_ID, settings.CLOUDFLARE_API_TOKEN = "acc", TOKEN
        settings.CLOUDFLARE_API_BASE_URL = found.base_url
        settings.READ_PAGE_RENDERING = "cloudflare"
        yield found


@pytest.mark.parametrize("inside", ["", "Loading …", "<noscript>Enable JavaScript.</noscript>", "word " * 39])
async def test_a_page_without_text_is_opened_in_a_browser(fake: WorkersAI, web: Pages, inside: str) -> None:
    url = web.page("/tides", SHELL.format(inside), Last_Modified="Fri, 02 Oct 2026 08:00:00 GMT")
    result = await read(f"{url}?day=1")
    (call,) = fake.calls
    assert call["path"] == "/client/v4/accounts/acc/browser-rendering/content"
    assert call["body"] == {"url": f"{url}?day=1", **LOADING}
    (source,) = result.sources
    assert (source.title, source.url, source.date) == ("Tides", f"{url}?day=1", "2026-10-02")
    assert source.text.startswith("# Tides\n\nHigh water is at noon")
    assert "Hidden words" not in source.text
    assert result.links == {f"{url}?day=1", web.url("/more")}
    assert result.cost == pytest.approx(2 / 3_600 * 0.09)


@pytest.mark.parametrize(
    ("body", "media_type"),
    [
        (f"<title>App</title>{PARAGRAPH}<script></script>", "text/html"),
        ("<title>Short</title><p>It needs no script: it is short.</p>", "text/html"),
        ("Not a page, <script> or not.", "text/plain"),
    ],
)
async def test_other_pages_are_not(fake: WorkersAI, web: Pages, body: str, media_type: str) -> None:
    assert (await read(web.page("/", body, media_type))).cost == 0
    assert fake.calls == []


async def test_nor_is_one_where_the_site_has_no_browser(fake: WorkersAI, web: Pages, settings: Any) -> None:
    settings.READ_PAGE_RENDERING = "none"
    assert await refused(web.page("/", EMPTY)) == NOT_RUN
    assert fake.calls == []


async def test_nor_is_a_page_of_ones_own_network(fake: WorkersAI, pages: Pages) -> None:
    assert await refused(pages.page("/", EMPTY)) == NOT_RUN
    assert fake.calls == []


async def test_the_browser_gets_the_address_where_redirects_have_led(fake: WorkersAI, web: Pages) -> None:
    url = web.page("/app", EMPTY)
    await read(web.redirect("/old", "/app"))
    assert fake.calls[0]["body"]["url"] == url


async def test_a_redirect_out_of_the_web_reaches_no_browser(
    fake: WorkersAI, web: Pages, settings: Any
) -> None:
    settings.READ_PAGE_ALLOWED_HOSTS = [("127.0.0.2", None)]
    async with serving("127.0.0.2") as inside:
        inside.page("/", EMPTY)
        await refused(web.redirect("/", inside.url("/")))
        assert inside.requests == fake.calls == []


@pytest.mark.parametrize(
    ("path", "sentence"),
    [
        ("/fake-429", BUSY),
        ("/fake-5005", FAILED),
        ("/fake-6002", FAILED),
        ("/fake-2000", FAILED),
        ("/fake-huge", FAILED),
        ("/fake-empty", "The page holds no text."),
    ],
)
async def test_what_the_browser_refuses(fake: WorkersAI, web: Pages, path: str, sentence: str) -> None:
    assert await refused(web.page(path, EMPTY)) == sentence
    (source,) = (await read(web.page(path, SHELL.format("Tides at noon.")))).sources  # what there is
    assert source.text == "Tides at noon."


async def test_a_token_that_may_not(fake: WorkersAI, web: Pages, settings: Any) -> None:
    settings.CLOUDFLARE_API_TOKEN = browser_run.NO_PERMISSION
    assert await refused(web.page("/", EMPTY)) == NOT_PERMITTED
    settings.CLOUDFLARE_ACCOUNT_ID = ""
    assert await refused(web.page("/", EMPTY)) == FAILED


async def test_a_browser_ends_at_its_time(
    fake: WorkersAI, web: Pages, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page_fetch, "SECONDS", 1.0)
    assert await refused(web.page("/fake-slow", EMPTY)) == "The page took longer than 1 seconds."


async def test_a_stop_closes_the_connection(fake: WorkersAI, web: Pages) -> None:
    task = asyncio.ensure_future(read(web.page("/fake-slow", EMPTY)))
    await becomes(lambda: fake.calls)
    task.cancel()
    await becomes(lambda: fake.calls[0]["closed_by_client"])


@pytest.mark.parametrize(
    "changed",
    [
        {"url": "harbour"},
        {"url": "file:///etc/passwd"},
        {"url": 3},
        {"html": "both"},
        {"waitUntil": "load"},
        {"gotoOptions": {"timeout": 60_001}},
        {"gotoOptions": {"waitUntil": "idle"}},
        {"bestAttempt": "yes"},
        {"rejectResourceTypes": ["advertisement"]},
    ],
)
def test_the_fake_refuses_what_cloudflare_does(changed: dict[str, Any]) -> None:
    sent = {"url": "https://a.example/", **LOADING}
    assert browser_run.content(TOKEN, sent)[0] == 200
    assert browser_run.content(TOKEN, sent | changed)[0] == 400
    assert browser_run.content(browser_run.NO_PERMISSION, sent | changed)[0] == 401


async def test_the_setup_check_says_what_is_missing(fake: WorkersAI, settings: Any) -> None:
    assert (await health.check_page_rendering()).state == "good"
    assert fake.calls[-1]["body"] == {"html": "<p>Check</p>"}
    settings.CLOUDFLARE_API_TOKEN = browser_run.NO_PERMISSION
    found = await health.check_page_rendering()
    assert (found.state, found.advice) == ("bad", "Add the permission Browser Run: Edit to the token.")
    settings.CLOUDFLARE_API_BASE_URL = "http://127.0.0.1:1"
    assert (await health.check_page_rendering()).state == "note"
