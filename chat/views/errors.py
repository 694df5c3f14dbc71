"""Refusals: the same statuses for everybody, as a page for people and as JSON for programs."""

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

from chat.api import dialects
from chat.db_errors import outage_of, unavailable

from . import preferences

CODES = {
    400: "malformed",
    401: "signed_out",
    403: "forbidden",
    404: "not_found",
    405: "method_not_allowed",
    409: "conflict",
    413: "too_long",
    415: "wrong_type",
    429: "throttled",
    500: "error",
    503: "unavailable",
}
MESSAGES = {
    400: _("This request could not be understood."),
    403: _("Your account does not have the right to do this."),
    404: _("What you asked for does not exist, or it is not yours."),
    405: _("There is no page at this address."),
    413: _("It is more than the server takes at once. Shorten it, or send it in parts."),
    429: _("That was too often. Wait a moment, then try again."),
    500: _(
        "Something went wrong here. What you sent may not have been stored: look before you send it again."
    ),
    503: _("The server cannot take this now. Try again in a moment."),
}
MAY_PASS = (429, 500, 503)  # the same request may work later
FOREIGN_HOST = _(
    "This server does not answer to the name it was called by. Whoever runs it can add the name to the "
    "setting ALLOWED_HOSTS, or write the site’s address into SITE_URL, and start it again."
)
NO_PAGES = ("/runs/", "/messages/", "/models/", "/v1/", "/client/")
NO_CSRF = _(
    "This form is too old, or it was sent from another site. Load the page again and repeat what you did."
)


def is_form(request: HttpRequest) -> bool:
    """Whether the body is a plain HTML form."""
    return request.content_type in ("application/x-www-form-urlencoded", "multipart/form-data")


def is_part(request: HttpRequest) -> bool:
    """Whether our own page asks for a part of one."""
    return request.headers.get("X-Requested-With") == "fetch"


def wants_json(request: HttpRequest) -> bool:
    """Whether a program asks: by what it sends, by what it accepts, or by calling what has no page.

    Many programs accept "*/*", so a call that is neither a form nor a page answers them in JSON.
    """
    if request.content_type in ("application/json", "text/event-stream"):
        return True
    if is_part(request):
        return True
    accept = request.headers.get("Accept", "")
    if "text/html" in accept:
        return False
    if "application/json" in accept or "text/event-stream" in accept:
        return True
    is_call = request.method not in ("GET", "HEAD") and not is_form(request)
    return is_call or request.path.startswith(NO_PAGES)


def refuse(
    request: HttpRequest,
    status: int,
    message: str | Promise = "",
    *,
    code: str = "",
    retry_after: float | None = None,
    **more: Any,
) -> HttpResponse:
    """A refusal with a sentence: `{"error": {"code", "message", "retry_after"?, …}}`, or a page.

    At an address of the API it is written in that one's dialect.

    :param retry_after: seconds; also sent as the header of that name, rounded up.
    """
    message = str(message or MESSAGES.get(status) or gettext("This did not work."))
    if (in_dialect := dialects.refused(request.path, status, message, retry_after)) is not None:
        return in_dialect
    seconds = None if retry_after is None else max(1, math.ceil(retry_after))
    code = code or CODES[status]
    if wants_json(request):
        error = {"code": code, "message": message, **more}
        if seconds is not None:
            error["retry_after"] = seconds
        response: HttpResponse = JsonResponse({"error": error}, status=status)
    else:
        again = request.get_full_path() if status in MAY_PASS and request.method == "GET" else ""
        context = {"status": status, "code": code, "reason": message, "again": again}
        context |= preferences.context(request)
        response = HttpResponse(render_to_string("refused.html", context), status=status)
    if seconds is not None:
        response["Retry-After"] = str(seconds)
    return response


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """400. A refused host's page says which setting lets it in; the name itself is not repeated."""
    return refuse(request, 400, FOREIGN_HOST if isinstance(exception, DisallowedHost) else "")


@requires_csrf_token
def permission_denied(request: HttpRequest, exception: Exception) -> HttpResponse:
    """403."""
    return refuse(request, 403)


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """403 for a form or a call without its token; why in detail stands in the log."""
    return refuse(request, 403, NO_CSRF, code="csrf")


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """404: a stranger's object and a missing one give the same bytes."""
    return refuse(request, 404)


def not_allowed(request: HttpRequest, methods: tuple[str, ...]) -> HttpResponse:
    """405, with the methods that this address takes."""
    response = refuse(request, 405)
    response["Allow"] = ", ".join(methods)
    return response


def without_database(request: HttpRequest, error: BaseException) -> HttpResponse | None:
    """503 where `error` means that the database cannot be used now, else None."""
    if not isinstance(error, Error) or outage_of(error) is None:
        return None
    refusal = unavailable(error)
    return refuse(
        request, refusal.status, refusal.message, code=refusal.code, retry_after=refusal.retry_after
    )


def server_error(request: HttpRequest) -> HttpResponse:
    """500, without a look into the database, which may be what is broken; then it is 503.

    Django calls this while it handles the exception. Those of views have been answered before: what arrives
    here comes from middleware, such as a session that could not be saved.
    """
    error = sys.exc_info()[1]
    return (error and without_database(request, error)) or refuse(request, 500)
