"""Access control of views: look up the user and the objects they own, and turn refusals into responses.

The look-ups query the database, so they run in a database thread.
"""

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
from chat.exceptions import NotAuthenticated, NotFound, RequestError
from chat.models import Conversation, Message, Run, User

from . import request_fields
from .errors import not_allowed, refuse, wants_json

Row = TypeVar("Row", bound=Model)
View = Callable[..., Coroutine[Any, Any, HttpResponseBase]]
ON_A_CONVERSATION = re.compile(r"/c/[0-9a-f-]{36}/(?!undelete/)")


def get_user(request: HttpRequest) -> User:
    """Return the signed-in user. Raises NotAuthenticated, also for a disabled account."""
    user = request.user
    if not isinstance(user, User) or not user.is_active:
        raise NotAuthenticated(_("You are signed out. Sign in to go on."))
    return user


def get_conversation_or_404(request: HttpRequest, conversation: uuid.UUID) -> Conversation:
    """Return the user's own conversation. Raises NotAuthenticated and NotFound."""
    found = Conversation.objects.owned_by(get_user(request)).filter(pk=conversation).first()
    if found is None:
        raise NotFound(_("There is no such conversation."))
    return found


def get_message_or_404(request: HttpRequest, message: uuid.UUID) -> Message:
    """Return a message of the user's own conversations. Raises NotAuthenticated and NotFound."""
    found = Message.objects.owned_by(get_user(request)).filter(pk=message).first()
    if found is None:
        raise NotFound(_("There is no such message."))
    return found


def get_run_or_404(request: HttpRequest, run: uuid.UUID) -> Run:
    """Return the run with its message and its worker loaded. Raises NotAuthenticated and NotFound."""
    runs = Run.objects.owned_by(get_user(request)).select_related("message", "worker")
    found = runs.filter(pk=run).first()
    if found is None:
        raise NotFound(_("There is no such reply."))
    return found


def page_cursor(request: HttpRequest, among: QuerySet[Row]) -> Row | None:
    """Return the row of `among` that `?before=` names: the requested page of a list ends just before it.

    None without the parameter. Raises BadRequest and NotFound.
    """
    return row_from_query(request, "before", among)


def row_from_query(request: HttpRequest, parameter: str, among: QuerySet[Row]) -> Row | None:
    """Return the row of `among` whose UUID the query parameter holds; None without it.

    Raises BadRequest when it is no UUID, NotFound when no row has it.
    """
    key = request_fields.parse_uuid(request.GET, parameter)
    if key is None:
        return None
    found = among.filter(pk=key).first()
    if found is None:
        raise NotFound(_("“%(name)s” names nothing that is here.") % {"name": parameter})
    return found


def require_methods(*methods: str) -> Callable[[View], View]:
    """Allow only these methods, and turn RequestError and database outages into JSON or HTML responses."""

    def decorate(view: View) -> View:
        @wraps(view)
        async def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            if request.method not in methods:
                return not_allowed(request, methods)
            try:
                return await view(request, *args, **kwargs)
            except RequestError as refusal:
                return _answer(request, refusal)
            except Error as error:
                return _answer(request, unavailable(error))

        return guarded

    return decorate


def _answer(request: HttpRequest, refusal: RequestError) -> HttpResponse:
    if isinstance(refusal, NotAuthenticated) and not wants_json(request):
        return login_redirect(request)
    more = {"run": str(refusal.run)} if refusal.run else {}
    return refuse(
        request,
        refusal.status,
        refusal.message,
        code=refusal.code,
        retry_after=refusal.retry_after,
        **more,
    )


def login_redirect(request: HttpRequest) -> HttpResponseRedirect:
    """Redirect to the login page, which leads back to `return_url`."""
    return redirect_to_login(return_url(request))


def return_url(request: HttpRequest) -> str:
    """Return the URL to go on to after signing in; for a POST, the page that its form was on."""
    if request.method != "POST":
        return request.get_full_path()
    written_on = ON_A_CONVERSATION.match(request.path)
    return written_on[0] if written_on else "/"
