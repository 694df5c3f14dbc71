"""The prompt library: its section of the settings, its menu in the message box, its use without scripts."""

import uuid
from collections.abc import Callable
from typing import Any

from django.contrib.auth.models import Group
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _

from chat.db.executor import run_in_db
from chat.exceptions import BadRequest, NotAuthenticated, NotFound, PayloadTooLarge, RequestError
from chat.formats import grouped_number
from chat.library import prompts, publication
from chat.library.prompts import PromptContent, command_of, fields_of, fill_fields, filled_length
from chat.library.publication import Audience
from chat.limits import MAX_COMMAND_CHARS, MAX_PROMPT_CHARS, MAX_PROMPT_TITLE_CHARS
from chat.models import Prompt, User

from .. import pages
from ..requests import access, request_fields, request_parsers
from ..requests.request_fields import is_form, is_part, wants_json
from ..requests.request_parsers import MAX_QUESTION_CHARS
from ..requests.responses import HttpResponseSeeOther
from ..settings.settings_shell import render_section
from . import fields

AUDIENCES = ("nobody", "everybody", "groups")
SentPrompt = tuple[PromptContent, Audience | None]
MAX_FIELDS = 100  # on the page; those beyond stay as they are written
FIELD_PREFIX = "field:"  # of the fields' names in the form


@access.require_methods("GET", "HEAD", "POST", page=True)
def listing(request: HttpRequest) -> HttpResponse:
    """List the prompts that the user may use; a POST creates one."""
    user = access.get_user(request)
    if request.method == "POST":
        return _save(request, user, None, lambda wanted: prompts.create(user, *wanted))
    found = list(prompts.listed(user).select_related("owner").prefetch_related("groups"))
    context = {
        "usable": {prompt.pk for prompt in found},
        "own": [prompt for prompt in found if prompt.owner_id == user.pk],
        "published": [prompt for prompt in found if prompt.owner_id != user.pk],
        "may_publish": publication.may_publish(user, Prompt),
        "saved": "saved" in request.GET,
    }
    if context["may_publish"]:
        context["published"] = prompts.published_by_others(user)
    return render_section(request, "prompts", "prompts/list.html", context)


@access.require_methods("GET", "HEAD", page=True)
def new(request: HttpRequest) -> HttpResponse:
    return _form(request, access.get_user(request), None, {})


@access.require_methods("GET", "HEAD", "POST", page=True)
def one(request: HttpRequest, prompt: uuid.UUID) -> HttpResponse:
    """Show one of the user's own prompts in the form, or store what the form sent."""
    user = access.get_user(request)
    own = prompts.find_own(user, prompt)
    if request.method == "POST":
        return _save(request, user, own, lambda wanted: prompts.edit(user, prompt, *wanted))
    return _form(request, user, own, _stored(own))


@access.require_methods("POST")
def delete(request: HttpRequest, prompt: uuid.UUID) -> HttpResponse:
    user = access.get_user(request)
    request_parsers.no_fields(request)
    prompts.delete(user, prompt)
    return _changed(request, {"id": str(prompt), "deleted": True})


@access.require_methods("POST")
def withdraw(request: HttpRequest, prompt: uuid.UUID) -> HttpResponse:
    """End the publication of anybody's prompt, as a person who may publish prompts."""
    user = access.get_user(request)
    request_parsers.no_fields(request)
    prompts.withdraw(user, prompt)
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
    groups = fields.groups(sent) if audience == "groups" else []
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


@access.require_methods("GET", "HEAD", part=True)
def menu(request: HttpRequest) -> HttpResponse:
    """Return the prompts that the user may use: to the chat page's own script the menu, to others JSON."""
    found = list(prompts.listed(access.get_user(request)))
    if is_part(request):
        response = render(request, "prompts/_menu.html", {"prompts": found})
    else:
        response = JsonResponse({"prompts": [_listed(prompt) for prompt in found]})
    response["Cache-Control"] = "no-store"
    return response


@access.require_methods("GET", "HEAD", part=True)
def text(request: HttpRequest, prompt: uuid.UUID) -> HttpResponse:
    """Return one prompt with its text, as JSON."""
    found = prompts.find(access.get_user(request), prompt)
    return JsonResponse(_listed(found) | {"text": found.text}, headers={"Cache-Control": "no-store"})


def _listed(prompt: Prompt) -> dict[str, str]:
    return {"id": str(prompt.pk), "title": prompt.title, "command": prompt.command}


@access.require_methods("GET", "HEAD", "POST", page=True)
async def use(request: HttpRequest, prompt: uuid.UUID) -> HttpResponseBase:
    """Show a prompt with its fields; a POST of their values shows a new chat with the text in its box."""
    page_or_text = await run_in_db(_page_or_text, request, prompt)
    return (
        await pages.render_with_text(request, page_or_text) if isinstance(page_or_text, str) else page_or_text
    )


def _page_or_text(request: HttpRequest, key: uuid.UUID) -> HttpResponse | str:
    """Return the page, or the text that a POST has filled in."""
    prompt = prompts.find(access.get_user(request), key)
    if request.method != "POST":
        return _use_page(request, prompt)
    try:
        return _filled(request, prompt)
    except RequestError as refusal:
        if wants_json(request):
            raise
        return _use_page(request, prompt, refusal)


def _shown_fields(prompt: Prompt) -> dict[str, str]:
    """Return the fields that the page asks for, with their defaults."""
    return dict(list(fields_of(prompt.text).items())[:MAX_FIELDS])


def _filled(request: HttpRequest, prompt: Prompt) -> str:
    """Return the text with the sent values. Raises BadRequest and PayloadTooLarge."""
    names = _shown_fields(prompt)
    sent = request_fields.parse(request, *(FIELD_PREFIX + name for name in names), required=False)
    values = {
        name: request_fields.parse_text(sent, FIELD_PREFIX + name, MAX_QUESTION_CHARS) or ""
        for name in names
        if FIELD_PREFIX + name in sent
    }
    length = filled_length(prompt.text, values)
    if length > MAX_QUESTION_CHARS:
        words = _("Your message has %(length)s characters; the limit is %(longest)s.")
        sizes = {"length": grouped_number(length), "longest": grouped_number(MAX_QUESTION_CHARS)}
        raise PayloadTooLarge(words % sizes)
    return fill_fields(prompt.text, values)


def _use_page(request: HttpRequest, prompt: Prompt, refusal: RequestError | None = None) -> HttpResponse:
    shown = _shown_fields(prompt)
    context = {
        "prompt": prompt,
        "fields": [
            (FIELD_PREFIX + name, name, request.POST.get(FIELD_PREFIX + name, default))
            for name, default in shown.items()
        ],
        "more": len(fields_of(prompt.text)) > len(shown),
        "refusal": refusal.message if refusal else "",
    }
    status = refusal.status if refusal else 200
    return render_section(request, "prompts", "prompts/use.html", context, status)
