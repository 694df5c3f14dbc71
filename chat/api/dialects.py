"""Error responses in the dialect of a URL, for errors outside the views of the API."""

import re

from django.http import JsonResponse
from django.urls import reverse
from django.utils.translation import gettext as _

from . import openai, workers_ai
from .errors import error_at
from .responses import ErrorEnvelope, error_response

# Also addresses without their /v1, or with something before it, as a wrong base URL makes them.
OPENAI_PATH = re.compile(
    r"/v1(/|$)|/client/v4/accounts/[^/]*/ai/v1(/|$)"
    r"|/((api|openai)/)?(v1/)?(chat/completions|completions|responses|embeddings)/?$|/(api|openai)/v1/"
)
WORKERS_AI = re.compile(r"/client/v4(/|$)")


def envelope_at(path: str) -> ErrorEnvelope | None:
    """Return the error envelope of the URL's dialect, None outside the API."""
    path = f"/{path.lstrip('/')}"  # a base URL may end in a slash
    if OPENAI_PATH.match(path):
        return openai.error_envelope
    return workers_ai.error_envelope if WORKERS_AI.match(path) else None


def refused(path: str, status: int, message: str, retry_after: float | None) -> JsonResponse | None:
    """Return an error response in the URL's dialect, None outside the API. `retry_after` in seconds."""
    envelope = envelope_at(path)
    if envelope is None:
        return None
    if status == 404:
        message = _(
            "There is no such endpoint. Models are asked at %(chat)s; /v1/openapi.json lists all endpoints."
        ) % {"chat": reverse("chat:chat_completions")}
    return error_response(envelope, error_at(status, message, retry_after))
