"""The gatekeepers: who is asking, and may they have this? Each runs in a database thread."""

import re
import uuid
from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any, TypeVar

from django.contrib.auth.views import redirect_to_login
from django.db.models import Model, QuerySet
from django.db.utils import Error
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.utils.translation import gettext as _

from chat.db_errors import unavailable
from chat.exceptions import Missing, Refusal, SignedOut
from chat.models import Conversation, Message, Run, User

from . import request_fields
from .errors import not_allowed, refuse, wants_json

Row = TypeVar("Row", bound=Model)
View = Callable[..., Coroutine[Any, Any, HttpResponseBase]]
ON_A_CONVERSATION = re.compile(r"/c/[0-9a-f-]{36}/(?!undelete/)")


def signed_in(request: HttpRequest) -> User:
    """The person who asks. Raises SignedOut, also for a disabled account."""
    user = request.user
    if not isinstance(user, User) or not user.is_active:
        raise SignedOut(_("You are signed out. Sign in to go on."))
    return user


def own_conversation(request: HttpRequest, conversation: uuid.UUID) -> Conversation:
    """Raises SignedOut and Missing."""
    found = Conversation.objects.of(signed_in(request)).filter(pk=conversation).first()
    if found is None:
        raise Missing(_("There is no such conversation."))
    return found


def own_message(request: HttpRequest, message: uuid.UUID) -> Message:
    """Raises SignedOut and Missing."""
    found = Message.objects.of(signed_in(request)).filter(pk=message).first()
    if found is None:
        raise Missing(_("There is no such message."))
    return found


def own_run(request: HttpRequest, run: uuid.UUID) -> Run:
    """The run with its message and its worker. Raises SignedOut and Missing."""
    runs = Run.objects.of(signed_in(request)).select_related("message", "worker")
    found = runs.filter(pk=run).first()
    if found is None:
        raise Missing(_("There is no such reply."))
    return found


def before(request: HttpRequest, among: QuerySet[Row]) -> Row | None:
    """The one of these that the page asked for ends just before: `?before=`. Raises Malformed and Missing."""
    return named(request, "before", among)


def named(request: HttpRequest, parameter: str, among: QuerySet[Row]) -> Row | None:
    """The one of these whose id the query names, if it names one. Raises Malformed and Missing."""
    key = request_fields.key(request.GET, parameter)
    if key is None:
        return None
    found = among.filter(pk=key).first()
    if found is None:
        raise Missing(_("“%(name)s” names nothing that is here.") % {"name": parameter})
    return found


def takes(*methods: str) -> Callable[[View], View]:
    """Only these methods; refusals become answers: JSON for programs, pages for people."""

    def decorate(view: View) -> View:
        @wraps(view)
        async def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            if request.method not in methods:
                return not_allowed(request, methods)
            try:
                return await view(request, *args, **kwargs)
            except Refusal as refusal:
                return _answer(request, refusal)
            except Error as error:
                return _answer(request, unavailable(error))

        return guarded

    return decorate


def _answer(request: HttpRequest, refusal: Refusal) -> HttpResponse:
    if isinstance(refusal, SignedOut) and not wants_json(request):
        return to_login(request)
    more = {"run": str(refusal.run)} if refusal.run else {}
    return refuse(
        request,
        refusal.status,
        refusal.message,
        code=refusal.code,
        retry_after=refusal.retry_after,
        **more,
    )


def to_login(request: HttpRequest) -> HttpResponseRedirect:
    """To the login page and back."""
    return redirect_to_login(way_back(request))


def way_back(request: HttpRequest) -> str:
    """Where to go on after signing in; a send comes back to the page it was typed on."""
    if request.method != "POST":
        return request.get_full_path()
    written_on = ON_A_CONVERSATION.match(request.path)
    return written_on[0] if written_on else "/"
