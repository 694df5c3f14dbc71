"""Changes to several conversations at once, from a form in a list or as JSON from a page's script.

Also the tags of one conversation: a page, and for scripts the inside of a dialog.
"""

import uuid
from collections.abc import Collection
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from chat.conversations import changes
from chat.conversations.changes import ACTIONS, MAX_CHANGED_CONVERSATIONS, TAGGING, Changed, change
from chat.conversations.tags import MAX_TAGS_PER_CONVERSATION, tag_names, tags_of
from chat.db.executor import run_in_db
from chat.engine.engine import get_engine
from chat.exceptions import BadRequest, PayloadTooLarge
from chat.limits import MAX_TAG_CHARS

from ..requests import access, request_fields
from ..requests.request_fields import is_form, is_part
from ..requests.responses import HttpResponseSeeOther, set_cookie, to_conversation

ROUTE_OF_PAGE = {"list": "chat:list", "archive": "chat:archive", "trash": "chat:trash"}  # a form's `page`
PLACE_PARAMETERS = ("tag", "before")  # of a list's query: which of its pages is shown
UNDO = "undo"  # the action, and the cookie with its token
MAX_COOKIE_BYTES = 4_000  # browsers reject longer cookies
MAX_UNDO_TOKEN_CHARS = 20_000
REPORTED_ACTIONS = (*ACTIONS, UNDO)


async def change_several(request: HttpRequest) -> HttpResponseBase:
    """Pin, archive, tag, delete or restore the conversations in the request, or undo such a change.

    Runs of deleted conversations are stopped. A form redirects to the list that its field `page` names, or
    else to the conversation.
    """
    changed, sent, token = await run_in_db(_change, request)
    for run in changed.runs:
        (await get_engine()).stop(run)
    keys = [str(key) for key in changed.conversations]
    if not is_form(request):
        message = sentence(sent["action"], len(keys))
        payload = {"action": sent["action"], "conversations": keys, "message": message, "undo": token}
        return JsonResponse(payload)
    if "page" in sent:
        return _to_list(request, sent["page"], sent["action"], len(keys), token)
    return _after_form(sent["action"], changed.conversations)


def _after_form(action: str, keys: list[uuid.UUID]) -> HttpResponseSeeOther:
    if action in ("delete", "purge"):
        return HttpResponseSeeOther(reverse("chat:trash"))
    if action in TAGGING:
        return HttpResponseSeeOther(reverse("chat:tags", args=[keys[0]]))
    return to_conversation(keys[0])


def _to_list(request: HttpRequest, page: str, action: str, number: int, token: str) -> HttpResponseSeeOther:
    """Redirect to the list, which reports the change and offers to undo it.

    The form was sent to the address of the list with the query of its page, which is shown again.
    """
    query = {name: request.GET[name] for name in PLACE_PARAMETERS if name in request.GET}
    query |= {"done": action, "number": str(number)}
    offered = bool(token) and len(token) <= MAX_COOKIE_BYTES
    if offered:
        query[UNDO] = _mark(token)
    response = HttpResponseSeeOther(f"{reverse(ROUTE_OF_PAGE[page])}?{urlencode(query)}")
    if action == UNDO:  # the page before, to which Back leads, offers it no longer
        response.delete_cookie(UNDO, path=reverse("chat:list"), samesite="Strict")
    if not offered:
        return response
    set_cookie(response, UNDO, token, changes.TOKEN_SECONDS, path=reverse("chat:list"), samesite="Strict")
    return response


def offered_undo(request: HttpRequest) -> str:
    """Return the token that undoes the change in the URL's query; "" if it cannot be undone."""
    token = request.COOKIES.get(UNDO, "")
    return token if token and request.GET.get(UNDO) == _mark(token) else ""


def _mark(token: str) -> str:
    """Return the end of the token, which identifies it in a URL without revealing it."""
    return token[-8:]


def sentence(action: str, number: int) -> str:
    sentences = {
        "pin": ngettext("%(number)s chat pinned.", "%(number)s chats pinned.", number),
        "unpin": ngettext("%(number)s chat unpinned.", "%(number)s chats unpinned.", number),
        "archive": ngettext("%(number)s chat archived.", "%(number)s chats archived.", number),
        "unarchive": ngettext(
            "%(number)s chat moved back to the list.",
            "%(number)s chats moved back to the list.",
            number,
        ),
        "delete": ngettext(
            "%(number)s chat moved to the trash.",
            "%(number)s chats moved to the trash.",
            number,
        ),
        "restore": ngettext("%(number)s chat restored.", "%(number)s chats restored.", number),
        "purge": ngettext("%(number)s chat deleted.", "%(number)s chats deleted.", number),
        "tag": ngettext("%(number)s chat tagged.", "%(number)s chats tagged.", number),
        "untag": ngettext("Tag removed from %(number)s chat.", "Tag removed from %(number)s chats.", number),
        "undo": ngettext("Undone for %(number)s chat.", "Undone for %(number)s chats.", number),
    }
    return sentences[action] % {"number": number}


def _change(request: HttpRequest) -> tuple[Changed, dict[str, Any], str]:
    """Return (the change, the request's fields, the token that undoes the change)."""
    user = access.get_user(request)
    sent = request_fields.parse(request, "action", "conversations", "tag", "page", UNDO)
    action = _one_of(sent, "action", REPORTED_ACTIONS)
    if "page" in sent:
        _one_of(sent, "page", ROUTE_OF_PAGE)
    if action == UNDO:
        token = request_fields.parse_text(sent, UNDO, MAX_UNDO_TOKEN_CHARS, required=True) or ""
        return changes.undo(user, token), sent, ""
    tag = _tag(sent) if action in TAGGING else ""
    changed = change(user, action, chosen_conversations(request, sent), tag)
    return changed, sent, changes.token(user, action, changed, tag)


def _one_of(sent: dict[str, Any], name: str, allowed: Collection[str]) -> str:
    value = sent.get(name)
    if not isinstance(value, str) or value not in allowed:
        words = _("“%(name)s” must be one of: %(names)s.")
        raise BadRequest(words % {"name": name, "names": ", ".join(allowed)})
    return value


def chosen_conversations(request: HttpRequest, sent: dict[str, Any]) -> list[uuid.UUID]:
    """Return the ids of the chosen conversations: a form has one field for each, JSON has a list."""
    values = request.POST.getlist("conversations") if is_form(request) else sent.get("conversations")
    if not isinstance(values, list) or not values:
        raise BadRequest(_("Choose at least one chat."))
    if len(values) > MAX_CHANGED_CONVERSATIONS:
        raise PayloadTooLarge(_("Choose at most %(most)s chats.") % {"most": MAX_CHANGED_CONVERSATIONS})
    keys = [request_fields.parse_uuid({"conversations": value}, "conversations") for value in values]
    return [key for key in keys if key]


def _tag(sent: dict[str, Any]) -> str:
    """Return the name of the tag, with its white space collapsed to one line."""
    name = request_fields.parse_text(sent, "tag", MAX_TAG_CHARS, required=True) or ""
    return " ".join(name.split())


@access.require_methods("GET", "HEAD")
def tags(request: HttpRequest, conversation: uuid.UUID) -> HttpResponse:
    """Show the tags of a conversation, with a form for another one and the person's other tags."""
    own_conversation = access.get_conversation_or_404(request, conversation)
    has = tags_of([own_conversation.pk]).get(own_conversation.pk, [])
    context = {
        "conversation": own_conversation,
        "has": has,
        "others": [name for name in tag_names(access.get_user(request)) if name not in has],
        "longest_tag": MAX_TAG_CHARS,
        "most": MAX_TAGS_PER_CONVERSATION,
        "full": len(has) >= MAX_TAGS_PER_CONVERSATION,
    }
    template = "chat/_tags.html" if is_part(request) else "chat/tags.html"
    return render(request, template, context)
