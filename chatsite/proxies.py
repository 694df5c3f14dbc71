"""What proxies in front wrote into X-Forwarded-For and X-Forwarded-Proto, as far as they are the site's own.

Each proxy adds what it saw behind what it was sent. With n proxies of the site's own the n-th entry from the
right is what the outermost of them saw; everything before it may be the client's invention.
"""


def forwarded_for(header: str, hops: int) -> str:
    """The client's address as the outermost of `hops` proxies saw it; empty where they did not write it."""
    entries = _entries(header)
    return entries[-hops] if 0 < hops <= len(entries) else ""


def without_port(entry: str) -> str:
    """The address of "203.0.113.9:50123" or "[2001:db8::1]:443", as some proxies write it."""
    if entry.startswith("["):
        return entry[1:].partition("]")[0]
    return entry.partition(":")[0] if entry.count(":") == 1 else entry


def forwarded_proto(header: str, hops: int) -> str:
    """How the client spoke to the outermost of `hops` proxies.

    Most proxies write one value over what was there, instead of one behind it: fewer entries than proxies are
    all their own, and the first is the oldest.
    """
    entries = _entries(header)
    return entries[-min(hops, len(entries))].lower() if hops > 0 and entries else ""


def _entries(header: str) -> list[str]:
    return [entry.strip() for entry in header.split(",")] if header.strip() else []
