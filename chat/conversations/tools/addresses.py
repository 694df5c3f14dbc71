"""The addresses of web pages: which may be read at all, and which of two are the same page's."""

import ipaddress
import re
from functools import lru_cache

from django.conf import settings
from django.http.request import validate_host
from django.utils.translation import gettext as _
from yarl import URL

from .tool import ToolFailed

MAX_ADDRESS_CHARACTERS = 2_000
DEFAULT_PORTS = {"http": 80, "https": 443}
UNPRINTABLE = re.compile("[\x00-\x20\x7f-\xa0\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]")
NAME = re.compile(r"[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*")
# A last label of which a resolver would make an IPv4 address: 127.1, 0x7f.1, 2130706433.
NUMBER = re.compile(r"(?:.*\.)?(?:[0-9]+|0x[0-9a-f]*)")
# An address in what a person has written: with its scheme, or a name and a path alone.
WRITTEN = re.compile(
    r"https?://[^\s<>\"'`{}|\\^]+|(?<![\w@/.-])(?:[\w-]+\.)+[^\W\d_]{2,}(?::\d{1,5})?(?:/[^\s<>\"'`{}|\\^]*)?",
    re.IGNORECASE,
)
AFTER = ".,;:!?*_~»«”“„’‘"  # of the sentence, behind an address
BRACKETS = {")": "(", "]": "["}
MAX_WRITTEN = 1_000


def parsed(address: str) -> URL:
    """Return the address in its one form, without a fragment. Raises ToolFailed if it is none to read."""
    address = address.strip()
    if len(address) > MAX_ADDRESS_CHARACTERS:
        raise ToolFailed(_("This address is too long."))
    try:
        url = URL(address.partition("#")[0])
    except ValueError:
        url = URL()
    if url.scheme not in DEFAULT_PORTS:
        raise ToolFailed(_("Only addresses that begin with https:// or http:// can be read."))
    host = (url.raw_host or "").removesuffix(".")
    if UNPRINTABLE.search(address) or not _is_host(host):
        raise ToolFailed(_("This is no address of a web page."))
    if url.raw_user is not None or url.raw_password is not None:
        raise ToolFailed(_("An address with a name or a password can’t be read."))
    if url.raw_host != host:
        url = url.with_host(host)
    if url.port != DEFAULT_PORTS[url.scheme] and not is_allowed(url):
        raise ToolFailed(_("This site may not read addresses with a port of their own."))
    return url


def _is_host(host: str) -> bool:
    try:
        # Python's reader takes only the usual form of an IPv4 address.
        return "%" not in host and bool(ipaddress.ip_address(host))
    except ValueError:
        return bool(NAME.fullmatch(host)) and not NUMBER.fullmatch(host)


def is_allowed(url: URL) -> bool:
    """Return True if READ_PAGE_ALLOWED_HOSTS lists the host, or the host with this port."""
    listed = settings.READ_PAGE_ALLOWED_HOSTS
    return bool(listed) and ((url.raw_host, None) in listed or (url.raw_host, url.port) in listed)


def shown_host(url: URL) -> str:
    """Return the host for a person: letters that other letters look like beside the form that is asked."""
    asked = url.host_port_subcomponent or ""
    try:
        name = url.host or ""
    except UnicodeError:  # of an "xn--" name that nothing is written as
        return asked
    return asked if name.isascii() else f"{name} ({asked})"


def is_own(url: URL) -> bool:
    """Return True for a name of this site."""
    return validate_host(url.host_subcomponent or "", [*settings.ALLOWED_HOSTS, ".localhost"])


@lru_cache(4_096)
def key(address: str) -> str:
    """Return what the addresses of one page have in common; "" if it is none that can be read.

    That leaves out the scheme, a slash at the end, and each way to write the same characters, in which words
    of a conversation could be hidden.
    """
    try:
        url = parsed(address)
    except ToolFailed:
        return ""
    text = str(url).partition("://")[2]
    return text if url.raw_query_string else text.removesuffix("/")


def written_in(text: str) -> set[str]:
    """Return the addresses in a text that a person wrote; those without a scheme get one."""
    found = set()
    for each in WRITTEN.findall(text)[:MAX_WRITTEN]:
        address = _without_sentence(each)
        found.add(address if address.lower().startswith(("http://", "https://")) else f"https://{address}")
    return found


def _without_sentence(address: str) -> str:
    """Return the address without the punctuation behind it, and without a bracket that began before it."""
    while address:
        last = address[-1]
        opening = BRACKETS.get(last)
        if last not in AFTER and not (opening and address.count(last) > address.count(opening)):
            break
        address = address[:-1]
    return address
