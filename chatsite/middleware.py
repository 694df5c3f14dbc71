"""Django's middleware without threads, and the site's own: time zones, database outages, compression."""

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Any

from django.conf import settings
from django.contrib import auth
from django.contrib.auth import middleware as auth_middleware
from django.contrib.messages import middleware as messages_middleware
from django.contrib.sessions import middleware as sessions_middleware
from django.core.exceptions import MiddlewareNotUsed
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.middleware import clickjacking, common, csrf, gzip, locale, security
from django.utils import timezone
from django.utils.deprecation import MiddlewareMixin

from chat.backends import client_address
from chat.fair_executor import RENDER_POOL
from chat.timezones import timezone_of
from chat.views.errors import without_database
from chatsite.async_middleware import AsyncHooksMixin, SyncAndAsyncMiddleware
from chatsite.proxies import forwarded_proto
from chatsite.response_headers import is_of_admin

AT_ONCE = 8_192  # bytes; a shorter response is compressed on the event loop, in a tenth of a millisecond


class SecurityMiddleware(AsyncHooksMixin, security.SecurityMiddleware):
    """Redirect to https; set HSTS, nosniff, referrer and opener policy."""

    def process_request(self, request: HttpRequest) -> Any:
        """Reduce X-Forwarded-Proto to the part of the site's own proxies, before `is_secure()` reads it."""
        if written := request.META.get("HTTP_X_FORWARDED_PROTO"):
            request.META["HTTP_X_FORWARDED_PROTO"] = forwarded_proto(written, settings.TRUSTED_PROXY)
        return super().process_request(request)


class LanguageMiddleware(AsyncHooksMixin, locale.LocaleMiddleware):
    """Activate the browser's language if the site has it. Not used on a site with one language only."""

    def __init__(self, get_response: Callable[[HttpRequest], Any]) -> None:
        if len(settings.LANGUAGES) < 2:
            raise MiddlewareNotUsed
        super().__init__(get_response)

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        """Set Content-Language and Vary, on pages only."""
        if response.headers.get("Content-Type", "").startswith("text/html"):
            return super().process_response(request, response)
        return response


class CommonMiddleware(AsyncHooksMixin, common.CommonMiddleware):
    """Refuse foreign hosts, append slashes, set Content-Length."""


class CsrfViewMiddleware(AsyncHooksMixin, csrf.CsrfViewMiddleware):
    """Compare the CSRF cookie with a header or a field. Never blocks: the body was received before."""


class XFrameOptionsMiddleware(AsyncHooksMixin, clickjacking.XFrameOptionsMiddleware):
    """Set X-Frame-Options, for browsers that do not support frame-ancestors."""


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
    """Let `request.user` and `await request.auser()` share one database query, instead of one each."""

    def process_request(self, request: HttpRequest) -> None:
        """Set both on the request; neither queries the database before it is used."""
        super().process_request(request)
        request.auser = partial(_auser, request)


async def _auser(request: Any) -> Any:
    if not hasattr(request, "_cached_user"):
        request._cached_user = request._acached_user = await auth.aget_user(request)
    return request._cached_user


class ZoneMiddleware(AsyncHooksMixin, MiddlewareMixin):
    """Activate the user's time zone in the administration; other pages that show times do so themselves."""

    def process_view(self, request: HttpRequest, *view: Any) -> None:
        """Activate the zone, for the times that are shown and for the meaning of “today” in a filter."""
        if is_of_admin(request):
            timezone.activate(timezone_of(request))

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        """Deactivate the zone, because the thread's next request is another user's."""
        if is_of_admin(request):
            timezone.deactivate()
        return response


class OutageMiddleware(SyncAndAsyncMiddleware):
    """Answer 503 if the database fails under a view of the administration or of the accounts.

    Views that go through `chat.views.access` or `chat.api` handle that themselves.
    """

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        """Return a response if `error` means that the database cannot be used, else None."""
        return without_database(request, error)


class GZipMiddleware(AsyncHooksMixin, gzip.GZipMiddleware):
    """Compress pages, parts of pages and other texts. Streams pass unchanged.

    The length of a compressed page reveals a secret in it if the page also repeats an attacker's guesses
    (BREACH). A page with a user's conversations repeats nothing that another site can send, its only token,
    for CSRF, is masked anew for each response, and Django adds up to 100 random bytes to each response.
    """

    async def __acall__(self, request: HttpRequest) -> HttpResponseBase:
        response = await self.get_response(request)
        if response.streaming or len(response.content) < AT_ONCE:
            return self.process_response(request, response)
        # In the fair pool, by user: a page of megabytes takes a while, and twenty would occupy all threads.
        person = getattr(getattr(request, "_cached_user", None), "pk", None) or client_address(request)
        return await asyncio.wrap_future(RENDER_POOL.submit(person, self.process_response, request, response))

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        """Return the response, compressed if it is text, not a stream, and the client accepts gzip."""
        if response.streaming or not response.get("Content-Type", "").startswith("text/"):
            return response
        return super().process_response(request, response)
