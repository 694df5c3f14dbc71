"""Django's middleware without threads, and the site's own: request ids, time zones, outages, compression."""

from collections.abc import Callable
from functools import partial
from typing import Any

from asgiref.sync import iscoroutinefunction, markcoroutinefunction, sync_to_async
from django.conf import settings
from django.contrib import auth
from django.contrib.auth import middleware as auth_middleware
from django.contrib.messages import middleware as messages_middleware
from django.contrib.sessions import middleware as sessions_middleware
from django.core.exceptions import MiddlewareNotUsed
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.middleware import common, csrf, gzip, locale, security
from django.utils import timezone, translation
from django.utils.functional import SimpleLazyObject

from chat.accounts.proxies import client_address, forwarded_proto, id_of_request
from chat.accounts.timezones import timezone_of
from chat.api.responses import envelope_at
from chat.db.fair_executor import RENDER_POOL
from chat.db.requester import identify
from chat.telemetry import request_id, tracing
from chat.views.requests.errors import without_database
from chat.views.settings import preference_cookies

SEARCH_FIELD = "q"  # of the chat's search and of the lists of the administration
INLINE_BYTES = 8_192  # a shorter response is compressed on the event loop, in a tenth of a millisecond


class AsyncHooksMixin:
    """Mixin before one of Django's middleware classes: under async, its hooks run without a thread each.

    Without an event loop, as under the test client, the class behaves as Django's.

    Patch: `MiddlewareMixin.__acall__`, which runs each hook of each middleware in a thread, although most of
    them only look at headers or set an attribute.
    Buys: 0.14 to 0.28 ms of CPU time for each of six classes, a fifth of a send's together.
    Upstream: https://github.com/django/new-features/issues/102.
    Can go: when Django's own middleware is async.
    """

    async_mode: bool
    get_response: Any

    def __init__(self, get_response: Callable[[HttpRequest], Any]) -> None:
        super().__init__(get_response)  # type: ignore[call-arg]
        if self.async_mode and (hook := getattr(self, "process_view", None)):
            vars(self)["process_view"] = _as_coroutine(hook)

    def needs_thread(self, request: HttpRequest) -> bool:
        """Return True if `process_response` may block, because it accesses the database."""
        return False

    async def __acall__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.process_request(request) if hasattr(self, "process_request") else None
        if response is None:
            response = await self.get_response(request)
        if not hasattr(self, "process_response"):
            return response
        if self.needs_thread(request):
            return await sync_to_async(self.process_response, thread_sensitive=True)(request, response)
        return self.process_response(request, response)


def _as_coroutine(hook: Callable[..., Any]) -> Callable[..., Any]:
    async def process_view(*args: Any) -> Any:
        return hook(*args)

    return process_view


class SyncAndAsyncMiddleware:
    """Base of middleware that is a coroutine function if `get_response` is one, and else a plain function."""

    sync_capable = True
    async_capable = True

    def __init__(self, get_response: Callable[[HttpRequest], Any]) -> None:
        self.get_response = get_response
        self.is_async = iscoroutinefunction(get_response)
        if self.is_async:
            markcoroutinefunction(self)

    def __call__(self, request: HttpRequest) -> Any:
        """Return a response, or an awaitable of one if `get_response` is a coroutine function."""
        return self.get_response(request)


class RequestMiddleware(SyncAndAsyncMiddleware):
    """Give each request an id, for the log and for error pages, and tell the client in X-Request-ID.

    The server has chosen it (`chatsite/server/request_record.py`); under another server it is chosen here. A
    header that a view has set stays: a call of the API has an id of its own. If traces are on, the request's
    span learns its route, and the requests to models whose trace they belong to.
    """

    def __call__(self, request: HttpRequest) -> Any:
        if self.is_async:
            return self._acall(request)
        chosen = self._choose(request, {})
        try:
            return self._tell(self.get_response(request), chosen)
        finally:
            # The thread goes on to other work; an async request ends with its task.
            request_id.request_id.set("")

    async def _acall(self, request: Any) -> HttpResponseBase:
        chosen = self._choose(request, request.scope)
        span = request.scope.get(tracing.SPAN_SCOPE_KEY)
        if span is None:
            return self._tell(await self.get_response(request), chosen)
        tracing.context.set(span.context)
        try:
            return self._tell(await self.get_response(request), chosen)
        finally:
            if request.resolver_match:
                span.set_route(f"/{request.resolver_match.route}")

    def _choose(self, request: HttpRequest, scope: dict[str, Any]) -> str:
        chosen: str = scope.get(request_id.REQUEST_ID_SCOPE_KEY, "")
        if not chosen:
            chosen = id_of_request(request.headers.get(request_id.HEADER, ""))
        request_id.request_id.set(chosen)
        return chosen

    def _tell(self, response: HttpResponseBase, chosen: str) -> HttpResponseBase:
        response.headers.setdefault(request_id.HEADER, chosen)
        return response


class SecurityMiddleware(AsyncHooksMixin, security.SecurityMiddleware):
    """Redirect to https; set HSTS, nosniff, referrer and opener policy."""

    def process_request(self, request: HttpRequest) -> Any:
        """Reduce X-Forwarded-Proto to the part of the site's own proxies, before `is_secure()` reads it."""
        if written := request.META.get("HTTP_X_FORWARDED_PROTO"):
            request.META["HTTP_X_FORWARDED_PROTO"] = forwarded_proto(written, settings.TRUSTED_PROXY)
        return super().process_request(request)


class LanguageMiddleware(AsyncHooksMixin, locale.LocaleMiddleware):
    """Activate the browser's language if the site has it; on the API, English, which programs expect.

    Not used on a site with one language only.
    """

    def __init__(self, get_response: Callable[[HttpRequest], Any]) -> None:
        if len(settings.LANGUAGES) < 2:
            raise MiddlewareNotUsed
        super().__init__(get_response)

    def process_request(self, request: HttpRequest) -> None:
        """Activate the language. The cookie of a person's own choice precedes Accept-Language."""
        if envelope_at(request.path) is None:
            super().process_request(request)
            return
        translation.activate(settings.LANGUAGE_CODE)
        request.LANGUAGE_CODE = settings.LANGUAGE_CODE

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        """Set Content-Language and Vary, on pages only."""
        if response.headers.get("Content-Type", "").startswith("text/html"):
            return super().process_response(request, response)
        return response


class CommonMiddleware(AsyncHooksMixin, common.CommonMiddleware):
    """Refuse foreign hosts, append slashes, set Content-Length."""


class CsrfViewMiddleware(AsyncHooksMixin, csrf.CsrfViewMiddleware):
    """Compare the CSRF cookie with a header or a field. Never blocks: the body was received before."""


class SessionMiddleware(AsyncHooksMixin, sessions_middleware.SessionMiddleware):
    """Attach the session, which is read lazily, and saved only if it has changed."""

    def needs_thread(self, request: HttpRequest) -> bool:
        """Return True if the session has changed, because it is saved then."""
        return request.session.modified or settings.SESSION_SAVE_EVERY_REQUEST


class MessageMiddleware(AsyncHooksMixin, messages_middleware.MessageMiddleware):
    """Store the messages that were added, and delete those that were shown."""

    def needs_thread(self, request: HttpRequest) -> bool:
        """Return True if messages have changed: those that do not fit into a cookie go to the session."""
        storage = getattr(request, "_messages", None)
        return storage is not None and (storage.used or storage.added_new)


class AuthenticationMiddleware(AsyncHooksMixin, auth_middleware.AuthenticationMiddleware):
    """Let `request.user` and `await request.auser()` share one database query, instead of one each.

    What the person prefers follows: pages repeat it in cookies of this browser, and the administration has
    their time zone. Other pages that show times activate it themselves.
    """

    def process_request(self, request: HttpRequest) -> None:
        """Set both on the request; neither queries the database before it is used."""
        super().process_request(request)
        request.user = SimpleLazyObject(partial(_user, request))  # type: ignore[assignment]
        credentials = [request.session.session_key or "", request.META.get("HTTP_AUTHORIZATION", "")]
        identify(credentials, client_address(request))
        request.auser = partial(_auser, request)

    def process_view(self, request: HttpRequest, *view: Any) -> None:
        """Activate the zone, for the times that are shown and for the meaning of “today” in a filter."""
        if is_of_admin(request):
            timezone.activate(timezone_of(request))

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        """Set the cookies that differ, on pages only."""
        if is_of_admin(request):
            timezone.deactivate()  # the thread's next request is another user's
        if response.headers.get("Content-Type", "").startswith("text/html"):
            preference_cookies.synchronise(request, response)
        return response


def is_of_admin(request: HttpRequest) -> bool:
    return request.resolver_match is not None and "admin" in request.resolver_match.app_names


def _user(request: Any) -> Any:
    if not hasattr(request, "_cached_user"):
        preference_cookies.activate(request, auth_middleware.get_user(request))
        if is_of_admin(request):
            timezone.activate(timezone_of(request))
    return request._cached_user


async def _auser(request: Any) -> Any:
    if not hasattr(request, "_cached_user"):
        request._cached_user = request._acached_user = await auth.aget_user(request)
        preference_cookies.activate(request, request._cached_user)
    return request._cached_user


class OutageMiddleware(SyncAndAsyncMiddleware):
    """Answer 503 if the database fails under a view of the administration or of the accounts.

    Views that go through `chat.views.requests.access` or `chat.api` handle that themselves.
    """

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        """Return a response if `error` means that the database cannot be used, else None."""
        return without_database(request, error)


class GZipMiddleware(AsyncHooksMixin, gzip.GZipMiddleware):
    """Compress pages, parts of pages and other texts. Streams pass unchanged.

    The length of a compressed page reveals a secret in it if the page also repeats an attacker's guesses
    (BREACH). A compressed page with a user's conversations repeats nothing that another site can send, its
    only token, for CSRF, is masked anew for each response, and Django adds up to 100 random bytes to each
    response. A page of results repeats the search beside what was found, so it is not compressed.
    """

    async def __acall__(self, request: HttpRequest) -> HttpResponseBase:
        response = await self.get_response(request)
        if response.streaming or len(response.content) < INLINE_BYTES:
            return self.process_response(request, response)
        # In the fair pool, by user: a page of megabytes takes a while, and twenty would occupy all threads.
        person = getattr(getattr(request, "_cached_user", None), "pk", None) or client_address(request)
        return await RENDER_POOL.run(person, self.process_response, request, response)

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        """Return the response, compressed if it is text, not a stream, and the client accepts gzip."""
        is_text = response.get("Content-Type", "").startswith("text/")
        if response.streaming or not is_text or SEARCH_FIELD in request.GET:
            return response
        return super().process_response(request, response)
