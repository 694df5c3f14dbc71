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

from django.db.models import Count, Q, QuerySet, Sum
from django.http import HttpRequest
from django.utils.text import smart_split, unescape_string_literal

from chat.models import Conversation, Feedback, Message, Run, SharedLink, TitleRequest, User
from chat.search.matches import conversations_with, term_of

from .filters import LAST_STATE
from .keyset import KeysetChangeList, key_in

MAX_SEARCH_TERMS = 30  # per search; a database accepts a few hundred conditions, and users write about three
MAX_PEOPLE_OF_CONVERSATIONS = 100  # whose conversations a search finds by their names
MAX_SEARCH_MATCHES = 1_000  # messages and titles that a search reads, for all of its terms
MAX_SEARCH_CHARS = 1_000  # of all terms of a search; the rest is ignored
STRAIGHT_QUOTES = str.maketrans("“”„", '"""')  # typographic quotes, as phones insert them


@dataclass(slots=True)
class ConversationStats:
    """The figures of one conversation. `state` is the status of its latest run, "" if it has none.

    `shared`: a link shows some of it to whoever has that link.
    """

    messages: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    state: str = ""
    up: int = 0
    down: int = 0
    shared: bool = False


def stats_of(keys: Iterable[uuid.UUID]) -> dict[uuid.UUID, ConversationStats]:
    """Return the figures by conversation, in six queries."""
    stats = {key: ConversationStats() for key in keys}
    within = {"conversation__in": stats}
    messages = Message.objects.filter(**within).values_list("conversation").annotate(number=Count("*"))
    for key, number in messages:
        stats[key].messages = number
    sums = {
        "tokens_in": Sum("prompt_tokens", default=0),
        "tokens_out": Sum("completion_tokens", default=0),
    }
    for requests in (Run.objects, TitleRequest.objects):
        rows = requests.filter(**within).values_list("conversation").annotate(**sums)
        for key, tokens_in, tokens_out in rows:
            stats[key].prompt_tokens += tokens_in
            stats[key].completion_tokens += tokens_out
    for key, state in Conversation.objects.filter(pk__in=stats).values_list("pk", LAST_STATE):
        stats[key].state = state or ""
    for key, up, down in _thumbs(stats):
        stats[key].up, stats[key].down = up, down
    for key in _shared(stats):
        stats[key].shared = True
    return stats


def _thumbs(keys: Iterable[uuid.UUID]) -> Iterable[Any]:
    given = Feedback.objects.with_conversation().filter(within__in=keys).values_list("within")
    return given.annotate(ups=Count("pk", filter=Q(up=True)), downs=Count("pk", filter=Q(up=False)))


def _shared(keys: Iterable[uuid.UUID]) -> Iterable[uuid.UUID]:
    links = SharedLink.objects.valid().filter(leaf__conversation__in=keys)
    return links.values_list("leaf__conversation", flat=True).distinct()


def matching(conversations: QuerySet, words: str) -> QuerySet:
    """Return the conversations that contain each word and each “quoted phrase” of the search.

    A term may be in the title, the owner's name or address, or a message, or be the conversation's id. The
    terms share MAX_SEARCH_MATCHES: of one that is in more messages and titles than its share, only the newest
    count. Of one that more than MAX_PEOPLE_OF_CONVERSATIONS users have in their name or address, only the
    first users count.
    """
    terms = terms_of(words)
    if not terms:
        return conversations
    limit = MAX_SEARCH_MATCHES // len(terms)
    found = [_Found(_conversations(text, limit), _people(text)) for text in terms]
    owners = {key: owner for each in found for key, owner in each.conversations.items()}
    keys = {key for key, owner in owners.items() if all(each.has(key, owner) for each in found)}
    if len(terms) > 1:
        keys.update(conversations_with([term_of(text) for text in terms], limit))
    people = set.intersection(*(each.people for each in found))
    # One OR at most, and only where it is needed: for a condition of several, SQLite reads all conversations.
    if not people:
        return conversations.filter(key_in(Conversation, keys)) if keys else conversations.none()
    named = Q(user__in=people)
    return conversations.filter(key_in(Conversation, keys) | named if keys else named)


@dataclass(frozen=True, slots=True)
class _Found:
    """Matches of a term: {conversation: owner}, and the users of whom all conversations match."""

    conversations: dict[uuid.UUID, int]
    people: set[int]

    def has(self, conversation: uuid.UUID, owner: int) -> bool:
        return conversation in self.conversations or owner in self.people


def _conversations(text: str, limit: int) -> dict[uuid.UUID, int]:
    found = conversations_with([term_of(text)], limit)
    with suppress(ValueError):
        pasted = Conversation.objects.filter(pk=uuid.UUID(text))  # the id in an address
        found.update(pasted.values_list("pk", "user_id"))
    return found


def _people(text: str) -> set[int]:
    """Return the users whose name or address has the text: the first ones by name."""
    found = User.objects.filter(Q(username__icontains=text) | Q(email__icontains=text))
    return set(found.order_by("username").values_list("pk", flat=True)[:MAX_PEOPLE_OF_CONVERSATIONS])


def terms_of(words: str) -> list[str]:
    """Return the terms of a search, bounded in number and length so that all of them can be recorded."""
    terms, left = [], MAX_SEARCH_CHARS
    for term in islice(_terms(words), MAX_SEARCH_TERMS):
        if left <= 0:
            break
        terms.append(term[:left])
        left -= len(term)
    return terms


def _terms(words: str) -> Iterator[str]:
    for word in smart_split(words.translate(STRAIGHT_QUOTES)):
        quoted = len(word) > 2 and word[0] in "\"'" and word[0] == word[-1]
        yield unescape_string_literal(word) if quoted else word


class ConversationChangeList(KeysetChangeList):
    """The list, with `stats` (ConversationStats) on each conversation of the page."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        # Django would resolve the address of each row to see whether it takes the filters: 8 ms for a page.
        self._filters, self.preserved_filters = self.preserved_filters, ""

    def url_for_result(self, result: Any) -> str:
        """Return the address of the transcript, which leads back to the list with its filters."""
        url: str = super().url_for_result(result)
        return f"{url}?{self._filters}" if self._filters else url

    def get_results(self, request: HttpRequest) -> None:
        super().get_results(request)
        stats = stats_of(conversation.pk for conversation in self.result_list)
        for conversation in self.result_list:
            conversation.stats = stats[conversation.pk]


class OrderOnlyChangeList(KeysetChangeList):
    """All conversations that pass the filters, in the list's order, for `neighbours`; it has no pages."""

    def get_results(self, request: HttpRequest) -> None:
        """Do nothing: no page is shown, so nothing needs to be counted or read."""
