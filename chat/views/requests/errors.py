"""Error responses: the same statuses as a page for people and as JSON for programs."""

import math
import sys
from typing import Any

from django.core.exceptions import DisallowedHost
from django.db.utils import Error
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.template.loader import render_to_string
from django.utils.functional import Promise
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.csrf import requires_csrf_token

from chat.api.responses import refused
from chat.db.errors import outage_of, unavailable
from chat.exceptions import AttachmentNotFound, RequestError
from chat.models.site import identity
from chat.telemetry.request_id import request_id

from ..settings import preference_cookies
from .request_fields import wants_json

CODE_OF_STATUS = {
    400: "malformed",
    401: "signed_out",
    403: "forbidden",
    404: "not_found",
    405: "method_not_allowed",
    409: "conflict",
    413: "too_long",
    415: "unsupported_media_type",
    429: "throttled",
    500: "error",
    503: "unavailable",
}
MESSAGE_OF_STATUS = {
    400: _("The server couldn’t understand this request."),
    403: _("You don’t have permission to do this."),
    404: _("This doesn’t exist, or you don’t have access to it."),
    405: _("There is no page at this address."),
    413: _("This is more than the server accepts at once. Shorten it or send it in parts."),
    429: _("Too many requests. Wait a moment, then try again."),
    500: _("Something went wrong on the server. Check whether your changes were saved before you try again."),
    503: _("The server is unavailable right now. Try again in a moment."),
}
MAY_PASS = (429, 500, 503)  # the same request may work later
FOREIGN_HOST = _(
    "This server isn’t set up for this host name. An administrator can add it to ALLOWED_HOSTS or set "
    "SITE_URL, then restart the server."
)
NO_CSRF = _("This form has expired or was sent from another site. Reload the page and try again.")


def refuse(
    request: HttpRequest,
    status: int,
    message: str | Promise = "",
    *,
    code: str = "",
    retry_after: float | None = None,
    **more: Any,
) -> HttpResponse:
    """Return an error response: `{"error": {"code", "message", "retry_after"?, …}}`, or a page.

    Under a URL of the API it is in the format of that dialect. `retry_after` is in seconds, rounded up, and
    also sent as the Retry-After header. `more` is added to the JSON.
    """
    message = str(message or MESSAGE_OF_STATUS.get(status) or gettext("This didn’t work."))
    if (in_dialect := refused(request.path, status, message, retry_after)) is not None:
        return in_dialect
    seconds = None if retry_after is None else max(1, math.ceil(retry_after))
    code = code or CODE_OF_STATUS[status]
    if wants_json(request):
        error = {"code": code, "message": message, **more}
        if seconds is not None:
            error["retry_after"] = seconds
        response: HttpResponse = JsonResponse({"error": error}, status=status)
    else:
        response = _error_page(request, status, code, message)
    if seconds is not None:
        response["Retry-After"] = str(seconds)
    return response


def refuse_error(request: HttpRequest, error: RequestError) -> HttpResponse:
    more: dict[str, Any] = {"run": str(error.run)} if error.run else {}
    if isinstance(error, AttachmentNotFound):
        more["attachments"] = [str(each) for each in error.attachments]
    return refuse(
        request, error.status, error.message, code=error.code, retry_after=error.retry_after, **more
    )


def _error_page(request: HttpRequest, status: int, code: str, message: str) -> HttpResponse:
    again = request.get_full_path() if status in MAY_PASS and request.method == "GET" else ""
    context = {"status": status, "code": code, "reason": message, "again": again}
    if status >= 500:  # others would differ where they must not: what is missing and what is another's
        context["request_id"] = request_id.get()
    context |= preference_cookies.context(request) | {"this_site": identity()}
    return HttpResponse(render_to_string("error.html", context), status=status)


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Return 400. For a disallowed host the page names the setting that admits it, but not the host."""
    return refuse(request, 400, FOREIGN_HOST if isinstance(exception, DisallowedHost) else "")


@requires_csrf_token
def permission_denied(request: HttpRequest, exception: Exception) -> HttpResponse:
    return refuse(request, 403)


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """Return 403 for a request without a valid CSRF token; Django logs the exact reason."""
    return refuse(request, 403, NO_CSRF, code="csrf")


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Return 404, byte for byte the same for another user's object and for a missing one."""
    return refuse(request, 404)


def not_allowed(request: HttpRequest, methods: tuple[str, ...]) -> HttpResponse:
    response = refuse(request, 405)
    response["Allow"] = ", ".join(methods)
    return response


def without_database(request: HttpRequest, error: BaseException) -> HttpResponse | None:
    """Return 503 if `error` means that the database cannot be used now, otherwise None."""
    if not isinstance(error, Error) or outage_of(error) is None:
        return None
    return refuse_error(request, unavailable(error))


def server_error(request: HttpRequest) -> HttpResponse:
    """Return 500, or 503 if the database cannot be used. Queries nothing, because the database may be broken.

    Django calls this while it handles the exception. Exceptions of views have become responses before that:
    these come from middleware, such as a session that could not be saved.
    """
    error = sys.exc_info()[1]
    return (error and without_database(request, error)) or refuse(request, 500)
