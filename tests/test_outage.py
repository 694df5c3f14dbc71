"""While the database cannot be used, everybody is told to come back; once it can, everything works again."""

import resource
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.api.client import CHAT, MODEL, RUN, question
from tests.support.cable import Cable
from tests.support.databases import Database, Template
from tests.support.people import CSRF
from tests.support.server import Server, Servers
from tests.support.waiting import until

PAGE = {"Accept": "text/html"}
KEY = {"Authorization": "Bearer chat_none"}
SOON = 15.0  # seconds in which a probe answers, on machines that are busy


@pytest.fixture
def cable(on_postgres: Template, tmp_path: Any) -> Iterator[Cable]:
    database = on_postgres.copy(tmp_path)
    made = Cable(database.url)
    yield made
    made.cut()
    database.drop()


@pytest.fixture
def behind_cable(on_postgres: Template, cable: Cable, fake: Any, tmp_path: Any) -> Iterator[Server]:
    made = Servers(on_postgres, Database(cable.url), fake, tmp_path)
    yield made.start()
    cable.mend()
    made.end()


def told_to_come_back(response: httpx.Response) -> httpx.Response:
    assert response.status_code == 503, (
        f"{response.request.url}: {response.status_code} {response.text[:300]}"
    )
    assert int(response.headers["Retry-After"]) > 0
    assert "Traceback" not in response.text
    return response


@pytest.mark.postgres
def test_an_outage_is_503_everywhere_and_leaves_no_trace(behind_cable: Server, cable: Cable) -> None:
    alice, root = behind_cable.person("alice"), behind_cable.person("root")
    stream = alice.asked("hello")
    own = f"/c/{stream.conversation}/"
    pages = [
        (alice, "/"), (alice, own), (alice, "/conversations/"), (alice, "/settings/keys/"),
        (root, "/admin/"), (root, "/admin/chat/run/"), (root, "/admin/checkup/"),
    ]  # fmt: skip
    cable.cut()
    for person, path in pages:
        page = told_to_come_back(person.get(path, headers=PAGE))
        assert "Error 503" in page.text
        assert "database" in page.text
    form = {"login": "alice", "password": "x", "csrfmiddlewaretoken": CSRF}
    told_to_come_back(alice.client.post("/accounts/login/", data=form, headers=PAGE))
    body = {"content": "hello", "client_key": str(uuid.uuid4())}
    calls = [
        alice.post("/c/", body),
        alice.post(f"{own}messages/", body),
        alice.post(f"{own}rename/", {"title": "x"}),
        alice.get(f"/runs/{stream.run}/stream/"),
        alice.stop(stream.run),
    ]
    for call in calls:
        assert told_to_come_back(call).json()["error"]["code"] == "unavailable"
    client = httpx.Client(base_url=behind_cable.url, headers=KEY, timeout=60)
    error = told_to_come_back(client.post(CHAT, json=question("hello"))).json()["error"]
    assert (error["type"], error["code"]) == ("server_error", "unavailable")
    told_to_come_back(client.get("/v1/models"))
    response = told_to_come_back(client.post(f"{RUN}/{MODEL}", json={"prompt": "hello"})).json()
    assert (response["success"], bool(response["errors"][0]["message"])) == (False, True)
    client.close()
    until(lambda: alice.get("/readyz").status_code == 503)  # a response of a second ago may still be good
    assert told_to_come_back(alice.get("/readyz")).json() == {"status": "database unreachable"}
    cable.mend()
    until(lambda: alice.get("/readyz").status_code == 200)
    for person, path in pages:
        assert person.get(path, headers=PAGE).status_code == 200, path
    again = alice.started("/c/", **body)  # the same key: sent once
    assert again.done["status"] == "complete"
    assert "Traceback" not in behind_cable.log.read_text()


@pytest.mark.postgres
def test_a_database_that_hangs_does_not_hang_the_probe(behind_cable: Server, cable: Cable) -> None:
    nobody = behind_cable.person("nobody")
    cable.hang()
    until(lambda: nobody.get("/readyz", timeout=SOON).status_code == 503)
    status = told_to_come_back(nobody.get("/readyz", timeout=SOON)).json()["status"]
    assert status in ("database does not answer", "database unreachable")  # the latter where none connects
    assert nobody.get("/healthz", timeout=SOON).status_code == 200
    cable.mend()
    until(lambda: nobody.get("/readyz").status_code == 200)


def limit_files(server: Server, size: int) -> None:
    """No file that this server writes grows beyond `size` bytes, as on a disk that is full."""
    assert server.process
    _, hard = resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE)
    resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (size, hard))


def test_full_disk_is_reported_and_nothing_is_half_stored(
    servers: Callable[..., Server], database: Database
) -> None:
    server = servers()
    if not database.url.startswith("sqlite"):
        return  # the disk is the database server's; see the probe's own tests
    alice = server.person("alice")
    stream = alice.asked("hello")
    log = server.folder / f"server-{server.port}.log"
    limit_files(server, max(32_768, log.stat().st_size * 4))
    until(lambda: alice.get("/readyz").status_code == 503)
    probed = told_to_come_back(alice.get("/readyz"))
    assert probed.json() == {"status": "disk cannot be written"}
    refused = told_to_come_back(alice.post("/c/", {"content": "hi", "client_key": str(uuid.uuid4())}))
    error = refused.json()["error"]
    assert (error["code"], "disk" in error["message"]) == ("storage_unwritable", True)
    assert database.value("SELECT COUNT(*) FROM chat_conversation") == 1
    assert alice.get(f"/c/{stream.conversation}/").status_code == 200  # reading goes on
    limit_files(server, resource.RLIM_INFINITY)
    until(lambda: alice.get("/readyz").status_code == 200)
    again = alice.asked("hi")
    assert again.done["status"] == "complete"


def test_a_damaged_file_is_told(servers: Callable[..., Server], database: Database) -> None:
    server = servers()
    if not database.url.startswith("sqlite"):
        return
    alice = server.person("alice")
    assert alice.get("/readyz").status_code == 200
    database.rows("PRAGMA wal_checkpoint(TRUNCATE)")
    file = Path(database.url.removeprefix("sqlite:///"))
    with file.open("r+b") as damaged:
        damaged.write(b"garbage!" * (file.stat().st_size // 8))
    until(lambda: alice.get("/readyz").status_code == 503)
    assert told_to_come_back(alice.get("/readyz")).json() == {"status": "database damaged"}
