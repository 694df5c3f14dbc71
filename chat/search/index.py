"""Write the index: call these functions in the transaction that stores, changes or deletes the text.

A change or deletion names the former text, because FTS5 keeps none: see `sqlite`.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from django.apps import AppConfig
from django.db import connection
from django.db.models.signals import post_migrate, pre_delete
from django.dispatch import receiver

from chat.db.batches import batches_by_size
from chat.models import Conversation, Message, Run, SearchDocument

from .words import Document

# The index of the site's database: both modules have the same functions, which `sqlite` describes.
if TYPE_CHECKING or connection.vendor == "sqlite":
    from . import sqlite as engine
else:
    from . import postgres as engine

# The limits of one INSERT; a batch has at least one document, however long it is.
BATCH_DOCUMENTS = 500
BATCH_CHARS = 1_000_000


def title_of(conversation: Conversation) -> Document:
    return Document(conversation.user_id, conversation.title, conversation=conversation.pk)


def message_of(message: Message, owner: int) -> Document:
    return Document(owner, message.text, message=message.pk)


def add(documents: Iterable[Document]) -> None:
    """Index new texts. An empty one is indexed once it has text."""
    with_text = (document for document in documents if document.text)
    for batch in batches_by_size(
        with_text, lambda each: len(each.text), max_items=BATCH_DOCUMENTS, max_size=BATCH_CHARS
    ):
        engine.add_documents(batch)


def change(former: str, document: Document) -> None:
    """Index a text that has replaced `former`."""
    found = _find(document)
    if found is None:
        add([document])
    else:
        engine.change_words(found, replace(document, text=former), document)


def remove(document: Document) -> None:
    """Delete a text from the index, before or after its row is deleted."""
    found = _find(document)
    if found is not None:
        engine.delete_words(found, document)
        SearchDocument.objects.filter(pk=found).delete()


def add_replies(replies: Iterable[tuple[Run, str]]) -> None:
    """Index the texts that ended runs have added to their messages."""
    added = [(run, text) for run, text in replies if text]
    add(Document(run.user_id, text, message=run.message_id) for run, text in added if not run.text_offset)
    for run in (run for run, _ in added if run.text_offset):
        whole = Message.objects.values_list("text", flat=True).get(pk=run.message_id)
        change(whole[: run.text_offset], Document(run.user_id, whole, message=run.message_id))


def insert_below(key: int, documents: Sequence[Document]) -> None:
    """Index texts under ids that descend from `key`, while the index of older messages is built."""
    keys = range(key, key - len(documents), -1)
    SearchDocument.objects.bulk_create(
        SearchDocument(id=key, owner=each.owner, message=each.message, conversation=each.conversation)
        for key, each in zip(keys, documents, strict=True)
    )
    engine.add_words(keys, documents)


def _find(document: Document) -> int | None:
    by_key = {"message": document.message} if document.message else {"conversation": document.conversation}
    return SearchDocument.objects.filter(**by_key).values_list("pk", flat=True).first()


@receiver(pre_delete, sender=Message, dispatch_uid="search message")
def _remove_message(instance: Message, **_: Any) -> None:
    """Remove a message from the index, also if it is deleted with its conversation or its parent."""
    if instance.text:
        owners = Conversation.objects.values_list("user_id", flat=True)
        remove(message_of(instance, owners.get(pk=instance.conversation_id)))


@receiver(pre_delete, sender=Conversation, dispatch_uid="search title")
def _remove_title(instance: Conversation, **_: Any) -> None:
    remove(title_of(instance))


@receiver(post_migrate, dispatch_uid="search flush")
def _clear_after_flush(sender: AppConfig, **sent: Any) -> None:
    """`manage.py flush` empties the tables of all models, and the words are in none."""
    if sender.label == "chat" and "plan" not in sent:  # `migrate` sends the signal with its plan
        engine.clear()
