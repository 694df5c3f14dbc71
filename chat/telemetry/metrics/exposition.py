"""The text that Prometheus reads, and who may read it."""

import asyncio
import hmac

from django.conf import settings

from . import shared_files

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
CHALLENGE = 'Bearer realm="metrics"'


def may_read(authorization: str) -> bool:
    """Return True if the header holds METRICS_TOKEN, or if none is set."""
    wanted = f"Bearer {settings.METRICS_TOKEN}"
    return not settings.METRICS_TOKEN or hmac.compare_digest(authorization.encode(), wanted.encode())


async def render() -> bytes:
    """Return the metrics of all workers."""
    return await asyncio.to_thread(_render)


def _render() -> bytes:
    from prometheus_client import CollectorRegistry, generate_latest
    from prometheus_client.multiprocess import MultiProcessCollector

    from .definitions import REGISTRY

    own = shared_files.folder()
    if own is None:
        return generate_latest(REGISTRY)
    with shared_files.reading(own):
        registry = CollectorRegistry()
        MultiProcessCollector(registry, str(own))
        return generate_latest(registry)
