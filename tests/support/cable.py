"""A TCP proxy in front of PostgreSQL that can be cut and mended: the database away, as its clients see it."""

import contextlib
import socket
import threading
from urllib.parse import quote

import psycopg

from tests.support.server import free_port


class Cable:
    """Forwards connections from a port of its own to the server of the database `url`."""

    def __init__(self, url: str) -> None:
        with psycopg.connect(url) as session:
            info = session.info
            self._host, self._far_port = info.host, info.port
            person = quote(info.user) + (f":{quote(info.password)}" if info.password else "")
            self.port = free_port()
            self.url = f"postgresql://{person}@127.0.0.1:{self.port}/{info.dbname}"
        self._listener: socket.socket | None = None
        self._ends: set[socket.socket] = set()
        self._silent = threading.Event()
        self.mend()

    def mend(self) -> None:
        """Connections can be made, and bytes flow."""
        self._silent.clear()
        if self._listener is None:
            self._listener = socket.create_server(("127.0.0.1", self.port), reuse_port=False)
            threading.Thread(target=self._accept, args=(self._listener,), daemon=True).start()

    def cut(self) -> None:
        """Every connection ends, and no other is accepted."""
        listener, self._listener = self._listener, None
        if listener:
            with contextlib.suppress(OSError):
                listener.shutdown(socket.SHUT_RDWR)
            listener.close()
        for end in list(self._ends):
            _close(end)

    def hang(self) -> None:
        """Connections are accepted and nothing is ever answered on them or on those there are."""
        self._silent.set()

    def _accept(self, listener: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while True:
                near, _ = listener.accept()
                far = self._far()
                self._ends |= {near, far}
                for one, other in ((near, far), (far, near)):
                    threading.Thread(target=self._carry, args=(one, other), daemon=True).start()

    def _far(self) -> socket.socket:
        if not self._host.startswith("/"):
            return socket.create_connection((self._host, self._far_port))
        far = socket.socket(socket.AF_UNIX)
        far.connect(f"{self._host}/.s.PGSQL.{self._far_port}")
        return far

    def _carry(self, source: socket.socket, target: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65_536):
                while self._silent.is_set():
                    threading.Event().wait(0.02)
                target.sendall(data)
        for end in (source, target):
            _close(end)
            self._ends.discard(end)


def _close(end: socket.socket) -> None:
    with contextlib.suppress(OSError):
        end.shutdown(socket.SHUT_RDWR)
    end.close()
