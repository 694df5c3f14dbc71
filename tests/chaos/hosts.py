"""Hosts in one machine: network namespaces on a bridge, each of which can be cut off. Linux, as root."""

import ctypes
import os
import shutil
import socket
import subprocess
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

CLONE_NEWNET = 0x40000000  # <sched.h>
DISABLED, FORWARDING = 0, 3  # states of a port of a bridge, <linux/if_bridge.h>
NAMESPACES = Path("/var/run/netns")  # of `ip netns`


class Hosts:
    """Namespaces with an address each. This process is on the same bridge, at `address`."""

    def __init__(self, count: int) -> None:
        self._tag = f"{os.getpid() % 100_000}"  # a device's name has at most 15 characters
        self._network = f"10.213.{os.getpid() % 250}"
        self._bridge = f"chaos{self._tag}"
        self.address = f"{self._network}.1"
        self.count = count

    @classmethod
    @contextmanager
    def made(cls, count: int) -> Iterator["Hosts | None"]:
        """Make the hosts; yield None where that is not possible."""
        hosts = cls(count)
        with ExitStack() as stack:
            try:
                hosts._make(stack)
            except (OSError, subprocess.CalledProcessError):
                yield None
                return
            yield hosts

    def _make(self, stack: ExitStack) -> None:
        if shutil.which("ip") is None or shutil.which("bridge") is None:
            raise FileNotFoundError("ip")
        _run(f"ip link add {self._bridge} type bridge")
        stack.callback(_run, f"ip link del {self._bridge}")
        _run(f"ip address add {self.address}/24 dev {self._bridge}")
        _run(f"ip link set {self._bridge} up")
        for host in range(self.count):
            name, cable = self._name(host), self._cable(host)
            _run(f"ip netns add {name}")
            stack.callback(_run, f"ip netns del {name}")
            _run(f"ip link add {cable} type veth peer name eth0 netns {name}")
            _run(f"ip link set {cable} master {self._bridge} up")
            _run(f"ip -netns {name} address add {self.address_of(host)}/24 dev eth0")
            _run(f"ip -netns {name} link set eth0 up")
            _run(f"ip -netns {name} link set lo up")

    def address_of(self, host: int) -> str:
        return f"{self._network}.{10 + host}"

    def command(self, host: int) -> list[str]:
        """The beginning of a command line whose program shall run on the host."""
        return ["ip", "netns", "exec", self._name(host)]

    def listener(self, host: int, port: int) -> socket.socket:
        """Listen on the host's own 127.0.0.1, in this process. Being cut off does not touch it."""
        made: list[socket.socket] = []

        def make() -> None:
            with (NAMESPACES / self._name(host)).open() as namespace:
                # Only this thread changes its namespace; a socket stays in the one where it was made.
                if ctypes.CDLL(None, use_errno=True).setns(namespace.fileno(), CLONE_NEWNET):
                    raise OSError(ctypes.get_errno(), "setns")
            made.append(socket.create_server(("127.0.0.1", port), backlog=1024))

        thread = threading.Thread(target=make)
        thread.start()
        thread.join()
        return made[0]

    def cut_off(self, host: int) -> None:
        """Lose every packet from and to the host, without a word to either side."""
        _run(f"bridge link set dev {self._cable(host)} state {DISABLED}")

    def reconnect(self, host: int) -> None:
        with suppress(subprocess.CalledProcessError):
            _run(f"bridge link set dev {self._cable(host)} state {FORWARDING}")

    def _name(self, host: int) -> str:
        return f"chaos-{self._tag}-{host}"

    def _cable(self, host: int) -> str:
        return f"cable{self._tag}-{host}"


def _run(command: str) -> None:
    subprocess.run(command.split(), check=True, capture_output=True)
