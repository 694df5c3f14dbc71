"""Shared branches: the pages of one's links, the public page of a link, and the copy to continue in."""

import uuid
from collections.abc import Hashable, Iterable
from datetime import datetime
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.text import Truncator
from django.utils.translation import gettext as _
from django.utils.translation import pgettext
from django.views.decorators.debug import sensitive_variables

from chat.accounts.proxies import client_address
from chat.accounts.timezones import timezone_of
from chat.catalog import catalog
from chat.db.executor import run_in_db
from chat.db.fair_executor import RENDER_POOL
from chat.exceptions import Conflict, ConversationBusy, NotFound
from chat.models import Attachment, Message, SharedLink, Step, User
from chat.models.message import MAX_BRANCH_DEPTH
from chat.rendering.plain_text import plain
from chat.sharing import links, snapshot
from chat.sharing.snapshot import copy
from chat.upstream.catalog import UnknownModel

from .files import document_text
from .files.attachments import respond
from .page_context import first_model
from .pages import require_room
from .requests import access, request_fields, request_parsers
from .requests.request_fields import is_form, is_part, query_number, wants_json
from .requests.responses import HttpResponseSeeOther, to_conversation
from .settings.settings_shell import render_section

EXCERPT_CHARS = 200
SHARED_PAGE_HEADERS = {
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Robots-Tag": "noindex, nofollow, noarchive",
    # Stricter than the other pages' policy, because this page has no script, no form and no frame.
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; img-src 'self'; font-src 'self'; "
    "form-action 'none'; base-uri 'none'; frame-ancestors 'none'",
}
MAX_WAITING_SHARED_PAGES = 10  # per address; each holds up to a megabyte of text


@access.require_methods("GET", "HEAD", "POST", page=True)
def share(request: HttpRequest, message: uuid.UUID) -> HttpResponse:
    """Preview what a link to the branch up to this message would share; a POST creates the link.

    For the page's own script, return the dialog as HTML.
    """
    user = _user(request)
    own_message = access.get_message_or_404(request, message)
    try:
        if request.method != "POST":
            links.check(own_message)
            if is_part(request):
                return _dialog(request, own_message)
            return render_section(request, "shared", "sharing/share.html", _preview(own_message))
        sent = request_fields.parse(request, "days", "name", "steps", "title")
        days = request_fields.parse_choice(sent, "days", links.lifetimes(), links.DEFAULT_LINK_DAYS)
        title = request_parsers.title_field(sent)
        shows = {f"shows_{each}": request_fields.parse_switch(request, sent, each) for each in links.SHOWN}
        link, token = links.create(user, own_message.pk, days, **shows, title=title)
    except (Conflict, ConversationBusy) as refusal:
        if wants_json(request):
            raise
        context = {"message": own_message, "refusal": refusal.message}
        return render_section(request, "shared", "sharing/share.html", context, refusal.status)
    if is_form(request):
        return HttpResponseSeeOther(f"{reverse('chat:shared_links')}?new={link.pk}")
    payload = {"id": str(link.pk), "url": _url(token), "expires": link.expires}
    return JsonResponse(payload, status=201, headers={"Cache-Control": "no-store"})


@access.require_methods("GET", "HEAD", page=True)
def share_conversation(request: HttpRequest, conversation: uuid.UUID) -> HttpResponse:
    """Redirect to the sharing page of the active branch's last message; a script gets its dialog.

    The menu of a conversation cannot link there directly: the last message changes while the page is open.
    """
    _user(request)
    own_conversation = access.get_conversation_or_404(request, conversation)
    if own_conversation.active_leaf_id is None:
        raise NotFound(_("This chat has no messages to share."))
    if not is_part(request):
        return redirect("chat:share", own_conversation.active_leaf_id)
    message = access.get_message_or_404(request, own_conversation.active_leaf_id)
    links.check(message)
    return _dialog(request, message)


def _dialog(request: HttpRequest, message: Message) -> HttpResponse:
    shared = links.of_conversation(access.get_user(request), message.conversation_id)
    response = render(request, "sharing/dialog.html", _preview(message) | {"links": _shown(request, shared)})
    response["Cache-Control"] = "no-store"
    return response


@access.require_methods("GET", "HEAD", page=True)
def shared_links(request: HttpRequest) -> HttpResponse:
    """List the person's links. `new` names the one that was just created."""
    user = _user(request)
    shared = SharedLink.objects.owned_by(user).select_related("leaf").order_by("-created")
    context = {"links": _shown(request, shared), "new": request.GET.get("new", "")}
    response = render_section(request, "shared", "sharing/links.html", context)
    response["Cache-Control"] = "no-store"
    return response


def _shown(request: HttpRequest, shared: Iterable[SharedLink]) -> list[dict[str, Any]]:
    """Return the links with their addresses and dates for people; "" as the address of one that is over."""
    zone = timezone_of(request)

    def day(at: datetime) -> str:
        local, this_year = at.astimezone(zone), timezone.now().astimezone(zone).year
        # Translators: the formats of the dates of a shared link, for Django's template filter "date".
        with_year = pgettext("date of a shared link", "j M Y")
        return date_format(
            local, pgettext("date of a shared link", "j M") if local.year == this_year else with_year
        )

    return [
        {
            "link": link,
            "url": "" if over or not link.token else _url(link.token),
            "created": day(link.created),
            "expires": day(link.expires) if link.expires else "",
            "over": over,
        }
        for link, over in ((each, _is_over(each)) for each in shared)
    ]


def _is_over(link: SharedLink) -> bool:
    return link.has_expired or (link.expires is None and settings.SHARING != "permanent")


@access.require_methods("POST")
def revoke(request: HttpRequest, link: uuid.UUID) -> HttpResponse:
    """Delete a link. Its page answers 404 from then on."""
    user = _user(request)
    request_parsers.no_fields(request)
    links.revoke(user, link)
    if is_form(request):
        return HttpResponseSeeOther(reverse("chat:shared_links"))
    return JsonResponse({"id": str(link), "revoked": True})


def _user(request: HttpRequest) -> User:
    """Return the signed-in user. Raises NotAuthenticated, and NotFound if sharing is off."""
    user = access.get_user(request)
    if not links.is_on():
        raise NotFound(_("Sharing is turned off on this site."))
    return user


def _preview(message: Message) -> dict[str, Any]:
    keys = [node.id for node in Message.objects.ancestors(message.pk, MAX_BRANCH_DEPTH)]
    first = Message.objects.get(pk=keys[-1])
    return {
        "message": message,
        "title": links.title_of(message),
        "first": _excerpt(first),
        "last": _excerpt(message),
        "total": len(keys),
        "has_steps": Step.objects.filter(message__conversation=message.conversation_id).exists(),
        "lifetimes": links.lifetimes(),
        "lifetime": links.DEFAULT_LINK_DAYS,
    }


def _excerpt(message: Message) -> str:
    """Return the beginning of a message, of a reply without the marks of Markdown."""
    text = message.text[: 4 * EXCERPT_CHARS]
    return Truncator(plain(text) if message.role == Message.Role.ASSISTANT else text).chars(EXCERPT_CHARS)


def _url(token: str) -> str:
    return f"{settings.SITE_URL}{reverse('chat:shared', args=[token])}"


@access.require_methods("GET", "HEAD")
async def shared(request: HttpRequest, token: str) -> HttpResponseBase:
    """Show the shared messages. The session is not read, so the response is the same for everybody."""
    visitor: Hashable = ("shared", client_address(request))
    page = await run_in_db(_read, token, _number(request), visitor)
    await snapshot.render(page, visitor)
    return await RENDER_POOL.run(visitor, _shared_page, request, token, page)


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


def _shared_page(request: HttpRequest, token: str, page: snapshot.SharedPage) -> HttpResponse:
    for message in page.messages:
        message["model_name"] = catalog.writer_name(catalog.current.get(), message["model"])
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
        return models.resolve_or_default(first_model(user)).id
