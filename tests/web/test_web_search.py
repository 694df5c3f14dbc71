"""The search of the web by each provider, what they find, and the sentences for what they refuse."""

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import pytest

from chat.conversations.tools import registry, search_providers, service
from chat.conversations.tools.search_providers import provider
from chat.conversations.tools.tool import CallContext, ToolFailed, ToolResult
from chat.conversations.tools.web_search import WebSearch
from chat.models import User
from tests.fake_cloudflare import web_search
from tests.fake_cloudflare.server import TOKEN, WorkersAI, running
from tests.support.waiting import becomes
from tests.web.pages import Pages, serving

REJECTED = "The search service rejects this site’s key. Tell your administrator."
SPENT = "This site’s searches are used up. Tell your administrator."
UNAVAILABLE = "The search service is unavailable. Try again in a moment."


async def search(query: object, name: str = "cloudflare") -> ToolResult:
    return await WebSearch(provider(name)).call({"query": query}, CallContext(1, "c"))


async def refused(query: object, name: str = "cloudflare") -> str:
    with pytest.raises(ToolFailed) as caught:
        await search(query, name)
    return str(caught.value)


@pytest.fixture(autouse=True)
def _nothing_learned() -> Iterator[None]:
    registry.refused_until.clear()
    yield
    registry.refused_until.clear()


@pytest.fixture
async def fake(settings: Any) -> Any:
    async with running() as found:
        settings.CLOUDFLARE_ACCOUNT_ID, settings.CLOUDFLARE_API_TOKEN = "acc", TOKEN
        settings.CLOUDFLARE_API_BASE_URL = found.base_url
        yield found


async def test_cloudflare_searches_through_a_gateway(fake: WorkersAI, settings: Any) -> None:
    result = await search("  what was\n new ")
    (call,) = fake.calls
    assert call["path"] == "/client/v4/accounts/acc/ai/websearch/"
    assert call["body"] == {
        "query": "what was new",
        "provider": "ceramic",
        "limit": 8,
        "options": {"gateway": {"id": "default"}},
    }
    first, second = result.sources  # without what is no page
    assert (first.title, first.url, first.date) == (
        "What was new in October", "https://blog.example/october", "2026-10-02",
    )  # fmt: skip
    assert first.text == "Web Search is in beta. It has three providers."
    assert (second.text, second.date) == ("", "")
    assert (result.summary, result.cost) == ("2 results", 0.00025)
    settings.AI_GATEWAY_ID = "ours"
    await search("again")
    assert fake.calls[-1]["body"]["options"] == {"gateway": {"id": "ours"}}


async def test_nothing_found_is_no_failure(fake: WorkersAI) -> None:
    result = await search("fake: nothing")
    assert (result.summary, result.sources, result.text) == ("No results", (), "Nothing was found.")


@pytest.mark.parametrize("query", ["", " \n", "\x00\x07", None, 3, ["a"]])
async def test_a_search_needs_words(fake: WorkersAI, query: object) -> None:
    assert await refused(query) == "The words to search for are missing."
    assert fake.calls == []


async def test_a_long_query_ends_at_a_word_that_fits(fake: WorkersAI) -> None:
    await search("word " * 400)
    assert fake.calls[-1]["body"]["query"] == ("word " * 205).strip()[:1_024]
    await search("w" * 2_000)
    assert fake.calls[-1]["body"]["query"] == "w" * 1_024


@pytest.mark.parametrize(
    ("code", "sentence"),
    [
        (2003, "Too many searches at once. Wait a moment, then try again."),
        (2009, REJECTED),
        (2016, "A filter of the search service blocked this search."),
        (2021, SPENT),
        (7013, UNAVAILABLE),
        (2001, UNAVAILABLE),
        (10000, REJECTED),
    ],
)
async def test_what_cloudflare_refuses(fake: WorkersAI, code: int, sentence: str) -> None:
    assert await refused(f"fake: error {code}") == sentence


async def test_a_gateway_without_credit(fake: WorkersAI, settings: Any) -> None:
    settings.AI_GATEWAY_ID = web_search.NO_CREDITS
    assert await refused("a") == SPENT
    assert registry.is_web_search_offered()  # credit comes and goes


async def test_a_token_that_may_not_search_takes_the_offer_away(
    fake: WorkersAI, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert registry.offered(User())[0] == "web_search"
    settings.CLOUDFLARE_API_TOKEN = web_search.NO_PERMISSION
    assert registry.is_web_search_offered()
    assert await refused("a") == REJECTED
    assert not registry.is_web_search_offered()
    assert "web_search" not in registry.offered(User())
    settings.WEB_SEARCH = "cloudflare"
    assert registry.is_web_search_offered()  # by the administrator's word
    settings.WEB_SEARCH = ""
    monkeypatch.setattr(registry, "REFUSED_SECONDS", 0.0)
    assert await refused("a") == REJECTED
    assert registry.is_web_search_offered()


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"query": "a", "provider": "google"}, 400),
        ({"query": "a" * 1_025}, 400),
        ({"query": ""}, 400),
        ({"query": 3}, 400),
        ({}, 400),
        ({"query": "a", "limit": 0}, 400),
        ({"query": "a", "limit": 11}, 400),
        ({"query": "a", "limit": 1.5}, 400),
        ({"query": "a", "count": 3}, 400),
        ({"query": "a", "options": {}}, 400),
        ({"query": "a", "byokAlias": "ours"}, 400),
        ({"query": "a", "options": {"gateway": {"id": "no-such-gateway"}}}, 400),
        ({"query": "a", "options": {"gateway": {"id": "no-credits"}}}, 402),
        ({"query": "a", "provider": "exa", "limit": 1}, 200),
    ],
)
async def test_the_fake_refuses_what_cloudflare_does(
    fake: WorkersAI, body: dict[str, Any], status: int
) -> None:
    whole = {"options": {"gateway": {"id": "default"}}, **body}
    assert web_search.web_search(TOKEN, whole)[0] == status
    assert web_search.web_search(web_search.NO_PERMISSION, whole)[0] == 403


async def test_what_is_offered_follows_the_settings(settings: Any, fake: WorkersAI) -> None:
    assert registry.search_provider() == "cloudflare"
    for name in ("none", "cloudflare", "searxng", "brave"):
        settings.WEB_SEARCH = name
        assert registry.search_provider() == name
    settings.CLOUDFLARE_ACCOUNT_ID = ""
    for name, found in (("", "none"), ("cloudflare", "none"), ("searxng", "searxng")):
        settings.WEB_SEARCH = name
        assert registry.search_provider() == found
    assert [tool.name for tool in registry.tools_for(["web_search"])] == ["web_search", "read_page"]
    settings.WEB_SEARCH = "none"
    assert registry.tools_for(["web_search"]) == []


async def test_a_stopped_search_closes_its_connection(fake: WorkersAI) -> None:
    task = asyncio.ensure_future(search("fake: slow"))
    await becomes(lambda: fake.calls)
    task.cancel()
    await becomes(lambda: fake.calls[0]["closed_by_client"])


@pytest.fixture
async def instance(settings: Any) -> Any:
    """An instance of SearXNG below a path, whose answers a test sets."""
    async with serving() as found:
        settings.SEARXNG_URL = found.url("/searx")
        yield found


FOUND = [
    {"url": "https://a.example/", "title": "A", "content": "about a", "publishedDate": "2026-10-02T00:00:00"},
    {"url": "https://b.example/", "title": "B\n<b>", "content": None, "publishedDate": None, "score": 1.5},
    {"title": "no address"},
    "nonsense",
]


async def test_searxng_searches(instance: Pages) -> None:
    instance.page("/searx/search", json.dumps({"query": "x", "results": FOUND * 5}), "application/json")
    result = await search("käse & mehr", "searxng")
    assert instance.requests[0].startswith("GET /searx/search?q=k%C3%A4se+%26+mehr&format=json HTTP/1.1\r\n")
    assert len(result.sources) == 8
    first, second = result.sources[:2]
    assert (first.title, first.text, first.date) == ("A", "about a", "2026-10-02")
    assert (second.title, second.text, second.date) == ("B <b>", "", "")
    assert result.cost == 0


@pytest.mark.parametrize(
    ("head", "body", "sentence"),
    [
        ("HTTP/1.1 403 Forbidden", b"", REJECTED),  # json is not among its formats
        ("HTTP/1.1 429 Too many", b"", "Too many searches at once. Wait a moment, then try again."),
        ("HTTP/1.1 500 No", b"", UNAVAILABLE),
        ("HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/", b"", UNAVAILABLE),
        ("HTTP/1.1 200 OK", b"<!doctype html>", UNAVAILABLE),
        ("HTTP/1.1 200 OK", b"[" * 100_000, UNAVAILABLE),
        ("HTTP/1.1 200 OK", b" " * 2_000_001, UNAVAILABLE),
    ],
)
async def test_what_an_instance_refuses(instance: Pages, head: str, body: bytes, sentence: str) -> None:
    instance.raw("/searx/search", f"{head}\r\nContent-Length: {len(body)}\r\n\r\n", body)
    assert await refused("a", "searxng") == sentence


@pytest.mark.parametrize("body", ["[]", "{}", '{"results": 3}', '{"results": [{}]}', "null"])
async def test_an_answer_without_results(instance: Pages, body: str) -> None:
    instance.page("/searx/search", body, "application/json")
    assert (await search("a", "searxng")).sources == ()


async def test_a_search_ends_at_its_time(instance: Pages, monkeypatch: pytest.MonkeyPatch) -> None:
    async def wait(writer: Any) -> None:
        await asyncio.sleep(60)

    service.tls()
    monkeypatch.setattr(service, "SECONDS", 0.2)
    instance.played("/searx/search", wait)
    assert await refused("a", "searxng") == UNAVAILABLE


async def test_brave_searches(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.BRAVE_API_KEY = "brave-key"
    async with serving() as fake:
        monkeypatch.setattr(search_providers, "BRAVE_URL", fake.url("/res/v1/web/search"))
        found = {
            "title": "A",
            "url": "https://a.example/",
            "description": "d",
            "page_age": "2026-10-02T09:00:00",
        }
        fake.page("/res/v1/web/search", json.dumps({"web": {"results": [found]}}), "application/json")
        result = await search("wort " * 100, "brave")
        (head,) = fake.requests
        asked = "+".join(["wort"] * 50)
        assert head.startswith(
            f"GET /res/v1/web/search?q={asked}&count=8&text_decorations=false HTTP/1.1\r\n"
        )
        assert "X-Subscription-Token: brave-key\r\n" in head
        (source,) = result.sources
        assert (source.title, source.text, source.date, result.cost) == ("A", "d", "2026-10-02", None)


@pytest.mark.parametrize(
    ("status", "code", "sentence"),
    [
        (422, "SUBSCRIPTION_TOKEN_INVALID", REJECTED),
        (401, "", REJECTED),
        (402, "QUOTA_LIMITED", SPENT),
        (429, "RATE_LIMITED", "Too many searches at once. Wait a moment, then try again."),
    ],
)
async def test_what_brave_refuses(
    settings: Any, monkeypatch: pytest.MonkeyPatch, status: int, code: str, sentence: str
) -> None:
    settings.BRAVE_API_KEY = "brave-key"
    body = json.dumps({"type": "ErrorResponse", "error": {"code": code, "status": status, "detail": "x"}})
    async with serving() as fake:
        monkeypatch.setattr(search_providers, "BRAVE_URL", fake.url("/search"))
        head = f"HTTP/1.1 {status} No\r\nContent-Length: {len(body)}\r\n\r\n"
        fake.raw("/search", head, body.encode())
        assert await refused("a", "brave") == sentence
