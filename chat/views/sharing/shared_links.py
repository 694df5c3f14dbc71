"""The pages for sharing a branch, and for listing and revoking one's shared links."""

import uuid
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _

from chat.exceptions import Conflict, ConversationBusy, NotFound
from chat.models import Message, SharedLink, User
from chat.models.digest import digest_of
from chat.models.message import MAX_BRANCH_DEPTH
from chat.sharing import links

from ..requests import access, request_fields, request_parsers
from ..requests.errors import is_form, wants_json
from ..requests.responses import HttpResponseSeeOther
from ..settings.settings_shell import render_section
from .shown_once import ShownOnce

NEW_LINK = ShownOnce("new-link", "chat:shared_links")


@access.require_methods("GET", "HEAD", "POST", page=True)
def share(request: HttpRequest, message: uuid.UUID) -> HttpResponse:
    """Preview what a link to the branch up to this message would share; a POST creates the link."""
    user = _user(request)
    own_message = access.get_message_or_404(request, message)
    try:
        if request.method != "POST":
            links.check(own_message)
            return render_section(request, "shared", "sharing/share.html", _preview(own_message))
        sent = request_fields.parse(request, "days", "name", "title")
        days = request_fields.parse_choice(sent, "days", links.lifetimes(), links.DEFAULT_LINK_DAYS)
        title = request_parsers.title_field(sent)
        shows_name = request_fields.parse_switch(request, sent, "name")
        link, token = links.create(user, own_message.pk, days, shows_name=shows_name, title=title)
    except (Conflict, ConversationBusy) as refusal:
        if wants_json(request):
            raise
        context = {"message": own_message, "refusal": refusal.message}
        return render_section(request, "shared", "sharing/share.html", context, refusal.status)
    if is_form(request):
        return NEW_LINK.redirect_with(token)
    payload = {"id": str(link.pk), "url": _url(token), "expires": link.expires}
    return JsonResponse(payload, status=201, headers={"Cache-Control": "no-store"})


@access.require_methods("GET", "HEAD", page=True)
def share_conversation(request: HttpRequest, conversation: uuid.UUID) -> HttpResponse:
    """Redirect to the sharing page of the active branch's last message.

    The menu of a conversation cannot link there directly: the last message changes while the page is open.
    """
    _user(request)
    own_conversation = access.get_conversation_or_404(request, conversation)
    if own_conversation.active_leaf_id is None:
        raise NotFound(_("This conversation has no messages to share."))
    return redirect("chat:share", own_conversation.active_leaf_id)


@access.require_methods("GET", "HEAD", page=True)
def shared_links(request: HttpRequest) -> HttpResponse:
    """List the person's links. The URL of a link that was just created is shown this once."""
    user = _user(request)
    shared = SharedLink.objects.owned_by(user).select_related("leaf").order_by("-created")
    context: dict[str, Any] = {"links": shared, "permanent": settings.SHARING == "permanent"}
    token = NEW_LINK.read(request)
    if token and shared.filter(digest=digest_of(token)).exists():
        context["url"] = _url(token)
    response = render_section(request, "shared", "sharing/links.html", context)
    NEW_LINK.forget(request, response)
    response["Cache-Control"] = "no-store"
    return response


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
        "first": first,
        "total": len(keys),
        "lifetimes": links.lifetimes(),
        "lifetime": links.DEFAULT_LINK_DAYS,
    }


def _url(token: str) -> str:
    return f"{settings.SITE_URL}{reverse('chat:shared', args=[token])}"
