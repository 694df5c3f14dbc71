"""Prometheus metrics: what is counted, where several workers keep it, and how it is shown.

`definitions` loads prometheus_client, 14 MB and 60 ms. Only a server whose metrics are on imports it.
"""

from django.conf import settings


def is_enabled() -> bool:
    return bool(settings.METRICS_TOKEN or settings.METRICS_BIND)
