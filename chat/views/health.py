"""The pages for load balancers and monitoring: liveness, readiness and the metrics."""

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase

from chat.db.errors import OUTAGE_RETRY_SECONDS
from chat.engine.engine import get_engine
from chat.telemetry.metrics import exposition

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


@access.require_methods("GET", "HEAD")
async def metrics(request: HttpRequest) -> HttpResponseBase:
    """Show the metrics to who has METRICS_TOKEN. With METRICS_BIND, only that address shows them.

    401, not 404: the address is in the documentation, and a wrong token has to look different from none set.
    """
    if not settings.METRICS_TOKEN or settings.METRICS_BIND:
        raise Http404
    if not exposition.may_read(request.headers.get("Authorization", "")):
        challenge = {"WWW-Authenticate": exposition.CHALLENGE}
        return HttpResponse("METRICS_TOKEN is needed.\n", "text/plain", 401, headers=challenge)
    return HttpResponse(await exposition.render(), exposition.CONTENT_TYPE)
