"""Which dialect an address speaks, for refusals that no view of the API makes."""

import re

from django.http import JsonResponse
from django.utils.translation import gettext as _

from . import openai, workers_ai
from .errors import error_at
from .responses import Failure, error_response

OPENAI = re.compile(r"/v1(/|$)|/client/v4/accounts/[^/]*/ai/v1(/|$)")
WORKERS_AI = re.compile(r"/client/v4(/|$)")


def failure_at(path: str) -> Failure | None:
    """The dialect's envelope of an error; None where programs have no business."""
    if OPENAI.match(path):
        return openai.failure
    return workers_ai.failure if WORKERS_AI.match(path) else None


def refused(path: str, status: int, message: str, retry_after: float | None) -> JsonResponse | None:
    """A refusal in the words of the dialect; None where the address is a page's."""
    failure = failure_at(path)
    if failure is None:
        return None
    if status == 404:
        message = _("There is no such call. /v1/openapi.json lists those there are.")
    return error_response(failure, error_at(status, message, retry_after))
