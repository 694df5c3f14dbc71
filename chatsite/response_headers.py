"""Security headers of the responses: what a browser lets the site's pages do."""

from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.deprecation import MiddlewareMixin

from chatsite.middleware import AsyncHooksMixin, is_of_admin

CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; "
    "connect-src 'self'; manifest-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
TRUSTED_TYPES = "require-trusted-types-for 'script'; trusted-types server-html"
SECURITY_HEADERS = {
    "Content-Security-Policy": f"{CSP}; frame-src 'self'; {TRUSTED_TYPES}",  # frames: previews of code
    "X-Frame-Options": "DENY",  # for browsers that do not support frame-ancestors
    "Permissions-Policy": "accelerometer=(), camera=(), display-capture=(), geolocation=(), gyroscope=(), "
    "magnetometer=(), microphone=(), midi=(), payment=(), usb=(), browsing-topics=()",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Embedder-Policy": "require-corp",
    "X-DNS-Prefetch-Control": "off",
}
# A static file that is opened as a page loads and runs nothing. The other headers are about pages, and would
# be a third of what a browser loads for a module.
STATIC_FILE_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Frame-Options": "DENY",
}
ADMIN_HEADERS = SECURITY_HEADERS | {"Content-Security-Policy": CSP}


class ResponseHeadersMiddleware(AsyncHooksMixin, MiddlewareMixin):
    """Set the security headers: pages may load the site's own files only. A header set by a view stays.

    Trusted Types: only the policy `server-html` (static/js/page.js) may turn text into HTML, so that a
    forgotten `innerHTML` throws instead of running what a user wrote. Django's own admin pages do without it,
    because they load jQuery, which does not support it. An admin view whose page loads no jQuery opts in with
    `response.trusted_types = True` on its response, as those that show conversations do.
    """

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        """Set the headers that the response lacks."""
        for name, value in _headers_for(request, response).items():
            response.headers.setdefault(name, value)
        if settings.DEBUG and response.status_code >= 400:
            del response.headers["Content-Security-Policy"]  # Django's debug page has inline styles
        if _is_personal(request):
            response.headers.setdefault("Cache-Control", "no-store")
        return response


def _headers_for(request: HttpRequest, response: HttpResponseBase) -> dict[str, str]:
    if request.path_info.startswith(settings.STATIC_URL) and response.status_code < 400:
        return STATIC_FILE_HEADERS
    trusted = getattr(response, "trusted_types", not is_of_admin(request))
    return SECURITY_HEADERS if trusted else ADMIN_HEADERS


def _is_personal(request: HttpRequest) -> bool:
    """Return True if the response may hold a user's data: a session was accessed that is not empty."""
    session = getattr(request, "session", None)
    return session is not None and session.accessed and not session.is_empty()
