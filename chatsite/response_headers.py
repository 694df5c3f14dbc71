"""The headers that tell a browser what our pages may do."""

from typing import Any

from asgiref.sync import iscoroutinefunction
from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase

from chatsite.async_middleware import SyncAndAsyncMiddleware

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


class ResponseHeadersMiddleware(SyncAndAsyncMiddleware):
    """What a browser may do with our pages: run our own files, nothing else. A view's own header stays.

    Trusted Types: on every page only the policy `server-html` (static/js/transcript.js) makes HTML of text,
    so a forgotten `innerHTML` throws instead of running what somebody wrote. Django's own admin pages load
    jQuery, which knows none of this: they go without. A page of the admin that shows conversations and loads
    no jQuery sets `response.trusted_types = True` on what its view returns, and is held to it like ours.
    """

    def __call__(self, request: HttpRequest) -> Any:
        if iscoroutinefunction(self):
            return self._acall(request)
        return self._finish(request, self.get_response(request))

    async def _acall(self, request: HttpRequest) -> HttpResponseBase:
        return self._finish(request, await self.get_response(request))

    def _finish(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        trusted = getattr(response, "trusted_types", not is_of_admin(request))
        for name, value in (HEADERS if trusted else ADMIN_HEADERS).items():
            response.headers.setdefault(name, value)
        if settings.DEBUG and response.status_code >= 400:
            del response.headers["Content-Security-Policy"]  # the developer's error page styles itself inline
        if _is_personal(request):
            response.headers.setdefault("Cache-Control", "no-store")
        return response


def is_of_admin(request: HttpRequest) -> bool:
    return request.resolver_match is not None and "admin" in request.resolver_match.app_names


def _is_personal(request: HttpRequest) -> bool:
    """Whether the answer may show what belongs to one person: somebody looked into a session that exists."""
    session = getattr(request, "session", None)
    return session is not None and session.accessed and not session.is_empty()
