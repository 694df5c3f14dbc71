"""Destinations of a request for a web page: public addresses, checked when the connection is made.

A name is looked up once for each connection, and the connection goes to the answer that was checked. So an
answer that changes in between (DNS rebinding) changes nothing.
"""

import ipaddress
import socket
from collections.abc import Hashable
from functools import cache
from typing import Any

from aiohttp.abc import AbstractResolver, ResolveResult
from django.utils.translation import gettext as _

from chat.db.fair_executor import FairExecutor

from .tool import ToolFailed

LOOKUP_THREADS = 8
# https://www.iana.org/assignments/iana-ipv4-special-registry/, multicast, and the metadata of Azure, which
# has a public address.
NOT_PUBLIC = [
    ipaddress.IPv4Network(each)
    for each in [
        "0.0.0.0/8",
        "10.0.0.0/8",
        "100.64.0.0/10",
        "127.0.0.0/8",
        "169.254.0.0/16",
        "172.16.0.0/12",
        "192.0.0.0/24",
        "192.0.2.0/24",
        "192.31.196.0/24",
        "192.52.193.0/24",
        "192.88.99.0/24",
        "192.168.0.0/16",
        "192.175.48.0/24",
        "198.18.0.0/15",
        "198.51.100.0/24",
        "203.0.113.0/24",
        "224.0.0.0/4",
        "240.0.0.0/4",
        "168.63.129.16/32",
    ]
]
# Of IPv6, all that is public is in the first; the others are parts of it that are not. Some stand for IPv4
# (Teredo, 6to4), which nobody serves pages by.
PUBLIC6 = ipaddress.IPv6Network("2000::/3")
NOT_PUBLIC6 = [
    ipaddress.IPv6Network(each) for each in ["2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"]
]
NAT64 = ipaddress.IPv6Network("64:ff9b::/96")


class Forbidden(ToolFailed):
    """The address is no public one."""

    def __init__(self) -> None:
        super().__init__(_("This address is not on the public web, so it can’t be read."))


def is_public(address: str) -> bool:
    """Return True for an IP address of the public internet which is not this machine's own."""
    try:
        found = ipaddress.ip_address(address)
    except ValueError:  # with a zone
        return False
    if isinstance(found, ipaddress.IPv6Address):
        embedded = found.ipv4_mapped
        if embedded is None and found in NAT64:
            embedded = ipaddress.IPv4Address(found.packed[-4:])
        if embedded is None:
            is_global = found in PUBLIC6 and not any(found in each for each in NOT_PUBLIC6)
            return is_global and not _is_of_this_machine(address, socket.AF_INET6)
        found = embedded
    return not any(found in each for each in NOT_PUBLIC) and not _is_of_this_machine(
        str(found), socket.AF_INET
    )


def _is_of_this_machine(address: str, family: socket.AddressFamily) -> bool:
    """Return True if an interface has the address: only then can a socket be bound to it."""
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        try:
            probe.bind((address, 0))
        except OSError:
            return False
    return True


@cache
def _threads() -> FairExecutor:
    """Return threads of their own: the name servers of others decide how long a lookup takes."""
    return FairExecutor("lookup", LOOKUP_THREADS)


async def lookup(person: Hashable, host: str, port: int) -> list[tuple[Any, ...]]:
    """Return what `getaddrinfo` does. Raises OSError."""
    return await _threads().run(person, socket.getaddrinfo, host, port, type=socket.SOCK_STREAM)


class Guard(AbstractResolver):
    """Looks names up and makes the sockets of one call: to other addresses only if `is_allowed`."""

    def __init__(self, person: Hashable) -> None:
        self._person = person
        self.is_allowed = False

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        infos = await lookup(self._person, host, port)
        self._check(*(info[4][0] for info in infos))
        return [
            ResolveResult(
                hostname=host,
                host=info[4][0],
                port=port,
                family=info[0],
                proto=info[2],
                flags=socket.AI_NUMERICHOST | socket.AI_NUMERICSERV,
            )
            for info in infos
        ]

    async def close(self) -> None:
        """Nothing to do: each lookup ends by itself."""

    def socket(self, info: tuple[Any, ...]) -> socket.socket:
        """Return the socket of a connection, whose address is checked once more."""
        self._check(info[4][0])
        return socket.socket(info[0], info[1], info[2])

    def _check(self, *addresses: str) -> None:
        if not self.is_allowed and not all(map(is_public, addresses)):
            raise Forbidden
