"""Views that follow and stop a run, from any tab and in any process."""

import uuid

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.translation import gettext as _

from chat.db import run_in_db
from chat.engine.engine import get_engine
from chat.engine.streaming.position import Position
from chat.exceptions import BadRequest
from chat.models import Run, User

from . import access
from .errors import is_form
from .redirects import to_conversation
from .sse_response import stream as stream_of


@access.require_methods("GET")
async def stream(request: HttpRequest, run: uuid.UUID) -> HttpResponseBase:
    """Stream the run from the position in `Last-Event-ID` or `?after=`, otherwise from its beginning."""
    engine = await get_engine()
    user, found, position = await run_in_db(_find, request, run)
    live = await engine.follow(found)
    return stream_of(engine, live, user, request, position)


def _find(request: HttpRequest, run: uuid.UUID) -> tuple[User, Run, Position]:
    found = access.get_run_or_404(request, run)
    return access.get_user(request), found, _position(request)


def _position(request: HttpRequest) -> Position:
    written = request.headers.get("Last-Event-ID") or request.GET.get("after", "")
    if not written:
        return Position()
    try:
        return Position.parse(written)
    except ValueError as error:
        raise BadRequest(_("This is no position in a stream.")) from error


@access.require_methods("POST")
async def stop(request: HttpRequest, run: uuid.UUID) -> HttpResponseBase:
    """Request the stop of a run; its stream tells when it has stopped.

    The request is stored in the run's row first, because the pub/sub message to the owner may get lost.
    """
    engine = await get_engine()
    found = await run_in_db(_request_stop, request, run)
    engine.stop(found)
    if is_form(request):
        return to_conversation(found.conversation_id)
    return HttpResponse(status=202)


def _request_stop(request: HttpRequest, run: uuid.UUID) -> Run:
    found = access.get_run_or_404(request, run)
    if found.is_live:
        Run.objects.live().filter(pk=found.pk).update(stop_requested=True)
    return found
