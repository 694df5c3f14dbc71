"""Parsing of what the site's own proxies write: X-Forwarded-For, X-Forwarded-Proto, X-Request-ID.

Each proxy appends what it saw to what it received. With n proxies of the site's own, the n-th entry from the
right is what the outermost of them saw; the client may have forged every entry before it.
"""

import ipaddress
import logging
import re
import uuid
from functools import cache

from django.conf import settings
from django.http import HttpRequest
from django.urls import reverse

# Probes and scrapers call these addresses beside the proxies, so the header is rightly missing there.
WITHOUT_PROXY = ("chat:healthz", "chat:readyz", "chat:metrics")
VALID_REQUEST_ID = re.compile(r"[A-Za-z0-9._:-]{8,64}")

logger = logging.getLogger(__name__)


def forwarded_for(header: str, hops: int) -> str:
    """Return the client's address as the outermost of `hops` proxies saw it; "" if they did not write it."""
    entries = _entries(header)
    return entries[-hops] if 0 < hops <= len(entries) else ""


def without_port(entry: str) -> str:
    """Return the address without the port that some proxies add: "203.0.113.9:50123", "[2001:db8::1]:443"."""
    if entry.startswith("["):
        return entry[1:].partition("]")[0]
    return entry.partition(":")[0] if entry.count(":") == 1 else entry


def forwarded_proto(header: str, hops: int) -> str:
    """Return the scheme with which the client reached the outermost of `hops` proxies; "" if unknown.

    Most proxies overwrite the header instead of appending to it. If there are fewer entries than proxies, all
    of them are the proxies' own, and the first is the oldest.
    """
    entries = _entries(header)
    return entries[-min(hops, len(entries))].lower() if hops > 0 and entries else ""


def id_of_request(header: str) -> str:
    """Return the id that a proxy of the site sent in X-Request-ID, if it is one; otherwise a new one."""
    return header if settings.TRUSTED_PROXY and VALID_REQUEST_ID.fullmatch(header) else uuid.uuid4().hex


def _entries(header: str) -> list[str]:
    return [entry.strip() for entry in header.split(",")] if header.strip() else []


def client_address(request: HttpRequest) -> str | None:
    """Return the address that failures are counted under, or None if there is none.

    Behind TRUSTED_PROXY proxies of the site it is the address that the outermost of them saw. Without a proxy
    X-Forwarded-For can be forged by the client, so only the socket's address counts. IPv6 addresses are cut
    to their first 64 bits, because one household controls all the rest.
    """
    forwarded = forwarded_for(request.META.get("HTTP_X_FORWARDED_FOR", ""), settings.TRUSTED_PROXY)
    for text in (without_port(forwarded), request.META.get("REMOTE_ADDR", "")):
        try:
            return _counted(ipaddress.ip_address(text))
        except ValueError:
            if settings.TRUSTED_PROXY > 0 and request.path not in map(reverse, WITHOUT_PROXY):
                _warn_unread()  # without a proxy: a Unix socket or an empty header, which is normal
    return None


@cache
def _warn_unread() -> None:
    """Log a warning, once per process.

    All clients then count as the proxy's address, so the failures of one client can lock out all.
    """
    logger.warning("TRUSTED_PROXY is set, but X-Forwarded-For names no address of a client")


def _counted(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> str:
    if isinstance(address, ipaddress.IPv4Address):
        return str(address)
    if address.ipv4_mapped:
        return str(address.ipv4_mapped)
    return str(ipaddress.IPv6Network((address, 64), strict=False).network_address)
