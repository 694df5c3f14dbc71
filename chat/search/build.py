"""Index the texts that are older than the index, and compare the index with the stored texts.

It is built newest first, in small transactions while the site runs. Each step indexes the newest
conversations that are not indexed yet. A step can fail or be repeated safely.
"""

import asyncio
import logging
import time
import uuid
from collections.abc import Awaitable, Callable, Collection, Iterator, Sequence
from dataclasses import dataclass

from django.db import DatabaseError, transaction
from django.db.models import Exists, OuterRef, Q, QuerySet

from chat.db.executor import DatabaseExecutor, write_lock
from chat.models import Conversation, Message, SearchBuild, SearchDocument

from . import index
from .index import engine
from .words import Document

STEP_CONVERSATIONS = 25  # indexed in one step
STEP_MESSAGES = 250  # indexed in one step; a long conversation takes several steps
BUILD_RETRY_SECONDS = 60.0
VERIFIED_DOCUMENTS = 200  # compared at once

logger = logging.getLogger(__name__)


def build(on_step: Callable[[int], None], *, beside_servers: Callable[[], bool]) -> None:
    """Build until the index is complete.

    `on_step` is called with the number of new documents. While servers run, each step is followed by a pause
    of the same length, in which they can write.
    """
    while True:
        began = time.monotonic()
        added = step()
        if added is None:
            return
        on_step(added)
        if beside_servers():
            time.sleep(time.monotonic() - began)


def restart() -> None:
    """Empty the index, so that the next steps build all of it again."""
    with write_lock(), transaction.atomic():
        newest = SearchDocument.objects.order_by("-pk").values_list("pk", flat=True).first()
        engine.clear()
        SearchBuild.objects.update_or_create(
            pk=1, defaults={"finished": False, "created": None, "conversation": None}
        )
        if newest:  # texts stored during the build get higher ids
            SearchBuild.objects.update(next_id=newest)


def step() -> int | None:
    """Index the next conversations. Return the number of new documents, None once the index is complete."""
    with write_lock(), transaction.atomic():
        state = SearchBuild.objects.select_for_update().filter(finished=False).first()
        if state is None:
            return None
        conversations = list(_next_conversations(state))
        documents = _unindexed_documents(conversations)
        added = documents[:STEP_MESSAGES]
        if added:
            index.insert_below(state.next_id, added)
            state.next_id -= len(added)
        if len(documents) <= STEP_MESSAGES:
            state.finished = len(conversations) < STEP_CONVERSATIONS
            if conversations:
                state.created, state.conversation = conversations[-1].created, conversations[-1].pk
        state.save()
        return len(added)


def _next_conversations(state: SearchBuild) -> "QuerySet[Conversation]":
    rows = Conversation.objects.select_for_update(no_key=True).order_by("-created", "-pk")
    rows = rows.only("pk", "user_id", "title", "created")
    if state.created:
        rows = rows.filter(Q(created__lt=state.created) | Q(created=state.created, pk__lt=state.conversation))
    return rows[:STEP_CONVERSATIONS]


def _unindexed_documents(conversations: list[Conversation]) -> list[Document]:
    """Return the documents that these conversations lack, of at most STEP_MESSAGES + 1 messages."""
    owners = {conversation.pk: conversation.user_id for conversation in conversations}
    messages = (
        index.message_of(message, owners[message.conversation_id]) for message in _lock_unindexed(owners)
    )
    titles = SearchDocument.objects.filter(conversation__in=owners)
    titled = set(titles.values_list("conversation", flat=True))
    return [*messages, *(index.title_of(each) for each in conversations if each.pk not in titled)]


def _lock_unindexed(conversations: Collection[uuid.UUID]) -> list[Message]:
    """Lock and return the messages to index, so that no reply grows before its document is stored.

    A message that was indexed while this waited for the locks is left out.
    """
    indexed = SearchDocument.objects.filter(message=OuterRef("pk"))
    unindexed = Message.objects.filter(~Exists(indexed), conversation__in=conversations).exclude(text="")
    keys = list(unindexed.order_by("-created", "-pk").values_list("pk", flat=True)[: STEP_MESSAGES + 1])
    rows = Message.objects.select_for_update(no_key=True).filter(pk__in=keys)
    locked = {message.pk: message for message in rows.only("pk", "conversation_id", "text").order_by("pk")}
    meanwhile = set(SearchDocument.objects.filter(message__in=keys).values_list("message", flat=True))
    return [locked[key] for key in keys if key in locked and key not in meanwhile]


async def build_in_background() -> None:
    """Build on a separate thread until the index is complete. Several processes may build at once."""
    thread = DatabaseExecutor("db-search")
    try:
        await repeat_until_complete(lambda: thread(step))
    finally:
        await asyncio.get_running_loop().run_in_executor(None, thread.close)


async def repeat_until_complete(take_step: Callable[[], Awaitable[int | None]]) -> None:
    """Take steps until one returns None. Of an outage of the database only the first failure is logged."""
    is_away = False
    while True:
        began = time.monotonic()
        try:
            if await take_step() is None:
                return
            is_away, pause = False, time.monotonic() - began
        except DatabaseError as error:
            if not is_away:
                logger.warning("the search index is not built further for now: %s", type(error).__name__)
            is_away, pause = True, BUILD_RETRY_SECONDS
        await asyncio.sleep(pause)


@dataclass(slots=True)
class Differences:
    """The numbers of faults found in the index.

    `missing`: texts without a document; `stale`: documents without a text; `different`: documents whose words
    are not those of their text.
    """

    missing: int = 0
    stale: int = 0
    different: int = 0

    @property
    def total(self) -> int:
        return self.missing + self.stale + self.different


def verify(progress: Callable[[int], None] = lambda _: None) -> Differences:
    """Compare the whole index, while no server runs.

    `progress` is called with the number of documents of each batch.
    """
    found = Differences(missing=_missing())
    indexed = engine.IndexedWords()
    for batch in _batches():
        documents = _documents(batch)
        found.stale += len(batch) - len(documents)
        found.different += indexed.different([each.pk for each in batch], documents)
        progress(len(batch))
    found.stale += indexed.without_document()
    return found


def _missing() -> int:
    of_message = SearchDocument.objects.filter(message=OuterRef("pk"))
    of_title = SearchDocument.objects.filter(conversation=OuterRef("pk"))
    messages = Message.objects.filter(~Exists(of_message)).exclude(text="").count()
    return messages + Conversation.objects.filter(~Exists(of_title)).count()


def _batches() -> Iterator[list[SearchDocument]]:
    last = 0
    while batch := list(SearchDocument.objects.filter(pk__gt=last).order_by("pk")[:VERIFIED_DOCUMENTS]):
        yield batch
        last = batch[-1].pk


def _documents(batch: Sequence[SearchDocument]) -> dict[int, Document]:
    """Return {id: document as it should be indexed}, without documents whose text no longer exists."""
    messages = Message.objects.exclude(text="").filter(
        pk__in=[each.message for each in batch if each.message]
    )
    owners = messages.values_list("conversation__user_id", "pk", "text")
    titled = Conversation.objects.filter(pk__in=[each.conversation for each in batch if each.conversation])
    texts = [Document(owner, text, message=key) for owner, key, text in owners]
    by_key = {document.message: document for document in texts}
    by_key |= {conversation.pk: index.title_of(conversation) for conversation in titled}
    keys = {each.pk: each.message or each.conversation for each in batch}
    return {key: by_key[of] for key, of in keys.items() if of in by_key}
