"""Downloads of one's own conversations: one of them, or all as an archive."""

import uuid
from collections.abc import Callable
from datetime import tzinfo
from functools import partial
from typing import NamedTuple

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils import timezone
from django.utils.translation import gettext as _

from chat.accounts.timezones import timezone_of
from chat.catalog import catalog
from chat.db.executor import run_in_db
from chat.exceptions import BadRequest, NotFound
from chat.models import Conversation, User
from chat.transfer.archive import archive_pieces, exported, file_stem
from chat.transfer.download import Download, Pieces, read_pieces, while_allowed
from chat.transfer.html_export import html_pieces
from chat.transfer.json_export import json_pieces
from chat.transfer.markdown_export import NameOf, markdown_pieces

from ..requests import access, request_fields
from .conversation_changes import chosen_conversations

# The ending of the file's name and its content type, by the value of `format`.
EXPORT_FORMATS = {
    "markdown": ("md", "text/markdown; charset=utf-8"),
    "json": ("json", "application/json"),
    "html": ("html", "text/html; charset=utf-8"),
}


class _Export(NamedTuple):
    user: User
    zone: tzinfo
    name_of: NameOf
    is_allowed: Callable[[], bool]


@access.require_methods("GET", "HEAD", page=True)
async def conversation(request: HttpRequest, conversation: uuid.UUID) -> HttpResponseBase:
    """Download one conversation, in one of EXPORT_FORMATS."""
    export, own_conversation = await run_in_db(_conversation, request, conversation)
    kind = request.GET.get("format", "")
    if kind not in EXPORT_FORMATS:
        words = _("“%(name)s” must be one of: %(names)s.")
        raise BadRequest(words % {"name": "format", "names": ", ".join(EXPORT_FORMATS)})
    ending, content_type = EXPORT_FORMATS[kind]
    pieces: Pieces
    if kind == "html":
        pieces = while_allowed(html_pieces(own_conversation, export.zone, export.name_of), export.is_allowed)
    elif kind == "json":
        pieces = read_pieces(json_pieces(own_conversation), export.is_allowed)
    else:
        texts = markdown_pieces(own_conversation, export.zone, export.name_of)
        pieces = read_pieces(texts, export.is_allowed)
    name = f"{file_stem(own_conversation.title) or 'conversation'}.{ending}"
    return Download(request, export.user.pk, pieces, name, content_type)


@access.require_methods("GET", "HEAD", page=True)
async def everything(request: HttpRequest) -> HttpResponseBase:
    """Download all of one's own conversations as a zip archive."""
    export = await run_in_db(_export, request)
    pieces = read_pieces(archive_pieces(export.user, export.zone, export.name_of), export.is_allowed)
    name = f"chat-{timezone.now():%Y-%m-%d}.zip"
    return Download(request, export.user.pk, pieces, name, "application/zip")


@access.require_methods("POST")
async def several(request: HttpRequest) -> HttpResponseBase:
    """Download the conversations that were chosen from a list as a zip archive."""
    export, keys = await run_in_db(_several, request)
    pieces = archive_pieces(export.user, export.zone, export.name_of, keys)
    name = f"chat-{timezone.now():%Y-%m-%d}.zip"
    return Download(request, export.user.pk, read_pieces(pieces, export.is_allowed), name, "application/zip")


def _several(request: HttpRequest) -> tuple[_Export, list[uuid.UUID]]:
    export = _export(request)
    keys = chosen_conversations(request, request_fields.parse(request, "conversations", "tag", "page"))
    present = list(exported(export.user).filter(pk__in=keys).values_list("pk", flat=True))
    if not present:
        raise NotFound(_("This chat doesn’t exist."))
    return export, present


def _conversation(request: HttpRequest, key: uuid.UUID) -> tuple[_Export, Conversation]:
    own_conversation = access.get_conversation_or_404(request, key)
    return _export(request), own_conversation


def _export(request: HttpRequest) -> _Export:
    user = access.get_user(request)
    has_access = partial(_is_signed_in, user.pk, user.password)
    return _Export(
        user, timezone_of(request), partial(catalog.writer_name, catalog.current.get()), has_access
    )


def _is_signed_in(user: int, password: str) -> bool:
    """Return False once the account is disabled, or has a new password, which ends all sessions."""
    return User.objects.filter(pk=user, password=password, is_active=True).exists()
