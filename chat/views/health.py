"""Liveness and readiness checks for load balancers and monitoring."""

from django.http import HttpRequest, JsonResponse
from django.http.response import HttpResponseBase

from chat.db.errors import OUTAGE_RETRY_SECONDS
from chat.engine.engine import get_engine

from .requests import access


@access.require_methods("GET", "HEAD")
async def alive(request: HttpRequest) -> HttpResponseBase:
    return JsonResponse({"status": "alive"})


@access.require_methods("GET", "HEAD")
async def ready(request: HttpRequest) -> HttpResponseBase:
    """Report readiness for traffic: 503 while the server drains or its database cannot be used."""
    engine = await get_engine()
    if engine.draining:
        return _not_ready("draining")
    if outage := await engine.readiness.check():
        return _not_ready(outage.value)
    return JsonResponse({"status": "ready"})


def _not_ready(reason: str) -> HttpResponseBase:
    return JsonResponse({"status": reason}, status=503, headers={"Retry-After": str(OUTAGE_RETRY_SECONDS)})
