"""Django's own middleware for an async server, and what this site adds: time zones, outages, compression."""

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

AT_ONCE = 8_192  # bytes that are compressed on the event loop, in a tenth of a millisecond


class SecurityMiddleware(AsyncHooksMixin, security.SecurityMiddleware):
    """Redirects to https, HSTS, nosniff, referrer and opener policy."""

    def process_request(self, request: HttpRequest) -> Any:
        """Before anything asks whether the request is secure, leave of the header what our proxies wrote."""
        if written := request.META.get("HTTP_X_FORWARDED_PROTO"):
            request.META["HTTP_X_FORWARDED_PROTO"] = forwarded_proto(written, settings.TRUSTED_PROXY)
        return super().process_request(request)


class LanguageMiddleware(AsyncHooksMixin, locale.LocaleMiddleware):
    """The browser's language, where the site has it. A site of one language does without this altogether."""

    def __init__(self, get_response: Callable[[HttpRequest], Any]) -> None:
        if len(settings.LANGUAGES) < 2:
            raise MiddlewareNotUsed
        super().__init__(get_response)

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        """Pages say their language, and that it depends on who asks."""
        if response.headers.get("Content-Type", "").startswith("text/html"):
            return super().process_response(request, response)
        return response


class CommonMiddleware(AsyncHooksMixin, common.CommonMiddleware):
    """Refuses foreign hosts, appends slashes, sets Content-Length."""


class CsrfViewMiddleware(AsyncHooksMixin, csrf.CsrfViewMiddleware):
    """Compares a cookie with a header or a field; the body it may read was received before."""


class XFrameOptionsMiddleware(AsyncHooksMixin, clickjacking.XFrameOptionsMiddleware):
    """X-Frame-Options, for what does not know frame-ancestors."""


class SessionMiddleware(AsyncHooksMixin, sessions_middleware.SessionMiddleware):
    """The session is a lazy object: only a changed one is written."""

    def needs_thread(self, request: HttpRequest) -> bool:
        """A changed session is saved."""
        return request.session.modified or settings.SESSION_SAVE_EVERY_REQUEST


class MessageMiddleware(AsyncHooksMixin, messages_middleware.MessageMiddleware):
    """Stores messages that were added and forgets those that were shown."""

    def needs_thread(self, request: HttpRequest) -> bool:
        """Too many messages for a cookie go to the session."""
        storage = getattr(request, "_messages", None)
        return storage is not None and (storage.used or storage.added_new)


class AuthenticationMiddleware(AsyncHooksMixin, auth_middleware.AuthenticationMiddleware):
    """`request.user` and `await request.auser()` ask the database once between them, not once each."""

    def process_request(self, request: HttpRequest) -> None:
        """Put both on the request; neither asks anything yet."""
        super().process_request(request)
        request.auser = partial(_auser, request)


async def _auser(request: Any) -> Any:
    if not hasattr(request, "_cached_user"):
        request._cached_user = request._acached_user = await auth.aget_user(request)
    return request._cached_user


class ZoneMiddleware(AsyncHooksMixin, MiddlewareMixin):
    """The administration shows times in the reader's zone, as the pages of the chat do that show any."""

    def process_view(self, request: HttpRequest, *view: Any) -> None:
        """For what is shown, and for what “today” means in a filter."""
        if is_of_admin(request):
            timezone.activate(timezone_of(request))

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        """The next request of this thread is somebody else's."""
        if is_of_admin(request):
            timezone.deactivate()
        return response


class OutageMiddleware(SyncAndAsyncMiddleware):
    """A view that met a database that cannot be used is answered with 503: the administration, the accounts.

    What goes through `chat.views.access` or `chat.api` answers by itself.
    """

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        """None where it is another error."""
        return without_database(request, error)


class GZipMiddleware(AsyncHooksMixin, gzip.GZipMiddleware):
    """Compresses what is read as a whole: pages, parts of pages, texts. Streams pass as they are.

    Compression tells by its length whether a page repeats a guess about a secret that stands in it (BREACH).
    Nothing that another site can send stands in a page with a person's conversations, the one token in
    it is masked anew for each response, and Django adds up to 100 random bytes to each.
    """

    async def __acall__(self, request: HttpRequest) -> HttpResponseBase:
        response = await self.get_response(request)
        if response.streaming or len(response.content) < AT_ONCE:
            return self.process_response(request, response)
        # In the person's turn: a page of megabytes takes a while, and twenty of them would fill every thread.
        person = getattr(getattr(request, "_cached_user", None), "pk", None) or client_address(request)
        return await asyncio.wrap_future(RENDER_POOL.submit(person, self.process_response, request, response))

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        """The same, shorter, where it is a text and the browser takes it so."""
        if response.streaming or not response.get("Content-Type", "").startswith("text/"):
            return response
        return super().process_response(request, response)
