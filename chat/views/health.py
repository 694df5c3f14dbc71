"""For whoever watches over the server."""

from django.db import DatabaseError, connection
from django.http import HttpRequest, JsonResponse
from django.http.response import HttpResponseBase

from chat.engine.database import in_database
from chat.engine.engine import engine

from . import gate


@gate.takes("GET", "HEAD")
async def alive(request: HttpRequest) -> HttpResponseBase:
    return JsonResponse({"status": "alive"})


@gate.takes("GET", "HEAD")
async def ready(request: HttpRequest) -> HttpResponseBase:
    """Whether to send people here: 503 while the server drains or cannot reach its database."""
    if (await engine()).draining:
        return JsonResponse({"status": "draining"}, status=503)
    try:
        await in_database(_ask_database)
    except DatabaseError:
        return JsonResponse({"status": "database unreachable"}, status=503)
    return JsonResponse({"status": "ready"})


def _ask_database() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
