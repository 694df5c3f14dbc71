"""Access control of views: look up the user and the objects they own, and turn refusals into responses.

The look-ups query the database, so they run in a database thread.
"""

import re
import uuid
from collections.abc import Callable, Coroutine
from functools import partial, wraps
from inspect import iscoroutinefunction
from typing import Any, TypeVar, cast

from django.contrib.auth.views import redirect_to_login
from django.db.models import Model, QuerySet
from django.db.utils import Error
from django.http import HttpRequest, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils.translation import gettext as _

from chat.catalog import catalog
from chat.db import requester
from chat.db.errors import unavailable
from chat.db.executor import run_in_db
from chat.exceptions import BadRequest, NotAuthenticated, NotFound, RequestError
from chat.models import Conversation, Message, Run, User
from chat.upstream.catalog import Catalog, LlmModel, UnknownModel

from . import request_fields
from .errors import not_allowed, refuse_error
from .request_fields import is_navigation, is_part, wants_json
from .responses import HttpResponseSeeOther

Row = TypeVar("Row", bound=Model)
AsyncView = Callable[..., Coroutine[Any, Any, HttpResponseBase]]
View = AsyncView | Callable[..., HttpResponseBase]
# The beginning of a form's address that is the address of the page with the form.
PAGE_OF_FORM = re.compile(
    r"/c/[0-9a-f-]{36}/(?!undelete/)|/settings/(?:[a-z]+/)?|/messages/[0-9a-f-]{36}/share/"
)


def get_user(request: HttpRequest) -> User:
    """Return the signed-in user. Raises NotAuthenticated, also for a disabled account."""
    user = request.user
    if not isinstance(user, User) or not user.is_active:
        raise NotAuthenticated(_("You’re signed out. Sign in to continue."))
    requester.remember(request.session.session_key or "", user.pk)
    # The user itself: Django's lazy object would keep the request in memory, for as long as a run lives.
    real_user: User = vars(user).get("_wrapped", user)
    return real_user


def get_models(request: HttpRequest) -> Catalog:
    """Return the models that the user may use now. Raises NotAuthenticated."""
    return catalog.catalog_for_user(catalog.current.get(), get_user(request))


def get_model_or_400(models: Catalog, name: str) -> LlmModel:
    """Return the model with this id. Raises BadRequest."""
    try:
        return models.get(name)
    except UnknownModel as error:
        raise BadRequest(_("This model isn’t available here. Choose another one.")) from error


def get_conversation_or_404(request: HttpRequest, conversation: uuid.UUID) -> Conversation:
    """Return the user's own conversation. Raises NotAuthenticated and NotFound."""
    user = get_user(request)
    own_conversation = Conversation.objects.owned_by(user).filter(pk=conversation).first()
    if own_conversation is None:
        raise NotFound(_("This chat doesn’t exist."))
    own_conversation.user = user  # as it was read with its preferences
    return own_conversation


def get_message_or_404(request: HttpRequest, message: uuid.UUID) -> Message:
    """Return a message of the user's own conversations. Raises NotAuthenticated and NotFound."""
    own_message = Message.objects.owned_by(get_user(request)).filter(pk=message).first()
    if own_message is None:
        raise NotFound(_("This message doesn’t exist."))
    return own_message


def get_run_or_404(request: HttpRequest, run: uuid.UUID) -> Run:
    """Return the run with its message and its worker loaded. Raises NotAuthenticated and NotFound."""
    runs = Run.objects.owned_by(get_user(request)).select_related("message", "worker")
    own_run = runs.filter(pk=run).first()
    if own_run is None:
        raise NotFound(_("This reply doesn’t exist."))
    return own_run


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
    row = among.filter(pk=key).first()
    if row is None:
        raise NotFound(_("“%(name)s” doesn’t match anything here.") % {"name": parameter})
    return row


def require_methods(*methods: str, page: bool = False, part: bool = False) -> Callable[[View], AsyncView]:
    """Allow only these methods, and turn RequestError and database outages into JSON or HTML responses.

    A view that is no coroutine function runs in a database thread. `page`: reading it while signed out leads
    to the login page, whatever the request accepts; only a script that fetches a part of it gets 401.
    `part`: the response is only a part of the chat page, so a browser that opens it is led to the chat.
    """

    def decorate(view: View) -> AsyncView:
        call = cast(AsyncView, view if iscoroutinefunction(view) else partial(run_in_db, view))

        @wraps(view)
        async def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            if request.method not in methods:
                return not_allowed(request, methods)
            if part and is_navigation(request):
                return HttpResponseSeeOther(reverse("chat:home"))
            try:
                return await call(request, *args, **kwargs)
            except NotAuthenticated as refusal:
                reads_page = page and request.method in ("GET", "HEAD") and not is_part(request)
                if reads_page or not wants_json(request):
                    return login_redirect(request)
                return refuse_error(request, refusal)
            except RequestError as refusal:
                return refuse_error(request, refusal)
            except Error as error:
                return refuse_error(request, unavailable(error))

        return guarded

    return decorate


def login_redirect(request: HttpRequest) -> HttpResponseRedirect:
    """Redirect to the login page, which leads back to `return_url`."""
    return redirect_to_login(return_url(request))


def return_url(request: HttpRequest) -> str:
    """Return the URL to go on to after signing in; for a POST, the page that its form was on."""
    if request.method != "POST":
        return request.get_full_path()
    written_on = PAGE_OF_FORM.match(request.path)
    return written_on[0] if written_on else "/"
