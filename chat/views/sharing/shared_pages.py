"""The public page of a shared link, and the copy in which a signed-in user can continue."""

import uuid
from collections.abc import Hashable

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_variables

from chat.accounts.backends import client_address
from chat.catalog import catalog
from chat.db.executor import run_in_db
from chat.db.fair_executor import RENDER_POOL
from chat.exceptions import NotFound
from chat.models import Attachment, SharedLink, User
from chat.sharing import snapshot
from chat.sharing.copies import copy
from chat.upstream.catalog import UnknownModel

from ..conversations.chat_page import require_room
from ..files import document_text
from ..files.attachment_files import respond
from ..page_context import first_model
from ..requests import access, request_parsers
from ..requests.errors import is_form
from ..requests.request_fields import query_number
from ..requests.responses import to_conversation

SHARED_PAGE_HEADERS = {
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Robots-Tag": "noindex, nofollow, noarchive",
    # Stricter than the other pages' policy, because this page has no script, no form and no frame.
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; img-src 'self'; font-src 'self'; "
    "form-action 'none'; base-uri 'none'; frame-ancestors 'none'",
}
MAX_WAITING_SHARED_PAGES = 10  # per address; each holds up to a megabyte of text


@access.require_methods("GET", "HEAD")
async def shared(request: HttpRequest, token: str) -> HttpResponseBase:
    """Show the shared messages. The session is not read, so the response is the same for everybody."""
    visitor: Hashable = ("shared", client_address(request))
    page = await run_in_db(_read, token, _number(request), visitor)
    await snapshot.render(page, visitor)
    return await RENDER_POOL.run(visitor, _page, request, token, page)


@access.require_methods("GET", "HEAD")
async def shared_picture(request: HttpRequest, token: str, attachment: uuid.UUID) -> HttpResponseBase:
    """Send a picture of the shared messages. The session is not read.

    Of a document only the text is shared: its file can hold more, such as its author's name.
    """
    visitor: Hashable = ("shared", client_address(request))
    found = await run_in_db(_shared_attachment, token, attachment, visitor)
    if not found.is_picture:
        raise _gone()
    found.name = ""  # the name of the file is not shared
    return _unlisted(await respond(request, found, visitor))


@access.require_methods("GET", "HEAD", page=True)
async def shared_document(request: HttpRequest, token: str, document: uuid.UUID) -> HttpResponseBase:
    """Show the text of a document of the shared messages. The session is not read."""
    visitor: Hashable = ("shared", client_address(request))
    found = await run_in_db(_shared_attachment, token, document, visitor)
    part = await run_in_db(document_text.read_part, request, found)
    return _unlisted(await document_text.respond(request, part, "", visitor))


def _unlisted(response: HttpResponseBase) -> HttpResponseBase:
    for name in ("Cache-Control", "Referrer-Policy", "X-Robots-Tag"):
        response[name] = SHARED_PAGE_HEADERS[name]
    return response


@sensitive_variables("token")
def _shared_attachment(token: str, attachment: uuid.UUID, visitor: Hashable) -> Attachment:
    link = _link(token)
    require_room(visitor, MAX_WAITING_SHARED_PAGES)
    found = snapshot.shared_attachment(link, attachment)
    if found is None:
        raise _gone()
    return found


@access.require_methods("GET", "HEAD", "POST", page=True)
def continue_shared(request: HttpRequest, token: str) -> HttpResponse:
    """Ask for a confirmation; a POST copies the shared messages into a conversation of the user."""
    user = access.get_user(request)
    link = _link(token)
    if request.method != "POST":
        response = render(request, "sharing/continue.html", {"link": link, "token": token})
        response["X-Robots-Tag"] = SHARED_PAGE_HEADERS["X-Robots-Tag"]
        return response
    request_parsers.no_fields(request)
    copied = copy(user, token, _model(request, user, link))
    if is_form(request):
        return to_conversation(copied.pk)
    return JsonResponse({"conversation": str(copied.pk), "message": str(copied.active_leaf_id)}, status=201)


def _number(request: HttpRequest) -> int:
    """Return the page number. Raises the same NotFound as for a link that does not exist."""
    number = query_number(request, "page", 1)
    if number is None:
        raise _gone()
    return number


@sensitive_variables("token")
def _read(token: str, number: int, visitor: Hashable) -> snapshot.SharedPage:
    link = _link(token)
    require_room(visitor, MAX_WAITING_SHARED_PAGES)
    page = snapshot.read_page(link, number)
    if page is None:
        raise _gone()
    return page


@sensitive_variables("token")
def _link(token: str) -> SharedLink:
    link = SharedLink.objects.by_token(token)
    if link is None:
        raise _gone()
    return link


def _gone() -> NotFound:
    return NotFound(_("This link doesn’t exist or has expired."))


def _page(request: HttpRequest, token: str, page: snapshot.SharedPage) -> HttpResponse:
    name_of = catalog.current.get().name_of
    for message in page.messages:
        message["model_name"] = name_of(message["model"])
    context = {"token": token, "snapshot": page, "link": page.link}
    response = render(request, "sharing/shared.html", context)
    for name, value in SHARED_PAGE_HEADERS.items():
        response[name] = value
    return response


def _model(request: HttpRequest, user: User, link: SharedLink) -> str:
    """Return the shared conversation's model if the user may use it, else the user's model for new chats."""
    models = access.get_models(request)
    try:
        return models.resolve(link.leaf.conversation.model).id
    except UnknownModel:
        return models.resolve_or_default(first_model(user, None)).id
