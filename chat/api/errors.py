"""Errors of API calls: every failure with its HTTP status and its codes in both dialects."""

import math
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from chat.engine.generation.api_calls import REVOKED, CallAborted
from chat.exceptions import RequestError
from chat.upstream.error_kinds import KIND_OF_CODE
from chat.upstream.errors import ErrorKind, UpstreamError

# Cloudflare's code for each code of a RequestError.
CLOUDFLARE_CODES = {
    "invalid_api_key": 10000,
    "insufficient_permissions": 10000,
    "model_not_found": 5007,
    "too_long": 3006,
    "draining": 3040,
    "model_busy": 3040,
    "method_not_allowed": 7001,
    "unknown_url": 7003,
    "rate_limit_exceeded": 971,
    "server_error": 7009,
    "unavailable": 7009,
}
ERROR_TYPE_OF_STATUS = {403: "permission_error", 408: "server_error", 429: "rate_limit_error"}
ERROR_TYPE_OF_CODE = {"insufficient_quota": "insufficient_quota"}
STATUS_OF_NUMBER = {2016: 424, 5007: 400, 5021: 413}  # where Cloudflare's status differs from OpenAI's
MALFORMED_CODE = 5006
CAPACITY_CODE = 3040
# (HTTP status, OpenAI's code, Cloudflare's code). AUTH concerns the credentials of the site's account: API
# clients are told no more than that the upstream is broken.
UPSTREAM_ERRORS = {
    ErrorKind.AUTH: (502, "upstream_unavailable", 7009),
    ErrorKind.NOT_PERMITTED: (403, "model_not_permitted", 5035),
    ErrorKind.UNKNOWN_MODEL: (404, "model_not_found", 5007),
    ErrorKind.TOO_LONG: (400, "context_length_exceeded", 5021),
    ErrorKind.QUOTA: (429, "insufficient_quota", 3036),
    ErrorKind.THROTTLED: (429, "rate_limit_exceeded", 3021),
    ErrorKind.BUSY: (429, "model_busy", 3040),
    ErrorKind.TIMEOUT: (408, "timeout", 3046),
    ErrorKind.BLOCKED: (400, "content_filter", 2016),
    ErrorKind.CREDITS: (402, "insufficient_credits", 2021),
    ErrorKind.INVALID: (400, "invalid_request", 5006),
    ErrorKind.UNAVAILABLE: (503, "upstream_unavailable", 7009),
    ErrorKind.INTERRUPTED: (502, "interrupted", 7009),
}
# Kinds whose message includes the model server's own words, because they help the client's developer. The
# others are about the site's account.
KINDS_WITH_DETAIL = {*ErrorKind} - {ErrorKind.AUTH, ErrorKind.QUOTA, ErrorKind.CREDITS, ErrorKind.INTERRUPTED}


class InvalidApiKey(RequestError):
    status, code = 401, "invalid_api_key"


class PermissionDenied(RequestError):
    """The key is valid but lacks the permission."""

    status, code = 403, "insufficient_permissions"


class ModelNotFound(RequestError):
    status, code = 404, "model_not_found"


class MethodNotAllowed(RequestError):
    status, code = 405, "method_not_allowed"


class UnknownUrl(RequestError):
    status, code = 404, "unknown_url"


class TooManyRequests(RequestError):
    status, code = 429, "model_busy"


@dataclass(frozen=True, slots=True)
class ApiError:
    """`code` and `status` are OpenAI's, `number` and `own_status` Cloudflare's; `param` names a field.

    `retry_after`: seconds; `final`: a retry is of no use.
    """

    status: int
    code: str
    number: int
    message: str
    retry_after: float | None = None
    final: bool = False
    param: str | None = None
    own_status: int | None = None


# OpenAI's code by HTTP status, for errors outside the views of the API.
OPENAI_CODES = {
    401: "invalid_api_key",
    404: UnknownUrl.code,
    405: MethodNotAllowed.code,
    413: "too_long",
    429: "rate_limit_exceeded",
    500: "server_error",
    503: "unavailable",
}


def error_of(error: RequestError | UpstreamError | CallAborted) -> ApiError:
    if isinstance(error, RequestError):
        number = CLOUDFLARE_CODES.get(error.code, CAPACITY_CODE if error.status == 503 else MALFORMED_CODE)
        return ApiError(
            error.status, error.code, number, error.message, error.retry_after, param=error.param or None
        )
    if isinstance(error, CallAborted):
        if error.code == REVOKED:
            code, message = InvalidApiKey.code, _("This API key was revoked.")
            return ApiError(InvalidApiKey.status, code, CLOUDFLARE_CODES[code], message, final=True)
        message = _("The server is restarting. Try again in a moment.")
        return ApiError(503, error.code, CLOUDFLARE_CODES["draining"], message, 5)
    return _error_of_upstream(error)


def _error_of_upstream(error: UpstreamError) -> ApiError:
    status, code, number = UPSTREAM_ERRORS.get(error.kind, UPSTREAM_ERRORS[ErrorKind.UNAVAILABLE])
    own_status = None
    if error.code in KIND_OF_CODE and error.kind is not ErrorKind.AUTH:
        number, own_status = int(error.code), error.status
    if error.kind is ErrorKind.CREDITS and error.status == 429:
        status, code = 429, "insufficient_quota"
    message = _(error.message)
    if error.detail and error.from_server and error.kind in KINDS_WITH_DETAIL and not error.is_redacted:
        message = f"{message} ({error.detail})"
    param = error.param or ("messages" if error.kind is ErrorKind.TOO_LONG else None)
    if error.kind is ErrorKind.INVALID:
        code = error.word or code
    return ApiError(status, code, number, message, error.retry_after, error.permanent, param, own_status)


def error_at(status: int, message: str, retry_after: float | None) -> ApiError:
    """Return the error for a failure at a URL of the API outside its views. `retry_after` in seconds."""
    code = OPENAI_CODES.get(status, "malformed")
    return ApiError(status, code, CLOUDFLARE_CODES.get(code, MALFORMED_CODE), message, retry_after)


def openai_error(problem: ApiError) -> tuple[int, dict[str, Any]]:
    """Return (HTTP status, body) of an error in OpenAI's API."""
    usual = "server_error" if problem.status >= 500 else "invalid_request_error"
    error = {
        "message": problem.message,
        "type": ERROR_TYPE_OF_CODE.get(problem.code) or ERROR_TYPE_OF_STATUS.get(problem.status, usual),
        "param": problem.param,
        "code": problem.code,
    }
    return problem.status, {"error": error}


def workers_ai_error(problem: ApiError) -> tuple[int, dict[str, Any]]:
    """Return (HTTP status, body) of an error in Workers AI's API."""
    error = {"code": problem.number, "message": problem.message}
    body = {"result": None, "success": False, "errors": [error], "messages": []}
    return problem.own_status or STATUS_OF_NUMBER.get(problem.number, problem.status), body


def error_headers(problem: ApiError) -> dict[str, str]:
    """Return the headers of an error response.

    Both SDKs are made by Stainless, whose clients retry 429 and 5xx unless `x-should-retry` is "false".
    """
    found: dict[str, Any] = {}
    if problem.retry_after is not None:
        found["Retry-After"] = str(max(1, math.ceil(problem.retry_after)))
    if problem.status == InvalidApiKey.status:
        found["WWW-Authenticate"] = "Bearer"
    if problem.final:
        found["x-should-retry"] = "false"
    return found
