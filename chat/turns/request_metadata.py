"""Who asks, as those are told who answer: under a pseudonym that only this site can resolve."""

from dataclasses import replace
from urllib.parse import urlsplit

from django.conf import settings
from django.utils.crypto import salted_hmac

from chat.models import Run
from chat.upstream.chat_request import ChatRequest

SITE = urlsplit(settings.SITE_URL).hostname or ""
PSEUDONYM_HEX_DIGITS = 32  # hexadecimal digits


def with_metadata(ask: ChatRequest, run: Run) -> ChatRequest:
    """With what leads a conversation back to its machine, and with labels for a gateway's log.

    The affinity is a pseudonym as well: it goes to the model's servers, who have no use for the id. In the
    gateway's log the id stands as it is, so that an administrator finds the transcript of an entry.
    """
    conversation = str(run.conversation_id)
    known = with_labels(ask, run.user_id, conversation=conversation)
    return replace(known, session_affinity=pseudonym("conversation", conversation))


def with_labels(ask: ChatRequest, person: int, **more: str) -> ChatRequest:
    """With labels for a gateway's log: the person's pseudonym, the site, and `more`."""
    return replace(ask, metadata={"person": pseudonym("person", str(person)), **more, "site": SITE})


def pseudonym(kind: str, name: str) -> str:
    """The same for the same name as long as SECRET_KEY is; nobody without the key can tell whose it is."""
    return salted_hmac(f"chat.{kind}", name, algorithm="sha256").hexdigest()[:PSEUDONYM_HEX_DIGITS]
