"""The assistant of a page: of its conversation, of the one that begins there, and those that are offered."""

import json
import uuid
from typing import TypedDict

from django.http import HttpRequest
from django.http.request import QueryDict

from chat.exceptions import NotFound
from chat.library.assistants import library
from chat.library.assistants.content import model_of
from chat.models import Assistant, AssistantVersion, Attachment, Conversation, User
from chat.upstream.catalog import Catalog

from ..requests import access, request_fields

MAX_OFFERED_ASSISTANTS = 6  # on the empty page


class AssistantContext(TypedDict, total=False):
    """The part of the page's context that is about assistants."""

    assistant: AssistantVersion | None  # answers in this conversation
    unset: str  # JSON of a request that resets the assistant's parameters
    is_model_missing: bool  # the assistant has a model that the user may not use
    documents: list[Attachment]  # of the assistant with which a conversation begins
    assistants: list[Assistant]  # offered for a new conversation
    more_assistants: bool


def wanted(request: HttpRequest) -> AssistantVersion | None:
    """Return the version that `?assistant=` begins with. Raises BadRequest and NotFound."""
    key = request_fields.parse_uuid(request.GET, "assistant")
    return library.find(access.get_user(request), key).current if key else None


def typed_for(user: User, sent: QueryDict) -> AssistantVersion | None:
    """Return the version that a refused form would have begun with; None if it has or there is none."""
    try:
        return library.find(user, uuid.UUID(sent.get("assistant", ""))).current
    except (ValueError, NotFound):
        return None


def first_model(version: AssistantVersion | None, offered: Catalog) -> str:
    """Return the model with which the assistant begins, "" if it has none that is offered."""
    found = model_of(version, offered) if version else None
    return found.id if found else ""


def of_conversation(conversation: Conversation) -> AssistantContext:
    return {"assistant": conversation.assistant_version}


def of_start(user: User, version: AssistantVersion | None, offered: Catalog) -> AssistantContext:
    """Return the context of the empty page: of the chosen version, otherwise of what is offered."""
    if version is None:
        found = list(library.usable(user).defer("current__instructions")[: MAX_OFFERED_ASSISTANTS + 1])
        return {
            "assistants": found[:MAX_OFFERED_ASSISTANTS],
            "more_assistants": len(found) > MAX_OFFERED_ASSISTANTS,
        }
    return {
        "assistant": version,
        "unset": json.dumps(dict.fromkeys(version.parameters)),
        # Not its name, which would tell that a hidden model exists.
        "is_model_missing": bool(version.model and not model_of(version, offered)),
        "documents": Attachment.objects.of_version(version.pk),
    }
