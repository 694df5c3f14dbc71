"""Responses of all dialects: errors and JSON."""

from collections.abc import Callable, Coroutine
from contextlib import aclosing
from functools import wraps
from typing import Any

from django.db.utils import Error
from django.http import HttpRequest, JsonResponse
from django.http.response import HttpResponseBase
from django.utils.translation import gettext as _

from chat.db.errors import unavailable
from chat.engine.generation.api_calls import ActiveCall, CallAborted
from chat.exceptions import RequestError
from chat.upstream.errors import UpstreamError
from chat.wire.delta import Delta, joined

from .errors import ApiError, MethodNotAllowed, error_headers, error_of

ApiView = Callable[..., Coroutine[Any, Any, HttpResponseBase]]
# Returns (HTTP status, body) of an error in one dialect.
ErrorEnvelope = Callable[[ApiError], tuple[int, dict[str, Any]]]


def api_view(envelope: ErrorEnvelope, *methods: str) -> Callable[[ApiView], ApiView]:
    """Allow only these methods, and turn errors into the dialect's envelope.

    The view is exempt from the CSRF check, because the API accepts no cookies.
    """

    def decorate(view: ApiView) -> ApiView:
        @wraps(view)
        async def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            try:
                if request.method not in methods:
                    raise MethodNotAllowed(_("This endpoint doesn’t support this method."))
                return await view(request, *args, **kwargs)
            except (RequestError, UpstreamError, CallAborted) as error:
                problem = error_of(error)
            except Error as error:
                problem = error_of(unavailable(error))
            response = error_response(envelope, problem)
            if problem.status == MethodNotAllowed.status:
                response["Allow"] = ", ".join(methods)
            return response

        guarded.csrf_exempt = True  # type: ignore[attr-defined]  # Django's own mark
        return guarded

    return decorate


def error_response(envelope: ErrorEnvelope, problem: ApiError) -> JsonResponse:
    status, body = envelope(problem)
    return json_response(body, status=status, headers=error_headers(problem))


def json_response(body: dict[str, Any], **options: Any) -> JsonResponse:
    response = JsonResponse(body, json_dumps_params={"ensure_ascii": False}, **options)
    response["Cache-Control"] = "no-store"
    return response


async def read_reply(active_call: ActiveCall) -> Delta:
    """Return the complete reply as one delta. Raises UpstreamError and CallAborted."""
    async with aclosing(active_call.deltas()) as deltas:
        return joined([delta async for delta in deltas])
