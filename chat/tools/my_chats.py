"""The search of a person's own chats: the messages that fit best, without temporary chats."""

from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.urls import reverse
from django.utils.translation import gettext, ngettext

from chat.db.executor import run_in_db
from chat.limits import MAX_PASSAGE_CHARS
from chat.models import Message
from chat.search.query import MAX_QUERY_CHARS, parse
from chat.search.results import search

from .tool import CallContext, Source, ToolFailed, ToolResult

MAX_FOUND = 8  # chats


class SearchMyChats:
    """The tool `search_my_chats(query)`: the search of the chat page, with the rows of one person only."""

    name = "search_my_chats"
    declaration: Mapping[str, Any] = {
        "name": name,
        "description": "Search the person's own earlier chats for words. Returns the best message of each.",
        "parameters": {
            "type": "object",
            "properties": {"query": {"type": "string", "description": "A few words, without operators"}},
            "required": ["query"],
        },
    }

    def asks_first(self, arguments: Mapping[str, Any], context: CallContext) -> bool:
        return False

    async def call(self, arguments: Mapping[str, Any], context: CallContext) -> ToolResult:
        typed = arguments.get("query")
        if not isinstance(typed, str) or not typed.strip():
            raise ToolFailed(gettext("The search has no words."))
        found = await run_in_db(_found, context, typed.strip()[:MAX_QUERY_CHARS])
        count = len(found)
        return ToolResult(ngettext("%(n)s chat", "%(n)s chats", count) % {"n": count}, found)


def _found(context: CallContext, typed: str) -> tuple[Source, ...]:
    results = search(context.user, parse(typed, settings.TIME_ZONE)).results
    others = [each for each in results if str(each.conversation) != context.conversation][:MAX_FOUND]
    texts = dict(
        Message.objects.filter(
            pk__in=[each.message for each in others if each.message], conversation__user_id=context.user
        ).values_list("pk", "text")
    )
    return tuple(
        Source(
            each.title.text,
            reverse("chat:conversation", args=[each.conversation])
            + (f"?at={each.message}#m-{each.message}" if each.message else ""),
            texts.get(each.message, "")[:MAX_PASSAGE_CHARS],
            each.at.date().isoformat(),
        )
        for each in others
    )
