"""Verification of a key, as Cloudflare does for its tokens: SDKs and tools call it before anything else.

https://developers.cloudflare.com/api/resources/user/subresources/tokens/methods/verify/
"""

from typing import Any

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.translation import gettext as _

from chat.db.executor import run_in_db
from chat.engine.engine import get_engine

from .auth import authenticate
from .responses import api_view, json_response
from .workers_ai import envelope, error_envelope

TOKEN_VALID_CODE = 10000  # the code that Cloudflare sends with this message


@api_view(error_envelope, "GET", "HEAD")
async def verify(request: HttpRequest, **address: Any) -> HttpResponseBase:
    """Return the status of the request's key; 401 if it is not valid."""
    await get_engine()
    key = await run_in_db(authenticate, request)
    result: dict[str, Any] = {"id": key.pk.hex, "status": "active"}
    if key.expires:
        result["expires_on"] = key.expires.strftime("%Y-%m-%dT%H:%M:%SZ")
    valid = {"code": TOKEN_VALID_CODE, "message": _("This API key is valid."), "type": None}
    return json_response(envelope(result) | {"messages": [valid]})
