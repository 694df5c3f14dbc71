"""The template contexts of the chat page and of its messages alone."""

import uuid
from collections.abc import Collection
from datetime import tzinfo
from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from chat.accounts.timezones import timezone_of
from chat.catalog.catalog import writer_name
from chat.conversations.tools.mcp import servers
from chat.conversations.tools.registry import offered
from chat.conversations.turns import versions
from chat.conversations.turns.planner import first_tools
from chat.models import AssistantVersion, Conversation, Message, Preferences, User
from chat.models.conversation import ConversationState
from chat.models.message import BY_HAND
from chat.sharing import links
from chat.upstream.catalog import Catalog, LlmModel
from chat.upstream.doors import for_pictures

from . import model_picker
from .conversations import runs, start_page, thread
from .conversations.conversations import NEXT, context_start
from .conversations.sidebar import Listing
from .conversations.thread import Thread
from .files import attachment_parts
from .requests import access, parameter_form

MESSAGES_TO_LEARN_KEYS = 5


def thread_context(
    request: HttpRequest,
    catalog: Catalog,
    page: Thread,
    conversation: Conversation | None,
    state: ConversationState | None,
    wanted_model: str,
) -> dict[str, Any]:
    """Return the context of `chat/_thread.html`: the messages and what stands around them.

    `wanted_model`: the one that the conversation names. `time_zone`: of the times; UTC if none is known.
    `context_ends`: the context of the next reply starts after the last message.
    """
    zone, model = timezone_of(request), catalog.resolve_or_default(wanted_model)
    start = _context_start(conversation, state, model) if conversation and state else None
    _complete_items(page, catalog, model, conversation, start, zone)
    retired = catalog.retired(wanted_model)
    return {
        "conversation": conversation,
        "thread": page.items,
        "older": page.older,
        "time_zone": zone,
        "state": state,
        "models": list(catalog),
        "retired": retired if conversation and "before" not in request.GET else None,
        "successor": catalog.successor(retired).name if retired else "",
        "context_ends": start == NEXT and "before" not in request.GET,
    }


def page_context(
    request: HttpRequest,
    catalog: Catalog,
    page: Thread,
    thread: dict[str, Any],
    listing: Listing,
    wanted_model: str,
    added: dict[str, Any],
    assistant: AssistantVersion | None = None,
) -> dict[str, Any]:
    """Return the context of `chat/page.html`: also the sidebar, the message box and the controls.

    `added`: the keys that single requests add. `assistant`: with which a new conversation begins.
    """
    user, conversation = access.get_user(request), thread["conversation"]
    model = catalog.resolve_or_default(wanted_model)
    if conversation:
        beginning = start_page.of_conversation(conversation) | {
            "refresh": _refresh(request, conversation, page) if page.live_run else "",
            "removed": _just_removed(request, conversation),
        }
    else:
        beginning = start_page.context(request, user, catalog, listing)
        beginning |= start_page.of_start(user, assistant, catalog) | {"deleted": _just_deleted(request, user)}
    chosen = conversation.parameters if conversation else assistant.parameters if assistant else {}
    return {
        **thread,
        **beginning,
        **_choice_of_model(catalog, model),
        "listing": listing,
        "is_thinking": chosen.get(parameter_form.THINKING, True),
        "tools": _tool_switches(conversation.tools if conversation else first_tools(user, assistant), user),
        "controls": parameter_form.controls(model, chosen),
        "form_key": uuid.uuid4(),
        "temporary": (
            conversation.temporary if conversation else "temporary" in (request.GET or request.POST)
        ),
        "keys_left": _keys_left(listing, page),
        "gateway": bool(settings.AI_GATEWAY_ID),
        "sharing": links.is_on(),
        "accepted_files": _accepted_files(catalog),
        **added,
    }


def _tool_switches(chosen: Collection[str], user: User) -> list[dict[str, object]]:
    """Return the switches of the message box for the tools that this site offers, on for those `chosen`."""
    texts = {
        "web_search": (_("Web"), _("Replies can search the web and read pages")),
        "search_my_chats": ("", _("Replies can search my other chats")),
    }
    for server in servers.offered_to(user):
        texts[server.switch] = ("", _("Replies can use %(server)s") % {"server": server.label})
    shown = [(name, *texts.get(name, (name, ""))) for name in offered(user)]
    return [
        {"name": name, "label": label, "help": words, "on": name in chosen} for name, label, words in shown
    ]


def _choice_of_model(catalog: Catalog, model: LlmModel) -> dict[str, Any]:
    """Return the context of the menu of models, and what depends on the chosen one."""
    doors = model_picker.named_doors(catalog)
    return {
        "current_model": model.id,
        "doors": doors,
        "model_label": model_picker.label_of(model, doors),
        "model_groups": model_picker.by_maker_beside(doors, catalog),
        "thinkers": [each.id for each in catalog if parameter_form.can_switch_thinking(each)],
        "for_pictures": None if model.vision else for_pictures(catalog),
    }


def _keys_left(listing: Listing, page: Thread) -> int:
    """Return after how many messages the line below the box need not name the keys any more."""
    listed = sum(len(group["items"]) for group in listing.groups)
    return max(0, MESSAGES_TO_LEARN_KEYS - listed - len(page.items) // 2)


def _accepted_files(catalog: Catalog) -> str:
    if not settings.ATTACHMENTS:
        return ""
    return attachment_parts.accepted(pictures=any(model.vision for model in catalog))


def first_model(user: User) -> str:
    """Return the person's choice for new conversations; "", or a name of no model, is the site's default."""
    preferences = Preferences.of(user)
    return preferences.model if preferences else ""


def _complete_items(
    page: Thread,
    catalog: Catalog,
    model: LlmModel,
    conversation: Conversation | None,
    start: str | None,
    zone: tzinfo,
) -> None:
    """Add to each message's context the keys that depend on the models. `model` would answer next."""
    thread.add_times(page.items, zone, timezone.now())
    before = page.model_above
    for item in page.items:
        item["model_name"] = writer_name(catalog, item["model"])
        item["by_hand"] = item["model"] == BY_HAND
        if item["role"] == Message.Role.ASSISTANT:
            item["names_model"] = before not in ("", item["model"])
            before = item["model"]
        item["starts_context"] = not item["is_first"] and str(item["id"]) == start
        runs.add_suggestions(item, catalog, model, conversation.parameters if conversation else {}, zone)


def _context_start(conversation: Conversation, state: ConversationState, model: LlmModel) -> str | None:
    """Return where the context of `model` starts, as `context_start` does.

    Take it from the last run, unless another model would answer now.
    """
    if state.model in ("", model.id):
        return str(state.context_start) if state.context_start else None
    return context_start(conversation, model)


def _refresh(request: HttpRequest, conversation: Conversation, page: Thread) -> str:
    """Return the URL that a page without scripts reloads itself from.

    The first time it has the reply's fragment, to scroll there; later none, to keep the scroll position.
    `?live` is needed, because a URL that differs from the page's own only in its fragment loads nothing.
    """
    address = f"{reverse('chat:conversation', args=[conversation.pk])}?live"
    return address if "live" in request.GET else f"{address}#m-{page.items[-1]['id']}"


def _just_deleted(request: HttpRequest, user: User) -> Conversation | None:
    """Return the conversation whose deletion can be undone: a delete form redirects to `?deleted=<id>`."""
    key = _key(request, "deleted")
    return Conversation.objects.filter(user=user, pk=key).recoverable().first() if key else None


def _just_removed(request: HttpRequest, conversation: Conversation) -> Message | None:
    """Return the message whose deletion can be undone: its form redirects to `?removed=<id>`."""
    key = _key(request, "removed")
    return versions.recoverable(conversation, key) if key else None


def _key(request: HttpRequest, name: str) -> uuid.UUID | None:
    try:
        return uuid.UUID(request.GET.get(name, ""))
    except ValueError:
        return None
