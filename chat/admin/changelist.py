"""The list of conversations: its search, its order, and the figures shown for each conversation.

A page takes a constant number of queries: the figures are queried once for the whole page, and only for the
conversations on it.
"""

import uuid
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import Any

from django.contrib.admin.views.main import ChangeList
from django.db.models import Count, Exists, OuterRef, Q, QuerySet, Sum
from django.http import HttpRequest
from django.utils.text import smart_split, unescape_string_literal

from chat.models import Conversation, Feedback, Message, Run, User

from .filters import LAST_STATE

MOST_TERMS = 30  # per search; a database accepts a few hundred conditions, and users write about three
LONGEST_SEARCH_CHARS = 1_000  # characters of all terms of a search; the rest is ignored
QUOTES = str.maketrans("“”„", '"""')  # typographic quotes, as phones insert them


@dataclass(slots=True)
class ConversationStats:
    """The figures of one conversation. `state` is the status of its latest run, "" if it has none."""

    messages: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    state: str = ""
    up: int = 0
    down: int = 0


def stats_of(keys: Iterable[uuid.UUID]) -> dict[uuid.UUID, ConversationStats]:
    """Return the figures by conversation, in four queries."""
    facts = {key: ConversationStats() for key in keys}
    within = {"conversation__in": facts}
    messages = Message.objects.filter(**within).values_list("conversation").annotate(number=Count("*"))
    for key, number in messages:
        facts[key].messages = number
    tokens = {"asked": Sum("prompt_tokens", default=0), "said": Sum("completion_tokens", default=0)}
    for key, asked, said in Run.objects.filter(**within).values_list("conversation").annotate(**tokens):
        facts[key].prompt_tokens, facts[key].completion_tokens = asked, said
    for key, state in Conversation.objects.filter(pk__in=facts).values_list("pk", LAST_STATE):
        facts[key].state = state or ""
    for key, up, down in _thumbs(facts):
        facts[key].up, facts[key].down = up, down
    return facts


def _thumbs(keys: Iterable[uuid.UUID]) -> Iterable[Any]:
    given = Feedback.objects.filter(message__conversation__in=keys).values_list("message__conversation")
    return given.annotate(ups=Count("pk", filter=Q(up=True)), downs=Count("pk", filter=Q(up=False)))


def matching(conversations: QuerySet, words: str) -> QuerySet:
    """Return those of `conversations` that contain each word or “quoted phrase” of the search.

    A term may be in the title, the owner's name or address, or a message, or be the conversation's id.
    Subqueries instead of joins yield no conversation twice, so that no DISTINCT is needed.
    """
    for text in terms_of(words):
        named = User.objects.filter(Q(username__icontains=text) | Q(email__icontains=text))
        said = Message.objects.filter(conversation=OuterRef("pk"), text__icontains=text)
        found: Any = Q(title__icontains=text) | Q(user__in=named) | Exists(said)
        with suppress(ValueError):
            found |= Q(pk=uuid.UUID(text))  # pasted from a URL
        conversations = conversations.filter(found)
    return conversations


def terms_of(words: str) -> list[str]:
    """Return the terms of a search, bounded in number and length so that all of them can be recorded."""
    terms, left = [], LONGEST_SEARCH_CHARS
    for term in islice(_terms(words), MOST_TERMS):
        if left <= 0:
            break
        terms.append(term[:left])
        left -= len(term)
    return terms


def _terms(words: str) -> Iterator[str]:
    for word in smart_split(words.translate(QUOTES)):
        quoted = len(word) > 2 and word[0] in "\"'" and word[0] == word[-1]
        yield unescape_string_literal(word) if quoted else word


class ConversationChangeList(ChangeList):
    """Django's list, with `facts` (ConversationStats) on each conversation of the page."""

    def get_results(self, request: HttpRequest) -> None:
        super().get_results(request)
        self.result_list: Any = list(self.result_list)
        facts = stats_of(conversation.pk for conversation in self.result_list)
        for conversation in self.result_list:
            conversation.facts = facts[conversation.pk]


class OrderOnlyChangeList(ChangeList):
    """All conversations that pass the filters, in the list's order, for `neighbours`; it has no pages."""

    def get_results(self, request: HttpRequest) -> None:
        """Do nothing: no page is shown, so nothing needs to be counted or read."""

    def neighbours(self, key: uuid.UUID) -> tuple[uuid.UUID | None, uuid.UUID | None]:
        """Return the ids of the conversations before and after `key`; None if there is none.

        Both are None if `key` is not in the list.
        """
        keys: Iterator[uuid.UUID] = self.queryset.values_list("pk", flat=True).iterator()
        before = None
        for found in keys:
            if found == key:
                return before, next(keys, None)
            before = found
        return None, None
