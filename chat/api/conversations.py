"""The conversations of a key's user, for programs that back them up. The key needs the right to export."""

import uuid
from functools import partial
from typing import Any

from django.db.models import Q
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils import timezone
from django.utils.translation import gettext as _

from chat.accounts.timezones import UTC
from chat.catalog import catalog
from chat.db.executor import run_in_db, write_lock
from chat.exceptions import BadRequest, NotFound
from chat.models import ApiKey, Conversation
from chat.transfer.archive import archive_pieces, exported
from chat.transfer.download import Download, read_pieces
from chat.transfer.json_export import json_pieces
from chat.transfer.records import written

from .auth import authenticate
from .errors import PermissionDenied, openai_error
from .responses import api_view, json_response

DEFAULT_LIMIT, MAX_LIMIT = 20, 100  # conversations per page, as OpenAI's lists have them


@api_view(openai_error, "GET", "HEAD")
async def listing(request: HttpRequest) -> HttpResponseBase:
    """List the conversations, the latest first: `limit` of them, those after the one with the id `after`."""
    return json_response(await run_in_db(_page, request))


@api_view(openai_error, "GET", "HEAD")
async def one(request: HttpRequest, conversation: uuid.UUID) -> HttpResponseBase:
    """Return one conversation in the JSON format of an export."""
    key, found = await run_in_db(_conversation, request, conversation)
    pieces = read_pieces(json_pieces(found), partial(_is_valid, key.pk))
    return Download(request, key.user_id, pieces, f"{conversation}.json", "application/json")


@api_view(openai_error, "GET", "HEAD")
async def everything(request: HttpRequest) -> HttpResponseBase:
    """Return all conversations as a zip archive."""
    key = await run_in_db(_authorise, request)
    texts = archive_pieces(key.user, UTC, catalog.current.get().name_of)
    pieces = read_pieces(texts, partial(_is_valid, key.pk))
    return Download(request, key.user_id, pieces, f"chat-{timezone.now():%Y-%m-%d}.zip", "application/zip")


def _authorise(request: HttpRequest) -> ApiKey:
    """Return the key. Raises InvalidApiKey and PermissionDenied."""
    key = authenticate(request)
    if not key.may_export:
        raise PermissionDenied(_("This API key isn’t allowed to export chats."))
    with write_lock():
        key.mark_used()
    return key


def _conversation(request: HttpRequest, conversation: uuid.UUID) -> tuple[ApiKey, Conversation]:
    key = _authorise(request)
    found = exported(key.user).prefetch_related("tags").filter(pk=conversation).first()
    if found is None:
        raise NotFound(_("This chat doesn’t exist."))
    return key, found


def _is_valid(key: uuid.UUID) -> bool:
    return ApiKey.objects.valid().filter(pk=key).exists()


def _page(request: HttpRequest) -> dict[str, Any]:
    key, limit = _authorise(request), _limit(request)
    found = exported(key.user).order_by("-updated", "-pk")
    if (after := request.GET.get("after")) is not None:
        last = _after(key, after)
        found = found.filter(Q(updated__lt=last.updated) | Q(updated=last.updated, pk__lt=last.pk))
    rows = list(found[: limit + 1])
    data = [_row(each) for each in rows[:limit]]
    return {
        "object": "list",
        "data": data,
        "first_id": data[0]["id"] if data else None,
        "last_id": data[-1]["id"] if data else None,
        "has_more": len(rows) > limit,
    }


def _limit(request: HttpRequest) -> int:
    sent = request.GET.get("limit", str(DEFAULT_LIMIT))
    if not (sent.isascii() and sent.isdigit() and len(sent) < 5 and 1 <= int(sent) <= MAX_LIMIT):
        words = _("“%(name)s” must be a whole number between %(least)s and %(most)s.")
        raise BadRequest(words % {"name": "limit", "least": 1, "most": MAX_LIMIT})
    return int(sent)


def _after(key: ApiKey, after: str) -> Conversation:
    try:
        found = exported(key.user).filter(pk=uuid.UUID(after)).first()
    except ValueError as error:
        raise BadRequest(_("“%(name)s” must be a UUID.") % {"name": "after"}) from error
    if found is None:
        raise NotFound(_("“%(name)s” doesn’t match anything here.") % {"name": "after"})
    return found


def _row(conversation: Conversation) -> dict[str, Any]:
    return {
        "id": str(conversation.pk),
        "object": "conversation",
        "title": conversation.title,
        "model": conversation.model,
        "created": written(conversation.created),
        "updated": written(conversation.updated),
    }
