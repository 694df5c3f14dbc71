"""The address at which Prometheus reads the metrics."""

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase

from chat.telemetry.metrics import exposition

from .requests import access


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
