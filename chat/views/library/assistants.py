"""The section of the settings with one's assistants: the list, the form, and what can be done with each."""

import uuid
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from django.conf import settings
from django.contrib.auth.models import Group
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.urls import reverse
from django.utils.translation import gettext as _

from chat.conversations.tools.registry import is_web_search_offered
from chat.db.executor import run_in_db
from chat.exceptions import RequestError
from chat.files.receiving import IMAGE_INPUT
from chat.library import assistant_documents, assistants, ready_assistants
from chat.library.assistants import AssistantContent, content_of
from chat.library.publication import may_publish, require_permission
from chat.library.ready_assistants import content_of_ready
from chat.limits import (
    MAX_ASSISTANT_DOCUMENTS,
    MAX_ASSISTANT_NAME_CHARS,
    MAX_DESCRIPTION_CHARS,
    MAX_INSTRUCTIONS_CHARS,
    MAX_PICTURE_CHARS,
    MAX_STARTER_QUESTION_CHARS,
    MAX_STARTER_QUESTIONS,
)
from chat.models import Assistant, User

from .. import model_picker
from ..files import attachment_parts, form_files
from ..requests import access, parameter_form, request_fields, request_parsers
from ..requests.request_fields import wants_json
from ..requests.responses import HttpResponseSeeOther
from ..settings.settings_shell import render_section
from . import fields

ASSISTANT_LIMITS = {
    "longest_name": MAX_ASSISTANT_NAME_CHARS,
    "longest_description": MAX_DESCRIPTION_CHARS,
    "longest_instructions": MAX_INSTRUCTIONS_CHARS,
    "longest_picture": MAX_PICTURE_CHARS,
    "longest_question": MAX_STARTER_QUESTION_CHARS,
    "most_documents": MAX_ASSISTANT_DOCUMENTS,
}


@form_files.receives(IMAGE_INPUT)
@access.require_methods("GET", "HEAD", "POST", page=True)
async def listing(request: HttpRequest) -> HttpResponse:
    """List one's own assistants and those published to one; a POST creates one."""
    if request.method == "POST":
        return await _save_with_files(request, None)
    return await run_in_db(_list, request)


def _list(request: HttpRequest) -> HttpResponse:
    user = access.get_user(request)
    found = list(assistants.usable(user).prefetch_related("groups"))
    context = {
        "saved": "saved" in request.GET,
        "own": [each for each in found if each.owner_id == user.pk],
        "published": [each for each in found if each.owner_id != user.pk],
        "ready": ready_assistants.offered(user),
        "undone": _just_deleted(request, user),
        "may_publish": may_publish(user, Assistant),
    }
    return render_section(request, "assistants", "settings/assistants.html", context)


@access.require_methods("GET", "HEAD", page=True)
def new(request: HttpRequest) -> HttpResponse:
    access.get_user(request)
    return _form(request, None, AssistantContent(name=""))


@form_files.receives(IMAGE_INPUT)
@access.require_methods("GET", "HEAD", "POST", page=True)
async def one(request: HttpRequest, assistant: uuid.UUID) -> HttpResponse:
    """Show the form of one's assistant; a POST stores a new version."""
    if request.method == "POST":
        return await _save_with_files(request, assistant)
    return await run_in_db(_stored, request, assistant)


def _stored(request: HttpRequest, assistant: uuid.UUID) -> HttpResponse:
    own = assistants.find_own(access.get_user(request), assistant)
    assert own.current
    return _form(request, own, content_of(own.current))


@access.require_methods("POST")
def delete(request: HttpRequest, assistant: uuid.UUID) -> HttpResponse:
    """Delete an assistant. Its conversations go on, and the page that follows offers to undo it."""
    user = access.get_user(request)
    request_parsers.no_fields(request)
    assistants.delete(user, assistant)
    return _changed(request, assistant, f"?deleted={assistant}", deleted=True)


@access.require_methods("POST")
def undelete(request: HttpRequest, assistant: uuid.UUID) -> HttpResponse:
    """Undo a deletion; an assistant that is not deleted stays as it is."""
    user = access.get_user(request)
    request_parsers.no_fields(request)
    assistants.restore(user, assistant)
    return _changed(request, assistant, deleted=False)


@access.require_methods("POST")
def duplicate(request: HttpRequest, assistant: uuid.UUID) -> HttpResponse:
    """Copy an assistant that one may use into one's own, to be edited."""
    user = access.get_user(request)
    request_parsers.no_fields(request)
    made = assistants.duplicate(user, assistant)
    if wants_json(request):
        return JsonResponse({"id": str(made.pk)}, status=201)
    return HttpResponseSeeOther(reverse("chat:assistant", args=[made.pk]))


@access.require_methods("POST")
def copy_ready(request: HttpRequest) -> HttpResponse:
    """Make a ready assistant, the field `name`, one of the person's own, and begin a chat with it."""
    user = access.get_user(request)
    sent = request_fields.parse(request, "name")
    name = request_fields.parse_text(sent, "name", MAX_ASSISTANT_NAME_CHARS, required=True) or ""
    made = assistants.create(user, content_of_ready(name))
    if wants_json(request):
        return JsonResponse({"id": str(made.pk)}, status=201)
    return HttpResponseSeeOther(f"{reverse('chat:home')}?assistant={made.pk}")


@access.require_methods("GET", "HEAD", "POST", page=True)
def publish(request: HttpRequest, assistant: uuid.UUID) -> HttpResponse:
    """Publish one's assistant to everybody or to groups, or end that. Only for staff with the permission.

    The form is a page of its own: beside the assistant's, it would lose what is not saved there.
    """
    user = access.get_user(request)
    if request.method != "POST":
        require_permission(user, Assistant)
        return _publication(request, assistants.find_own(user, assistant))
    everybody, groups = fields.publication(request)
    own = assistants.publish(user, assistant, everybody=everybody, groups=groups)
    return _changed(request, assistant, "?saved=1", published=own.published_by_id is not None)


def _publication(request: HttpRequest, own: Assistant) -> HttpResponse:
    chosen = set(own.groups.values_list("pk", flat=True))
    groups = Group.objects.order_by("name").values_list("pk", "name")
    context = {
        "own": own,
        "groups": [(key, name, key in chosen) for key, name in groups],
        "heading": _("Publication"),
    }
    return render_section(request, "assistants", "settings/publish_assistant.html", context)


def _changed(request: HttpRequest, assistant: uuid.UUID, query: str = "", **values: Any) -> HttpResponse:
    if wants_json(request):
        return JsonResponse({"id": str(assistant), **values})
    return HttpResponseSeeOther(reverse("chat:assistants") + query)


async def _save_with_files(request: HttpRequest, assistant: uuid.UUID | None) -> HttpResponse:
    """Create or edit an assistant, with the documents and the picture that came with its form."""
    own = await run_in_db(_own, request, assistant)
    try:
        async with form_files.from_form(request, documents_only=True) as uploaded:
            image = await form_files.image_from_form(request)
            return await run_in_db(_save, request, own, uploaded, image)
    except RequestError as refusal:
        if wants_json(request):
            raise
        return await run_in_db(_form, request, own, _typed(request), refusal)


def _own(request: HttpRequest, assistant: uuid.UUID | None) -> Assistant | None:
    """Return the assistant to edit, None for a new one. Raises NotAuthenticated and NotFound."""
    user = access.get_user(request)
    return assistants.find_own(user, assistant) if assistant else None


def _save(
    request: HttpRequest, own: Assistant | None, uploaded: list[uuid.UUID], image: uuid.UUID | None
) -> HttpResponse:
    """Store the assistant. A refused form is shown again with all that was typed and uploaded."""
    user = access.get_user(request)
    kept_model = own.current.model if own and own.current else ""
    try:
        content = fields.content(request, kept_model, uploaded, image)
        saved = assistants.edit(user, own.pk, content) if own else assistants.create(user, content)
    except RequestError as refusal:
        if wants_json(request):
            raise
        return _form(request, own, _typed(request, uploaded, image), refusal)
    if wants_json(request):
        assert saved.current
        payload = {"id": str(saved.pk), "version": saved.current.number}
        return JsonResponse(payload, status=200 if own else 201)
    # Sent without scripts, with the controls of another model: show the right ones.
    if fields.has_other_controls(request, content.model):
        return HttpResponseSeeOther(f"{reverse('chat:assistant', args=[saved.pk])}?saved=1")
    return HttpResponseSeeOther(f"{reverse('chat:assistants')}?saved=1")


def _typed(
    request: HttpRequest, uploaded: Sequence[uuid.UUID] = (), image: uuid.UUID | None = None
) -> AssistantContent:
    """Return what a form holds, unchecked, to be shown in it again."""
    names = ("name", "description", "instructions", "picture", "model")
    typed: dict[str, Any] = {name: request.POST.get(name, "") for name in names}
    with suppress(RequestError):
        typed["parameters"] = request_parsers.sent_parameters(request, request.POST.dict()) or {}
    with suppress(RequestError):
        kept = request_fields.parse_uuids({"documents": request.POST.getlist("documents")}, "documents")
        typed["documents"] = [*kept, *uploaded]
    with suppress(RequestError):
        typed["image"] = image or request_fields.parse_uuid(request.POST, "image")
    typed["web_search"] = request_fields.SWITCHED.get(request.POST.get("web_search", ""))
    return AssistantContent(**typed, questions=request.POST.getlist("questions")[:MAX_STARTER_QUESTIONS])


def _form(
    request: HttpRequest,
    own: Assistant | None,
    content: AssistantContent,
    refusal: RequestError | None = None,
) -> HttpResponse:
    offered, user = access.get_models(request), access.get_user(request)
    model = offered.resolve_or_default(content.model)
    doors = model_picker.named_doors(offered)
    is_gone = content.model and content.model not in {each.id for each in offered}
    context: dict[str, Any] = ASSISTANT_LIMITS | {
        "own": own,
        "saved": "saved" in request.GET,
        "content": content,
        "image": assistant_documents.shown_image(user, content.image),
        "accepted_images": ",".join(attachment_parts.PICTURES) if settings.ATTACHMENTS else "",
        "documents": assistant_documents.shown(user, content.documents),
        "accepted_files": attachment_parts.accepted(pictures=False) if settings.ATTACHMENTS else "",
        "questions": [*content.questions, *[""] * MAX_STARTER_QUESTIONS][:MAX_STARTER_QUESTIONS],
        "model": content.model,
        "searches": is_web_search_offered(),
        "former": content.model if is_gone else "",
        "doors": doors,
        "model_groups": model_picker.by_maker_beside(doors, offered),
        "controls": parameter_form.controls(model, content.parameters, switches=True),
        "error": refusal.message if refusal else "",
        "unfolded": bool(refusal) or "saved" in request.GET,
        "heading": _("Edit the assistant") if own else _("New assistant"),
    }
    status = refusal.status if refusal else 200
    return render_section(request, "assistants", "settings/assistant.html", context, status)


def _just_deleted(request: HttpRequest, user: User) -> Assistant | None:
    """Return the assistant whose deletion can be undone: a delete form redirects to `?deleted=<id>`."""
    try:
        return assistants.deleted(user, uuid.UUID(request.GET.get("deleted", "")))
    except ValueError:
        return None
