"""Asking: a send stores the turn, launches its run, and answers with the run's stream."""

import uuid

from django.http import HttpRequest, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.urls import reverse

from chat.engine.database import in_database
from chat.engine.engine import Engine, engine
from chat.engine.refusal import Draining
from chat.engine.turn import Opened
from chat.models import User

from . import body, gate
from .errors import is_form
from .streams import stream


class HttpResponseSeeOther(HttpResponseRedirect):
    status_code = 303


@gate.takes("POST")
async def begin(request: HttpRequest) -> HttpResponseBase:
    """A new conversation and its first turn."""
    return await _ask(request, None)


@gate.takes("POST")
async def send(request: HttpRequest, conversation: uuid.UUID) -> HttpResponseBase:
    """A further turn."""
    return await _ask(request, conversation)


async def _ask(request: HttpRequest, conversation: uuid.UUID | None) -> HttpResponseBase:
    here = await engine()
    user, opened = await in_database(_open, here, request, conversation)
    live = await here.launch(opened)
    if is_form(request):
        return HttpResponseSeeOther(reverse("chat:conversation", args=[live.about.conversation]))
    return stream(here, live, user, request.session.session_key or "")


def _open(here: Engine, request: HttpRequest, conversation: uuid.UUID | None) -> tuple[User, Opened]:
    """All of a send's database work in one go on one thread."""
    user = gate.signed_in(request)
    question = body.question(request, conversation)
    if not here.draining:
        return user, here.opener.open(user, question, queued=here.supervisor.is_full)
    if earlier := here.opener.find(user, question):
        return user, earlier
    raise Draining("The server is restarting. Try again in a moment.", retry_after=5)
