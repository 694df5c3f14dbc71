"""Django's own middleware for an async server, static files, and the headers every response carries.

`MiddlewareMixin` runs each hook of each middleware in a thread: with Django's seven defaults that is thirteen
hops, about as much time as the rest of the request. Most of these hooks only look at headers or set an
attribute. `Inline` calls them where they are; the two that may reach the database say when, and only then get
their thread.
Without an event loop (the test client) everything is Django's.
"""

import asyncio
from collections.abc import Callable
from functools import partial
from pathlib import Path
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
from django.middleware import clickjacking, common, csrf, gzip, locale, security
from django.utils import timezone
from django.utils.deprecation import MiddlewareMixin
from whitenoise.middleware import WhiteNoiseMiddleware

from chat.backends import client_address
from chat.engine.fair import rendering
from chat.views.errors import without_database
from chat.views.zone import zone
from chatsite.proxies import forwarded_proto
from chatsite.storage import StaticStorage

MANIFEST = f"{settings.STATIC_URL}{StaticStorage.manifest_name}"  # lists every file; no browser needs it
AT_ONCE = 8_192  # bytes that are compressed on the event loop, in a tenth of a millisecond


class Inline:
    """Goes before one of Django's middleware classes: the same hooks, without a thread each under async."""

    async_mode: bool
    get_response: Any

    def __init__(self, get_response: Callable[[HttpRequest], Any]) -> None:
        super().__init__(get_response)  # type: ignore[call-arg]
        if self.async_mode and (hook := getattr(self, "process_view", None)):
            vars(self)["process_view"] = _as_coroutine(hook)

    def reaches_database(self, request: HttpRequest) -> bool:
        """Whether `process_response` may block, so that it belongs in a thread."""
        return False

    async def __acall__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.process_request(request) if hasattr(self, "process_request") else None
        if response is None:
            response = await self.get_response(request)
        if not hasattr(self, "process_response"):
            return response
        if self.reaches_database(request):
            return await sync_to_async(self.process_response, thread_sensitive=True)(request, response)
        return self.process_response(request, response)


def _as_coroutine(hook: Callable[..., Any]) -> Callable[..., Any]:
    async def process_view(*args: Any) -> Any:
        return hook(*args)

    return process_view


class SecurityMiddleware(Inline, security.SecurityMiddleware):
    """Redirects to https, HSTS, nosniff, referrer and opener policy."""

    def process_request(self, request: HttpRequest) -> Any:
        """Before anything asks whether the request is secure, leave of the header what our proxies wrote."""
        if written := request.META.get("HTTP_X_FORWARDED_PROTO"):
            request.META["HTTP_X_FORWARDED_PROTO"] = forwarded_proto(written, settings.TRUSTED_PROXY)
        return super().process_request(request)


class LanguageMiddleware(Inline, locale.LocaleMiddleware):
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


class CommonMiddleware(Inline, common.CommonMiddleware):
    """Refuses foreign hosts, appends slashes, sets Content-Length."""


class CsrfViewMiddleware(Inline, csrf.CsrfViewMiddleware):
    """Compares a cookie with a header or a field; the body it may read was received before."""


class XFrameOptionsMiddleware(Inline, clickjacking.XFrameOptionsMiddleware):
    """X-Frame-Options, for what does not know frame-ancestors."""


class SessionMiddleware(Inline, sessions_middleware.SessionMiddleware):
    """The session is a lazy object: only a changed one is written."""

    def reaches_database(self, request: HttpRequest) -> bool:
        """A changed session is saved."""
        return request.session.modified or settings.SESSION_SAVE_EVERY_REQUEST


class MessageMiddleware(Inline, messages_middleware.MessageMiddleware):
    """Stores messages that were added and forgets those that were shown."""

    def reaches_database(self, request: HttpRequest) -> bool:
        """Too many messages for a cookie go to the session."""
        storage = getattr(request, "_messages", None)
        return storage is not None and (storage.used or storage.added_new)


class AuthenticationMiddleware(Inline, auth_middleware.AuthenticationMiddleware):
    """`request.user` and `await request.auser()` ask the database once between them, not once each."""

    def process_request(self, request: HttpRequest) -> None:
        """Put both on the request; neither asks anything yet."""
        super().process_request(request)
        request.auser = partial(_auser, request)


async def _auser(request: Any) -> Any:
    if not hasattr(request, "_cached_user"):
        request._cached_user = request._acached_user = await auth.aget_user(request)
    return request._cached_user


class ZoneMiddleware(Inline, MiddlewareMixin):
    """The administration shows times in the reader's zone, as the pages of the chat do that show any."""

    def process_view(self, request: HttpRequest, *view: Any) -> None:
        """For what is shown, and for what “today” means in a filter."""
        if _is_of_admin(request):
            timezone.activate(zone(request))

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        """The next request of this thread is somebody else's."""
        if _is_of_admin(request):
            timezone.deactivate()
        return response


class OutageMiddleware:
    """A view that met a database that cannot be used is answered with 503: the administration, the accounts.

    What goes through `chat.views.gate` or `chat.api` answers by itself.
    """

    sync_capable = True
    async_capable = True

    def __init__(self, get_response: Callable[[HttpRequest], Any]) -> None:
        self.get_response = get_response
        if iscoroutinefunction(get_response):
            markcoroutinefunction(self)

    def __call__(self, request: HttpRequest) -> Any:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        """None where it is another error."""
        return without_database(request, error)


class GZipMiddleware(Inline, gzip.GZipMiddleware):
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
        return await asyncio.wrap_future(rendering.submit(person, self.process_response, request, response))

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        """The same, shorter, where it is a text and the browser takes it so."""
        if response.streaming or not response.get("Content-Type", "").startswith("text/"):
            return response
        return super().process_response(request, response)


class StaticMiddleware(WhiteNoiseMiddleware):
    """WhiteNoise for an async server: a path that is no file costs one dictionary look-up, and no thread."""

    sync_capable = True
    async_capable = True

    def __init__(self, get_response: Callable[[HttpRequest], Any]) -> None:
        Path(settings.STATIC_ROOT).mkdir(
            parents=True, exist_ok=True
        )  # else WhiteNoise warns on a first start
        super().__init__(get_response)
        if iscoroutinefunction(get_response):
            markcoroutinefunction(self)

    def add_file_to_dictionary(self, url: str, path: str, stat_cache: Any = None) -> None:
        if url != MANIFEST:
            super().add_file_to_dictionary(url, path, stat_cache)

    def find_file(self, url: str) -> Any:
        return None if url == MANIFEST else super().find_file(url)

    def __call__(self, request: HttpRequest) -> Any:
        return self._acall(request) if iscoroutinefunction(self) else super().__call__(request)

    async def _acall(self, request: HttpRequest) -> HttpResponseBase:
        file = self.files.get(request.path_info)
        if file is None and self.autorefresh and request.path_info.startswith(self.static_prefix):
            file = await sync_to_async(self.find_file)(request.path_info)
        if file is None:
            return await self.get_response(request)
        return await sync_to_async(self._read, thread_sensitive=False)(file, request)

    def _read(self, file: Any, request: HttpRequest) -> HttpResponse:
        """The whole file at once: an iterator over it would be read whole by the handler as well."""
        streamed = self.serve(file, request)
        try:
            return HttpResponse(streamed.getvalue(), status=streamed.status_code, headers=streamed.headers)
        finally:
            streamed.close()


CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; "
    "connect-src 'self'; manifest-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
TRUSTED_TYPES = "require-trusted-types-for 'script'; trusted-types server-html"
HEADERS = {
    "Content-Security-Policy": f"{CSP}; {TRUSTED_TYPES}",
    "Permissions-Policy": "accelerometer=(), camera=(), display-capture=(), geolocation=(), gyroscope=(), "
    "magnetometer=(), microphone=(), midi=(), payment=(), usb=(), browsing-topics=()",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Embedder-Policy": "require-corp",
    "X-DNS-Prefetch-Control": "off",
}
ADMIN_HEADERS = HEADERS | {"Content-Security-Policy": CSP}


class ResponseHeadersMiddleware:
    """What a browser may do with our pages: run our own files, nothing else. A view's own header stays.

    Trusted Types: on every page only the policy `server-html` (static/js/transcript.js) makes HTML of text,
    so a forgotten `innerHTML` throws instead of running what somebody wrote. Django's own admin pages load
    jQuery, which knows none of this: they go without. A page of the admin that shows conversations and loads
    no jQuery sets `response.trusted_types = True` on what its view returns, and is held to it like ours.
    """

    sync_capable = True
    async_capable = True

    def __init__(self, get_response: Callable[[HttpRequest], Any]) -> None:
        self.get_response = get_response
        if iscoroutinefunction(get_response):
            markcoroutinefunction(self)

    def __call__(self, request: HttpRequest) -> Any:
        if iscoroutinefunction(self):
            return self._acall(request)
        return self._finish(request, self.get_response(request))

    async def _acall(self, request: HttpRequest) -> HttpResponseBase:
        return self._finish(request, await self.get_response(request))

    def _finish(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        trusted = getattr(response, "trusted_types", not _is_of_admin(request))
        for name, value in (HEADERS if trusted else ADMIN_HEADERS).items():
            response.headers.setdefault(name, value)
        if settings.DEBUG and response.status_code >= 400:
            del response.headers["Content-Security-Policy"]  # the developer's error page styles itself inline
        if _is_personal(request):
            response.headers.setdefault("Cache-Control", "no-store")
        return response


def _is_of_admin(request: HttpRequest) -> bool:
    return request.resolver_match is not None and "admin" in request.resolver_match.app_names


def _is_personal(request: HttpRequest) -> bool:
    """Whether the answer may show what belongs to one person: somebody looked into a session that exists."""
    session = getattr(request, "session", None)
    return session is not None and session.accessed and not session.is_empty()
