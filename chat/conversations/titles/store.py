"""Storage of titles: the claim of a conversation, which succeeds once, and the result of the request."""

import uuid
from dataclasses import dataclass

from django.db import transaction
from django.db.models.functions import Left
from django.utils import timezone

from chat.db.executor import write_lock
from chat.models import Conversation, Message, TitleRequest
from chat.models.model_request import OutcomeColumns
from chat.search import index
from chat.search.document import Document

EXCERPT_CHARS = 1_500  # of the question and of the reply each

TitleState = Conversation.TitleState


@dataclass(frozen=True, slots=True)
class TitleClaim:
    """The exclusive right to request a title for a conversation, with the excerpts for the prompt."""

    request: uuid.UUID
    conversation: uuid.UUID
    user: int
    question: str
    reply: str


def claim_title(conversation: uuid.UUID, message: uuid.UUID, model: str) -> TitleClaim | None:
    """Claim the conversation whose first reply is `message`.

    Return None if it has been claimed before, needs no generated title, or was deleted. A claim is never
    released: if the process dies, the request stays interrupted and the title stays the first line.
    """
    reply = Message.objects.select_related("parent").defer("text", "reasoning", "parent__text")
    excerpts = {"reply": Left("text", EXCERPT_CHARS), "question": Left("parent__text", EXCERPT_CHARS)}
    texts = reply.annotate(**excerpts)
    with write_lock(), transaction.atomic():
        first_line = Conversation.objects.filter(title_state=TitleState.FIRST_LINE, deleted=None)
        if not first_line.filter(pk=conversation).update(title_state=TitleState.REQUESTED):
            return None
        columns = ("conversation__user_id", "question", "reply")
        user, question, reply = texts.values_list(*columns).get(pk=message)
        request = TitleRequest(conversation_id=conversation, user_id=user, model=model)
        request.save(force_insert=True)
    return TitleClaim(request.pk, conversation, user, question or "", reply)


def save_title(claim: TitleClaim, title: str, outcome: OutcomeColumns) -> None:
    """Store the outcome of a request, and its title unless the owner has set one meanwhile."""
    with write_lock(), transaction.atomic():
        TitleRequest.objects.filter(pk=claim.request).update(**outcome, finished=timezone.now())
        if title:
            _replace_title(claim, title)


def rename(conversation: Conversation, title: str) -> None:
    """Store a title that the owner has set; a generated title never replaces it."""
    renamed = Conversation.objects.filter(pk=conversation.pk)
    with write_lock(), transaction.atomic():
        former = renamed.values_list("title", flat=True).first()
        if former and renamed.update(title=title, title_state=TitleState.FINAL):
            index.change(former, Document(conversation.user_id, title, conversation=conversation.pk))


def _replace_title(claim: TitleClaim, title: str) -> None:
    requested = Conversation.objects.filter(pk=claim.conversation, title_state=TitleState.REQUESTED)
    former = requested.values_list("title", flat=True).first()
    if former and requested.update(title=title, title_state=TitleState.FINAL):
        index.change(former, Document(claim.user, title, conversation=claim.conversation))
