"""Hosts in one machine are cut off and come back."""

import asyncio
import socket
import subprocess
import sys
from collections.abc import Iterator

import pytest

from .hosts import Hosts

ECHO = (
    "import socket, sys\ns = socket.create_server((sys.argv[1], 7))\nprint(flush=True)\nc = s.accept()[0]\n"
)
ECHO += "while data := c.recv(9):\n c.sendall(data)"
SILENCE_SECONDS = 0.5
PATIENCE_SECONDS = 20.0  # a packet that was lost comes again, each time after twice the pause


@pytest.fixture(scope="module")
def hosts() -> Iterator[Hosts]:
    with Hosts.made(2) as made:
        if made is None:
            pytest.skip("needs Linux, root and iproute2, for networks of its own")
        yield made


@pytest.fixture
def echo(hosts: Hosts) -> Iterator[socket.socket]:
    """A connection to a program on host 1 that answers what it gets."""
    address = hosts.address_of(1)
    command = [*hosts.command(1), sys.executable, "-c", ECHO, address]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout
        process.stdout.readline()
        with socket.create_connection((address, 7), timeout=PATIENCE_SECONDS) as connection:
            yield connection


def test_a_host_that_is_cut_off_is_silent_and_goes_on_later(hosts: Hosts, echo: socket.socket) -> None:
    echo.sendall(b"before")
    assert echo.recv(9) == b"before"
    hosts.cut_off(1)
    echo.sendall(b"while")
    echo.settimeout(SILENCE_SECONDS)
    with pytest.raises(TimeoutError):
        echo.recv(9)
    hosts.reconnect(1)
    echo.settimeout(PATIENCE_SECONDS)
    assert echo.recv(9) == b"while"


async def test_a_listener_on_a_host_is_reached_from_there_only(hosts: Hosts) -> None:
    with hosts.listener(0, 0) as listener:
        port = listener.getsockname()[1]
        say = f"import socket; socket.create_connection(('127.0.0.1', {port})).sendall(b'here')"
        for host, code in ((1, 1), (0, 0)):
            command = [*hosts.command(host), sys.executable, "-c", say]
            process = await asyncio.create_subprocess_exec(*command, stderr=asyncio.subprocess.DEVNULL)
            assert await process.wait() == code
        with listener.accept()[0] as connection:
            assert connection.recv(9) == b"here"
