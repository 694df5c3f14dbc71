"""Request metadata for providers: pseudonyms of users and conversations that only this site can resolve."""

from dataclasses import replace
from urllib.parse import urlsplit

from django.conf import settings
from django.utils.crypto import salted_hmac

from chat.models import Run
from chat.upstream.chat_request import ChatRequest

SITE = urlsplit(settings.SITE_URL).hostname or ""
PSEUDONYM_HEX_DIGITS = 32


def with_metadata(ask: ChatRequest, run: Run) -> ChatRequest:
    """Return `ask` with labels for a gateway's log and with a session affinity.

    The affinity routes a conversation to the machine that served it before. It is a pseudonym, too, because
    it goes to the model's servers, which have no use for the id. The gateway's log gets the conversation's id
    itself, so that an administrator finds the transcript of an entry.
    """
    conversation = str(run.conversation_id)
    known = with_labels(ask, run.user_id, conversation=conversation)
    return replace(known, session_affinity=pseudonym("conversation", conversation))


def with_labels(ask: ChatRequest, person: int, **more: str) -> ChatRequest:
    """Return `ask` with labels for a gateway's log: the user's pseudonym, the site, and `more`."""
    return replace(ask, metadata={"person": pseudonym("person", str(person)), **more, "site": SITE})


def pseudonym(kind: str, name: str) -> str:
    """Return a keyed hash of `name`, stable as long as SECRET_KEY is, and not resolvable without it."""
    return salted_hmac(f"chat.{kind}", name, algorithm="sha256").hexdigest()[:PSEUDONYM_HEX_DIGITS]
