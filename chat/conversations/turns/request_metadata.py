"""Request metadata for providers: pseudonyms of users and conversations that only this site can resolve."""

from dataclasses import replace
from urllib.parse import urlsplit

from django.conf import settings
from django.utils.crypto import salted_hmac

from chat.models import Run
from chat.telemetry import tracing
from chat.telemetry.request_id import request_id
from chat.upstream.chat_request import ChatRequest

SITE_HOST = urlsplit(settings.SITE_URL).hostname or ""
PSEUDONYM_HEX_DIGITS = 32


def with_metadata(request: ChatRequest, run: Run) -> ChatRequest:
    """Return `request` with labels for a gateway's log and with a session affinity.

    The affinity routes a conversation to the machine that served it before. It is a pseudonym, too, because
    it goes to the model's servers, which have no use for the id. The gateway's log gets the conversation's id
    itself, so that an administrator finds the transcript of an entry, and the id of the HTTP request.
    """
    conversation = str(run.conversation_id)
    known = with_labels(request, run.user_id, conversation=conversation, request=request_id.get())
    return replace(known, session_affinity=pseudonym("conversation", conversation))


def with_labels(request: ChatRequest, person: int, /, **more: str) -> ChatRequest:
    """Return `request` with labels for a gateway's log: the user's pseudonym, the site, and `more`.

    It also gets the context of the HTTP request's span, if traces are on.
    """
    labels = {"person": pseudonym("person", str(person)), **more, "site": SITE_HOST}
    metadata = {name: value for name, value in labels.items() if value}
    return replace(request, metadata=metadata, trace=tracing.context.get())


def pseudonym(kind: str, name: str) -> str:
    """Return a keyed hash of `name`, stable as long as SECRET_KEY is, and not resolvable without it."""
    return salted_hmac(f"chat.{kind}", name, algorithm="sha256").hexdigest()[:PSEUDONYM_HEX_DIGITS]
