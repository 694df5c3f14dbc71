"""The actions on a message and its branch: fork it, delete it, and undo that."""

import uuid

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import reverse

from chat.conversations.turns import deletion
from chat.conversations.turns.fork import fork as fork_branch
from chat.db.executor import run_in_db
from chat.engine.engine import get_engine
from chat.models import Message, User
from chat.sharing import links

from ..requests import access, request_parsers
from ..requests.errors import is_form, is_part
from ..requests.responses import HttpResponseSeeOther, to_conversation


@access.require_methods("GET", "HEAD")
def actions(request: HttpRequest, message: uuid.UUID) -> HttpResponse:
    """Show the rarer actions on a message: a page, and for scripts the inside of a menu."""
    own_message = access.get_message_or_404(request, message)
    context = {
        "message": own_message,
        "following": len(Message.objects.below(message, deleted=None)) - 1,
        "sharing": links.is_on() and not own_message.conversation.temporary,
    }
    template = "chat/_message_menu.html" if is_part(request) else "chat/message_actions.html"
    return render(request, template, context)


@access.require_methods("POST")
def fork(request: HttpRequest, message: uuid.UUID) -> HttpResponseBase:
    """Copy the branch up to this message into a new conversation."""
    own_message = access.get_message_or_404(request, message)
    request_parsers.no_fields(request)
    user = access.get_user(request)
    fork = fork_branch(user, own_message.conversation, own_message.pk)
    if is_form(request):
        return to_conversation(fork.pk)
    return JsonResponse({"conversation": str(fork.pk), "message": str(fork.active_leaf_id)}, status=201)


@access.require_methods("POST")
async def delete(request: HttpRequest, message: uuid.UUID) -> HttpResponseBase:
    """Delete a message and all below it, and stop the reply that is being written there."""
    deleted = await run_in_db(_delete, request, message)
    for run in deleted.runs:
        (await get_engine()).stop(run)
    if is_form(request):
        address = reverse("chat:conversation", args=[deleted.conversation])
        return HttpResponseSeeOther(f"{address}?removed={message}")
    leaf = str(deleted.leaf) if deleted.leaf else None
    return JsonResponse(
        {"conversation": str(deleted.conversation), "message": str(message), "leaf": leaf, "deleted": True}
    )


def _delete(request: HttpRequest, message: uuid.UUID) -> deletion.DeletedBranch:
    user: User = access.get_user(request)
    request_parsers.no_fields(request)
    return deletion.delete_branch(user, message)


@access.require_methods("POST")
def undelete(request: HttpRequest, message: uuid.UUID) -> HttpResponseBase:
    """Undo a deletion; a message that is not deleted stays as it is."""
    user = access.get_user(request)
    request_parsers.no_fields(request)
    conversation = deletion.restore_branch(user, message)
    if is_form(request):
        return to_conversation(conversation.pk, message)
    return JsonResponse({"conversation": str(conversation.pk), "message": str(message), "deleted": False})
