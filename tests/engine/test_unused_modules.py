"""The server without what it does not use, and what it says to those who ask for that."""

from collections.abc import Callable

import pytest

from tests.support.server import Server


# Nobody is signed in.
@pytest.mark.parametrize(("path", "status"), [("/healthz", 200), ("/", 302), ("/nothing/here/", 404)])
def test_a_websocket_upgrade_gets_an_ordinary_response(server: Server, path: str, status: int) -> None:
    wishes = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13"}
    response = server.person(None).get(
        path, headers=wishes | {"Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ=="}
    )
    assert response.status_code == status
    assert "upgrade" not in response.headers


def test_nothing_that_is_not_used_is_loaded(servers: Callable[..., Server]) -> None:
    """Seen from the files that the process has mapped."""
    server = servers(afresh=True)
    assert server.process
    with open(f"/proc/{server.process.pid}/maps") as maps:
        files = maps.read()
    assert "uvloop" in files
    assert "cryptography" not in files
