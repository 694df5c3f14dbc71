"""The search of a person's own chats: the messages that fit best, without temporary chats."""

from collections.abc import Mapping
from datetime import UTC
from typing import Any, ClassVar

from django.urls import reverse
from django.utils.translation import gettext, ngettext

from chat.db.executor import run_in_db
from chat.limits import MAX_PASSAGE_CHARS
from chat.models import Message
from chat.search.query import MAX_QUERY_CHARS, parse
from chat.search.results import Result, search

from .tool import CallContext, Source, ToolFailed, ToolResult

MAX_FOUND = 8  # chats


class SearchMyChats:
    """The tool `search_my_chats(query)`: the search of the chat page, with the rows of one person only."""

    name = "search_my_chats"
    declaration: ClassVar[dict[str, Any]] = {
        "name": name,
        "description": "Search the person's own earlier chats for words. Returns the best message of each.",
        "parameters": {
            "type": "object",
            "properties": {"query": {"type": "string", "description": "A few words, without operators"}},
            "required": ["query"],
        },
    }

    def permission(self, arguments: Mapping[str, Any], context: CallContext) -> None:
        return None

    async def call(self, arguments: Mapping[str, Any], context: CallContext) -> ToolResult:
        typed = arguments.get("query")
        if not isinstance(typed, str) or not typed.strip():
            raise ToolFailed(gettext("The search has no words."))
        found = await run_in_db(_found, context, typed.strip()[:MAX_QUERY_CHARS])
        count = len(found)
        return ToolResult(ngettext("%(n)s chat", "%(n)s chats", count) % {"n": count}, found)


def _found(context: CallContext, typed: str) -> tuple[Source, ...]:
    results = search(context.user, parse(typed, UTC)).results
    others = [each for each in results if str(each.conversation) != context.conversation][:MAX_FOUND]
    messages = Message.objects.in_bulk([each.message for each in others if each.message])
    return tuple(_source(each, messages[each.message].text if each.message else "") for each in others)


def _source(result: Result, text: str) -> Source:
    page = reverse("chat:conversation", args=[result.conversation])
    at = f"?at={result.message}#m-{result.message}" if result.message else ""
    date = result.at.date().isoformat()
    return Source(result.title.text, f"{page}{at}", text[:MAX_PASSAGE_CHARS], date)
