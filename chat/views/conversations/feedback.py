"""Ratings of replies."""

import uuid

from django.db import transaction
from django.http import HttpRequest, JsonResponse
from django.http.response import HttpResponseBase
from django.utils import timezone
from django.utils.translation import gettext as _

from chat.catalog import config
from chat.db.executor import run_in_db, write_lock
from chat.engine.engine import get_engine
from chat.exceptions import Conflict
from chat.models import Feedback, Message
from chat.upstream.gateway_log import GatewayLogRef

from ..requests import access, request_parsers
from ..requests.errors import is_form
from ..requests.responses import to_conversation


@access.require_methods("POST")
async def feedback(request: HttpRequest, message: uuid.UUID) -> HttpResponseBase:
    """Store a thumb up or down with an optional reason, or remove it; pass it on to the AI Gateway."""
    own_message, up, reason, log_refs = await run_in_db(_rate, request, message)
    (await get_engine()).gateway_feedback.send(log_refs, up)
    if is_form(request):
        return to_conversation(own_message.conversation_id, message)
    thumb = "none" if up is None else "up" if up else "down"
    return JsonResponse({"message": str(message), "thumb": thumb, "reason": reason})


def _rate(request: HttpRequest, key: uuid.UUID) -> tuple[Message, bool | None, str, list[GatewayLogRef]]:
    """Store the rating. Return (message, thumb, reason, entries in the gateway's log)."""
    user, message = access.get_user(request), access.get_message_or_404(request, key)
    up, reason = request_parsers.feedback(request)
    if message.role != Message.Role.ASSISTANT:
        raise Conflict(_("Only a reply can be rated."))
    with write_lock(), transaction.atomic():
        if up is None:
            Feedback.objects.filter(message=message).delete()
        else:
            rating = {"user": user, "up": up, "reason": reason, "updated": timezone.now()}
            rating["conversation"] = message.conversation_id
            Feedback.objects.update_or_create(message=message, defaults=rating)
    return message, up, "" if up is None else reason, _log_refs(message) if config.gateway_name() else []


def _log_refs(message: Message) -> list[GatewayLogRef]:
    """Return the gateway log entries of the reply's runs."""
    logged = message.runs.exclude(gateway_log="").order_by("created")
    return [GatewayLogRef(*row) for row in logged.values_list("gateway", "gateway_log")]
