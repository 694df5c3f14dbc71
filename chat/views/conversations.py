"""What can be done with a conversation as a whole."""

import uuid

from django.http import HttpRequest, JsonResponse
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils import timezone

from chat.engine.database import in_database
from chat.engine.engine import engine
from chat.models import Run

from . import gate
from .errors import is_form
from .messages import HttpResponseSeeOther


@gate.takes("POST")
async def delete(request: HttpRequest, conversation: uuid.UUID) -> HttpResponseBase:
    """Take a conversation out of its owner's sight, and stop what is being written in it."""
    here = await engine()
    live = await in_database(_delete, request, conversation)
    for run in live:
        here.stop(run)
    if is_form(request):
        return HttpResponseSeeOther(reverse("chat:home"))
    return JsonResponse({"conversation": str(conversation), "deleted": True})


def _delete(request: HttpRequest, conversation: uuid.UUID) -> list[Run]:
    found = gate.own_conversation(request, conversation)
    found.deleted = timezone.now()
    found.save(update_fields=["deleted"])
    live = list(Run.objects.live().filter(conversation=found).select_related("worker"))
    Run.objects.live().filter(conversation=found).update(stop_requested=True)
    return live
