"""Responses of all dialects: errors and JSON."""

import re
from collections.abc import Callable, Coroutine
from contextlib import aclosing
from functools import wraps
from typing import Any

from django.db.utils import Error
from django.http import HttpRequest, JsonResponse
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils.translation import gettext as _

from chat.db.errors import unavailable
from chat.engine.generation.api_calls import ActiveCall, CallAborted
from chat.exceptions import RequestError
from chat.upstream.errors import UpstreamError
from chat.wire.delta import Delta, joined

from .errors import (
    ApiError,
    MethodNotAllowed,
    error_at,
    error_headers,
    error_of,
    openai_error,
    workers_ai_error,
)

REQUEST_ID_HEADER = "X-Request-Id"
REQUESTED_MODEL = "X-Requested-Model"
LOG_ID_HEADER, CACHE_STATUS_HEADER, STEP_HEADER = "cf-aig-log-id", "cf-aig-cache-status", "cf-aig-step"
SERVED_BY = "cf-aig-model"  # the model that a route or a fallback of the gateway chose
NEURONS_HEADER = "cf-ai-neurons"
ApiView = Callable[..., Coroutine[Any, Any, HttpResponseBase]]
# Returns (HTTP status, body) of an error in one dialect.
ErrorEnvelope = Callable[[ApiError], tuple[int, dict[str, Any]]]
# Also addresses without their /v1, or with something before it, as a wrong base URL makes them.
OPENAI_PATH = re.compile(
    r"/v1(/|$)|/client/v4/accounts/[^/]*/ai/v1(/|$)"
    r"|/((api|openai)/)?(v1/)?(chat/completions|completions|responses|embeddings)/?$|/(api|openai)/v1/"
)
WORKERS_AI = re.compile(r"/client/v4(/|$)")


def call_headers(active_call: ActiveCall) -> dict[str, str]:
    """Return the headers of a call whose response has begun.

    They hold its id, the requested model if that one is retired, and the gateway's information.
    """
    log_ref = active_call.gateway_log_ref
    known = {
        REQUEST_ID_HEADER: str(active_call.call.pk),
        REQUESTED_MODEL: active_call.requested,
        LOG_ID_HEADER: log_ref.log_id,
        CACHE_STATUS_HEADER: log_ref.cache_status,
        SERVED_BY: log_ref.served_by,
        STEP_HEADER: "" if log_ref.step is None else str(log_ref.step),
    }
    return {name: value for name, value in known.items() if value}


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


def envelope_at(path: str) -> ErrorEnvelope | None:
    """Return the error envelope of the URL's dialect, None outside the API."""
    path = f"/{path.lstrip('/')}"  # a base URL may end in a slash
    if OPENAI_PATH.match(path):
        return openai_error
    return workers_ai_error if WORKERS_AI.match(path) else None


def refused(path: str, status: int, message: str, retry_after: float | None) -> JsonResponse | None:
    """Return an error response in the URL's dialect, None outside the API. `retry_after` in seconds."""
    envelope = envelope_at(path)
    if envelope is None:
        return None
    if status == 404:
        message = _(
            "There is no such endpoint. Send questions to %(chat)s. /v1/openapi.json lists all endpoints."
        ) % {"chat": reverse("chat:chat_completions")}
    return error_response(envelope, error_at(status, message, retry_after))
