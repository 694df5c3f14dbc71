"""Views that follow and stop a run, from any tab and in any process."""

import uuid

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.translation import gettext as _

from chat.db.executor import run_in_db
from chat.engine.engine import get_engine
from chat.exceptions import BadRequest
from chat.models import Run, User
from chat.wire.position import Position

from ..requests import access
from ..requests.errors import is_form
from ..requests.responses import event_stream, to_conversation


@access.require_methods("GET")
async def stream(request: HttpRequest, run: uuid.UUID) -> HttpResponseBase:
    """Stream the run from the position in `Last-Event-ID` or `?after=`, otherwise from its beginning."""
    engine = await get_engine()
    user, own_run, position = await run_in_db(_find, request, run)
    state = await engine.follow(own_run)
    return event_stream(engine, state, user, request, position)


def _find(request: HttpRequest, run: uuid.UUID) -> tuple[User, Run, Position]:
    own_run = access.get_run_or_404(request, run)
    return access.get_user(request), own_run, _position(request)


def _position(request: HttpRequest) -> Position:
    sent = request.headers.get("Last-Event-ID") or request.GET.get("after", "")
    if not sent:
        return Position()
    try:
        return Position.parse(sent)
    except ValueError as error:
        raise BadRequest(_("This isn’t a valid position in the stream.")) from error


@access.require_methods("POST")
async def stop(request: HttpRequest, run: uuid.UUID) -> HttpResponseBase:
    """Request the stop of a run; its stream tells when it has stopped.

    The request is stored in the run's row first, because the pub/sub message to the owner may get lost.
    """
    engine = await get_engine()
    own_run = await run_in_db(_request_stop, request, run)
    engine.stop(own_run)
    if is_form(request):
        return to_conversation(own_run.conversation_id)
    return HttpResponse(status=202)


def _request_stop(request: HttpRequest, run: uuid.UUID) -> Run:
    own_run = access.get_run_or_404(request, run)
    if own_run.is_live:
        Run.objects.live().filter(pk=own_run.pk).update(stop_requested=True)
    return own_run
