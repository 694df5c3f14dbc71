"""Parsing of X-Forwarded-For and X-Forwarded-Proto, as far as the site's own proxies wrote them.

Each proxy appends what it saw to what it received. With n proxies of the site's own, the n-th entry from the
right is what the outermost of them saw; the client may have forged every entry before it.
"""


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


def _entries(header: str) -> list[str]:
    return [entry.strip() for entry in header.split(",")] if header.strip() else []
