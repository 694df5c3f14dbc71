"""The section of the settings for the prompt library: list, create, edit, delete; end a publication."""

import uuid
from collections.abc import Callable
from typing import Any

from django.contrib.auth.models import Group
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.urls import reverse
from django.utils.translation import gettext as _

from chat.exceptions import BadRequest, NotAuthenticated, NotFound, RequestError
from chat.formats import grouped_number
from chat.library import publication
from chat.library.prompts import library
from chat.library.prompts.content import PromptContent, command_of
from chat.library.publication import Audience
from chat.limits import MAX_COMMAND_CHARS, MAX_PROMPT_CHARS, MAX_PROMPT_TITLE_CHARS
from chat.models import Prompt, User

from ..requests import access, request_fields, request_parsers
from ..requests.errors import is_form
from ..requests.responses import HttpResponseSeeOther
from ..settings.settings_shell import render_section
from . import publication_fields

AUDIENCES = ("nobody", "everybody", "groups")
SentPrompt = tuple[PromptContent, Audience | None]


@access.require_methods("GET", "HEAD", "POST", page=True)
def prompts(request: HttpRequest) -> HttpResponse:
    """List the prompts that the user may use; a POST creates one."""
    user = access.get_user(request)
    if request.method == "POST":
        return _save(request, user, None, lambda wanted: library.create(user, *wanted))
    found = list(library.listed(user).select_related("owner").prefetch_related("groups"))
    context = {
        "usable": {prompt.pk for prompt in found},
        "own": [prompt for prompt in found if prompt.owner_id == user.pk],
        "published": [prompt for prompt in found if prompt.owner_id != user.pk],
        "may_publish": publication.may_publish(user, Prompt),
        "saved": "saved" in request.GET,
    }
    if context["may_publish"]:
        context["published"] = library.published_by_others(user)
    return render_section(request, "prompts", "prompts/list.html", context)


@access.require_methods("GET", "HEAD", page=True)
def new(request: HttpRequest) -> HttpResponse:
    """Show an empty form."""
    return _form(request, access.get_user(request), None, {})


@access.require_methods("GET", "HEAD", "POST", page=True)
def one(request: HttpRequest, prompt: uuid.UUID) -> HttpResponse:
    """Show one of the user's own prompts in the form, or store what the form sent."""
    user = access.get_user(request)
    own = library.find_own(user, prompt)
    if request.method == "POST":
        return _save(request, user, own, lambda wanted: library.edit(user, prompt, *wanted))
    return _form(request, user, own, _stored(own))


@access.require_methods("POST")
def delete(request: HttpRequest, prompt: uuid.UUID) -> HttpResponse:
    """Delete one of the user's own prompts."""
    user = access.get_user(request)
    request_parsers.no_fields(request)
    library.delete(user, prompt)
    return _changed(request, {"id": str(prompt), "deleted": True})


@access.require_methods("POST")
def withdraw(request: HttpRequest, prompt: uuid.UUID) -> HttpResponse:
    """End the publication of anybody's prompt, as a person who may publish prompts."""
    user = access.get_user(request)
    request_parsers.no_fields(request)
    library.withdraw(user, prompt)
    return _changed(request, {"id": str(prompt), "published": False})


def _changed(request: HttpRequest, payload: dict[str, Any], status: int = 200) -> HttpResponse:
    if is_form(request):
        return HttpResponseSeeOther(f"{reverse('chat:prompts')}?saved")
    return JsonResponse(payload, status=status)


def _save(
    request: HttpRequest, user: User, own: Prompt | None, store: Callable[[SentPrompt], Prompt]
) -> HttpResponse:
    """Store the sent prompt. A refused form is shown again with what was typed."""
    try:
        prompt = store(_parse(request, user))
    except (NotAuthenticated, NotFound):
        raise
    except RequestError as refusal:
        if not is_form(request):
            raise
        return _form(request, user, own, _typed(request), refusal)
    return _changed(request, {"id": str(prompt.pk), "command": prompt.command}, 200 if own else 201)


def _parse(request: HttpRequest, user: User) -> SentPrompt:
    """Return the content, and its audience: None if the request does not say. Raises a RequestError."""
    sent = request_fields.parse(request, "title", "command", "text", "audience", "groups")
    title = request_fields.parse_text(sent, "title", MAX_PROMPT_TITLE_CHARS, required=True) or ""
    title = " ".join(title.split())
    command = request_fields.parse_text(sent, "command", MAX_PROMPT_TITLE_CHARS) or ""
    text = request_fields.parse_text(sent, "text", MAX_PROMPT_CHARS, required=True) or ""
    content = PromptContent(title, command_of(command, title), text.strip("\n"))
    if "audience" not in sent and "groups" not in sent:
        return content, None
    audience = request_fields.parse_choice(sent, "audience", AUDIENCES, "nobody")
    groups = publication_fields.groups(sent) if audience == "groups" else []
    if audience == "groups" and not groups:
        raise BadRequest(_("Choose the groups to publish to."))
    if audience == "nobody" and not publication.may_publish(user, Prompt):
        return content, None
    return content, publication.audience(user, Prompt, everybody=audience == "everybody", groups=groups)


def _stored(prompt: Prompt) -> dict[str, Any]:
    groups = [str(group.pk) for group in prompt.groups.all()]
    audience = "everybody" if prompt.everybody else "groups" if groups else "nobody"
    fields = {"title": prompt.title, "command": prompt.command, "text": prompt.text}
    return {**fields, "audience": audience, "groups": groups}


def _typed(request: HttpRequest) -> dict[str, Any]:
    return {**request.POST.dict(), "groups": request.POST.getlist("groups")}


def _form(
    request: HttpRequest,
    user: User,
    own: Prompt | None,
    fields: dict[str, Any],
    refusal: RequestError | None = None,
) -> HttpResponse:
    may_publish = publication.may_publish(user, Prompt)
    context = {
        "prompt": own,
        "fields": fields,
        "refusal": refusal.message if refusal else "",
        "longest_title": MAX_PROMPT_TITLE_CHARS,
        "longest_command": MAX_COMMAND_CHARS + 1,  # with the slash
        "longest_text": MAX_PROMPT_CHARS,
        "most": grouped_number(MAX_PROMPT_CHARS),
        "audience": fields.get("audience", "nobody"),
        "may_publish": may_publish,
        "groups": Group.objects.order_by("name") if may_publish else (),
        "chosen_groups": fields.get("groups", []),
    }
    return render_section(
        request, "prompts", "prompts/form.html", context, refusal.status if refusal else 200
    )
