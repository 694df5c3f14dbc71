"""Whether a key is good, as Cloudflare tells it of its tokens: SDKs and tools ask before anything else.

https://developers.cloudflare.com/api/resources/user/subresources/tokens/methods/verify/
"""

from typing import Any

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.translation import gettext as _

from chat.db import run_in_db
from chat.engine.engine import get_engine

from .auth import authenticate
from .responses import api_view, json_response
from .workers_ai import envelope, failure

VALID = 10000  # the number that Cloudflare's sentence has


@api_view(failure, "GET", "HEAD")
async def verify(request: HttpRequest, **address: Any) -> HttpResponseBase:
    """The state of the key that the call bears; a bad one is refused."""
    await get_engine()
    key = await run_in_db(authenticate, request)
    result: dict[str, Any] = {"id": key.pk.hex, "status": "active"}
    if key.expires:
        result["expires_on"] = key.expires.strftime("%Y-%m-%dT%H:%M:%SZ")
    valid = {"code": VALID, "message": _("This API key is valid."), "type": None}
    return json_response(envelope(result) | {"messages": [valid]})
