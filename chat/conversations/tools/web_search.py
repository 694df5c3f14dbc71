"""The tool that searches the web, by the provider of this site."""

import re
from collections.abc import Mapping
from datetime import date
from typing import Any, Protocol

from django.utils.translation import gettext, gettext_noop, ngettext
from django.utils.translation import gettext as _

from chat.db.fair_executor import ConcurrencyLimit
from chat.upstream.errors import ErrorKind, UpstreamError

from .tool import CallContext, Source, ToolFailed, ToolResult

SEARCHES = ConcurrencyLimit(3)  # of one person at a time
MAX_RESULTS = 8
MAX_PASSAGE_CHARACTERS = 2_000
MAX_TITLE_CHARACTERS = 300
DECLARATION = {
    "name": "web_search",
    "description": "Search the web for what is current or what you don't know. Returns titles, addresses and "
    "passages of pages.",
    "parameters": {
        "type": "object",
        "properties": {"query": {"type": "string", "description": "A few words to search for"}},
        "required": ["query"],
    },
}
REJECTED = gettext_noop("The search service rejects this site’s key. Tell your administrator.")
SPENT = gettext_noop("This site’s searches are used up. Tell your administrator.")
REFUSALS = {
    ErrorKind.AUTH: REJECTED,
    ErrorKind.NOT_PERMITTED: REJECTED,
    ErrorKind.CREDITS: SPENT,
    ErrorKind.QUOTA: SPENT,
    ErrorKind.THROTTLED: gettext_noop("Too many searches at once. Wait a moment, then try again."),
    ErrorKind.BLOCKED: gettext_noop("A filter of the search service blocked this search."),
}
UNAVAILABLE = gettext_noop("The search service is unavailable. Try again in a moment.")
NOT_PRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]+")
ADDRESS = re.compile(r"https?://[^\s]{1,2000}", re.IGNORECASE)


class SearchProvider(Protocol):
    """A service that searches. `cost` is the price of a search in dollars, None if it is not known."""

    @property
    def max_query_characters(self) -> int: ...

    @property
    def cost(self) -> float | None: ...

    async def search(self, query: str) -> list[Source]:
        """Return what was found, the best first. Raises UpstreamError."""


class WebSearch:
    name = "web_search"

    def __init__(self, provider: SearchProvider) -> None:
        self._provider = provider

    @property
    def declaration(self) -> dict[str, Any]:
        return DECLARATION

    def permission(self, arguments: Mapping[str, Any], context: CallContext) -> None:
        return None

    async def call(self, arguments: Mapping[str, Any], context: CallContext) -> ToolResult:
        query = _query(arguments.get("query"), self._provider.max_query_characters)
        try:
            async with SEARCHES.slot(context.user):
                found = await self._provider.search(query)
        except UpstreamError as error:
            raise ToolFailed(gettext(REFUSALS.get(error.kind, UNAVAILABLE))) from None
        if not found:
            return ToolResult(_("No results"), text="Nothing was found.", cost=self._provider.cost)
        found = found[:MAX_RESULTS]
        summary = ngettext("%(n)s result", "%(n)s results", len(found)) % {"n": len(found)}
        return ToolResult(summary, tuple(found), cost=self._provider.cost)


def _query(value: object, most: int) -> str:
    """Return the words in one line, as many as the provider takes."""
    query = " ".join(value.split()) if isinstance(value, str) else ""
    query = NOT_PRINTABLE.sub("", query)
    if not query:
        raise ToolFailed(_("The words to search for are missing."))
    if len(query) > most:
        cut = query[: most + 1].rpartition(" ")[0]
        query = cut or query[:most]
    return query


def source(title: object, url: object, text: object, changed: object = "") -> Source | None:
    """Return one result from what a service sent; None if it is no page of the web."""
    if not isinstance(url, str) or not ADDRESS.fullmatch(url):
        return None
    passage = _line(text, MAX_PASSAGE_CHARACTERS)
    return Source(_line(title, MAX_TITLE_CHARACTERS) or url, url, passage, iso_date(changed))


def sources(results: object, *names: str) -> list[Source]:
    """Return the results of a list of objects, by the names of their title, address, passage and date."""
    found = [
        source(*(each.get(name) for name in names))
        for each in (results if isinstance(results, list) else ())
        if isinstance(each, dict)
    ]
    return [each for each in found if each]


def _line(text: object, most: int) -> str:
    words = " ".join(NOT_PRINTABLE.sub(" ", text).split()) if isinstance(text, str) else ""
    return words if len(words) <= most else words[: most - 1] + "…"


def iso_date(text: object) -> str:
    """Return the date of a date and time; "" if it is none."""
    try:
        return date.fromisoformat(str(text)[:10]).isoformat()
    except ValueError:
        return ""
