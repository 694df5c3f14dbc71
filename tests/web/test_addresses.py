"""Which addresses may be read, and which are known."""

from typing import Any

import pytest

from chat.conversations.tools import addresses
from chat.conversations.tools.destinations import is_public
from chat.conversations.tools.read_page import ReadPage
from chat.conversations.tools.tool import CallContext, ToolFailed

SCHEME = "Only addresses that begin with https:// or http:// can be read."
NONE = "This is no address of a web page."
USER = "An address with a name or a password can’t be read."
PORT = "This site may not read addresses with a port of their own."


@pytest.mark.parametrize(
    ("address", "sentence"),
    [
        ("", SCHEME),
        ("example.org", SCHEME),
        ("ftp://example.org/", SCHEME),
        ("file:///etc/passwd", SCHEME),
        ("javascript:alert(1)", SCHEME),
        ("gopher://example.org/", SCHEME),
        ("http:/example.org", NONE),
        ("http://", NONE),
        ("http://[::1", SCHEME),
        ("http://h\\@evil.example/", SCHEME),
        ("http://exa mple.org/", NONE),
        ("http://evil.example\t.org/", NONE),
        ("http://example.org/\x00", NONE),
        ("http://example.org/\u202egpj", NONE),
        ("http://user@example.org/", USER),
        ("http://user:pw@example.org/", USER),
        ("http://:pw@example.org/", USER),
        ("http://127.0.0.1%2f@example.org/", USER),
        ("http://example.org:8080/", PORT),
        ("http://example.org:443/", PORT),
        ("https://example.org:80/", PORT),
        ("http://example.org:0/", PORT),
        ("http://a..b/", NONE),
        ("http://.example.org/", NONE),
        ("http://example.org../", NONE),
        ("http://%31%32%37.0.0.1/", NONE),
        ("http://127.1/", NONE),
        ("http://127.0.1/", NONE),
        ("http://2130706433/", NONE),
        ("http://0x7f000001/", NONE),
        ("http://0x7f.0.0.1/", NONE),
        ("http://0177.0.0.1/", NONE),
        ("http://017700000001/", NONE),
        ("http://0/", NONE),
        ("http://127.0.0.1.1/", NONE),
        ("http://example.0x7f/", NONE),
        ("http://256.0.0.1/", NONE),
        ("http://[fe80::1%25eth0]/", NONE),
        ("http://[fe80::1%eth0]/", NONE),
        ("http://[::1%25lo]/", NONE),
        (f"http://example.org/{'a' * 2_000}", "This address is too long."),
    ],
)
def test_an_address_that_is_none_to_read(address: str, sentence: str) -> None:
    with pytest.raises(ToolFailed) as caught:
        addresses.parsed(address)
    assert str(caught.value) == sentence


@pytest.mark.parametrize(
    ("address", "form"),
    [
        ("HTTP://EXAMPLE.org", "http://example.org"),
        ("https://example.org:443/a/../b#part", "https://example.org/b"),
        ("https://example.org./a%20b", "https://example.org/a%20b"),
        ("https://münchen.example/ä?ö=ü", "https://xn--mnchen-3ya.example/%C3%A4?%C3%B6=%C3%BC"),
        ("https://example.org/%7Eann/%61", "https://example.org/~ann/a"),
        ("http://①②⑦.⓪.⓪.①/", "http://127.0.0.1/"),
        ("http://127。0。0。1/", "http://127.0.0.1/"),
        ("http://[::FFFF:127.0.0.1]/", "http://[::ffff:7f00:1]/"),
    ],
)
def test_an_address_has_one_form(address: str, form: str) -> None:
    assert str(addresses.parsed(address)) == form


@pytest.mark.parametrize(
    "address",
    [
        *("127.0.0.1", "127.8.8.8", "0.0.0.0", "10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1"),
        *("169.254.169.254", "100.64.0.1", "100.100.100.200", "192.0.0.192", "168.63.129.16", "198.18.0.1"),
        *("224.0.0.1", "239.255.255.250", "240.0.0.1", "255.255.255.255", "192.0.2.1", "203.0.113.9"),
        *("::", "::1", "fe80::1", "fe80::1%eth0", "fc00::1", "fd00:ec2::254", "ff02::1", "fec0::1"),
        *("::ffff:127.0.0.1", "::ffff:10.0.0.1", "::127.0.0.1", "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe"),
        *("64:ff9b:1::a00:1", "2002:7f00:1::", "2002:a00:1::1", "2001::1", "2001:db8::1", "100::1"),
        *("3fff::1", "5f00::1", "localhost", "", "127.1"),
    ],
)
def test_no_address_of_a_network_of_ones_own_is_public(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize(
    "address",
    ["8.8.8.8", "172.32.0.1", "192.169.0.1", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808"],
)
def test_an_address_of_the_internet_is_public(address: str) -> None:
    assert is_public(address)


def test_the_address_of_this_machine_is_not_public(monkeypatch: pytest.MonkeyPatch) -> None:
    from chat.conversations.tools import destinations

    monkeypatch.setattr(destinations, "NOT_PUBLIC", [])
    assert not is_public("127.0.0.1")
    assert is_public("8.8.8.8")


KNOWN = {"https://example.org/a?q=1", "http://example.net/", "https://example.com/caf%C3%A9", "no address"}


@pytest.mark.parametrize(
    ("url", "asks"),
    [
        ("https://example.org/a?q=1", False),
        ("HTTPS://EXAMPLE.ORG:443/a?q=1#part", False),
        ("http://example.org/a?q=1", False),
        ("https://example.org/%61?q=1", False),
        ("http://example.net", False),
        ("https://example.com/café/", False),
        ("https://example.org/a", True),
        ("https://example.org/a?q=2", True),
        ("https://example.org/a?q=1&secret=walnut", True),
        ("https://example.org/a?q=1/", True),
        ("https://example.org/a/b?q=1", True),
        ("https://walnut.example.org/a?q=1", True),
        ("https://example.net/?walnut", True),
        ("https://example.com/cafe", True),
        ("http://127.0.0.1/", True),
        ("no address", False),
        ("ftp://example.org/a", False),
        ("https://ann@example.org/a?q=1", False),
    ],
)
def test_an_address_that_the_model_made_up_asks_first(url: str, asks: bool) -> None:
    """What is refused anyway asks nobody."""
    assert bool(ReadPage().permission({"url": url}, CallContext(1, "c", set(KNOWN)))) is asks


def test_a_call_without_an_address_asks_nobody() -> None:
    assert ReadPage().permission({}, CallContext(1, "c", set(KNOWN))) is None
    assert ReadPage().permission({"url": 3}, CallContext(1, "c", set(KNOWN))) is None


def test_a_port_needs_a_host_that_is_allowed(settings: Any) -> None:
    settings.READ_PAGE_ALLOWED_HOSTS = [("wiki.example", 8080), ("fd00::5", None)]
    assert addresses.parsed("http://WIKI.example:8080/").port == 8080
    assert addresses.parsed("http://[fd00::5]:9/").port == 9
    with pytest.raises(ToolFailed, match="port"):
        addresses.parsed("http://wiki.example:8081/")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Read https://example.org/a.", {"https://example.org/a"}),
        ("(see http://example.org/a_(b)), then", {"http://example.org/a_(b)"}),
        ("what does example.org/news say?", {"https://example.org/news"}),
        ("<https://example.org/?a=1&b=2>", {"https://example.org/?a=1&b=2"}),
        ("„https://example.org/ä“ und", {"https://example.org/ä"}),
        ("**https://example.net/**", {"https://example.net/"}),
        ("mail ann@example.org, 3.5 and e.g. nothing", set()),
    ],
)
def test_the_addresses_that_a_person_wrote(text: str, found: set[str]) -> None:
    assert addresses.written_in(text) == found
