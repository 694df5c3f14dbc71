"""A disk that is full and a bucket that does not answer: clear errors, and nobody else waits."""

import base64
import importlib.util
import resource
import shutil
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import httpx
import pytest

from tests.api.client import CHAT, Program
from tests.conftest import missing
from tests.fake_cloudflare.server import Fake
from tests.files import pictures
from tests.support.fake_s3 import FakeS3, serving
from tests.support.people import CSRF, PASSWORD
from tests.support.server import Person, Server
from tests.support.waiting import until
from tests.views import uploads as imports

SEEING = "@cf/google/gemma-4-26b-a4b-it"
LARGE = b"word " * 700_000
LARGEST_FILE = 3_000_000


def code(response: httpx.Response) -> str:
    return f"{response.status_code} {response.json()['error']['code']}"


@contextmanager
def full_disk(server: Server) -> Iterator[None]:
    """Let each file of the server end at LARGEST_FILE, as it would on a disk with so much room."""
    assert server.process
    assert server.process.pid
    _soft, hard = resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE)
    resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (LARGEST_FILE, hard))
    try:
        yield
    finally:
        resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (hard, hard))


def test_a_full_disk_refuses_files_and_nothing_else(alice: Person, server: Server) -> None:
    with full_disk(server):
        response = alice.upload("words.txt", LARGE)
        assert code(response) == "503 storage_full"
        assert response.headers["Retry-After"] == "60"
        assert "disk is full" in response.json()["error"]["message"]
        assert alice.upload("a.jpg", pictures.jpeg()).status_code == 201
        with alice.ask("Well?") as stream:
            assert stream.to_end().finished
    assert alice.upload("words.txt", LARGE).status_code == 201
    assert list((server.folder / "uploads").iterdir()) == []


def test_a_full_disk_refuses_imports_and_api_calls(alice: Person, server: Server) -> None:
    made = alice.post("/settings/keys/", {"name": "p", "run": True, "list": True, "password": PASSWORD})
    program = Program(server.url, made.json()["key"])
    url = "data:image/jpeg;base64," + base64.b64encode(pictures.jpeg().ljust(3_000_000, b"\0")).decode()
    content = [{"type": "image_url", "image_url": {"url": url}}]
    body = {"model": SEEING, "messages": [{"role": "user", "content": content}]}
    with full_disk(server):
        assert code(program.client.post(CHAT, json=body)) == "503 storage_full"
        response = imports.upload(alice, LARGE)
        assert (response.status_code, response.headers["Location"]) == (303, "/settings/data/?problem=full")
        page = alice.get(response.headers["Location"], headers=imports.HTML).text
        assert "disk is full" in page
    assert program.client.post(CHAT, json=body).status_code == 200
    program.client.close()


def test_a_folder_that_cannot_be_written_refuses_files(alice: Person, server: Server) -> None:
    assert alice.upload("a.jpg", pictures.jpeg()).status_code == 201
    folder = server.folder / "uploads"
    folder.rmdir()
    folder.write_bytes(b"")
    for content in (pictures.jpeg(), LARGE):
        assert code(alice.upload("a.jpg", content)).startswith("503 storage_")
    form = {"content": "Well?", "model": SEEING, "csrfmiddlewaretoken": CSRF}
    sent = {"data": form, "files": {"file": ("a.jpg", pictures.jpeg())}, "headers": imports.HTML}
    response = alice.client.post("/c/", **sent)
    assert response.status_code == 503
    assert "disk is full" in response.text
    folder.unlink()
    assert alice.upload("a.jpg", pictures.jpeg()).status_code == 201


@pytest.mark.parametrize("damage", ["folder for file", "file for folder"])
def test_another_thing_in_place_of_a_file_counts_as_missing(server: Server, fake: Fake, damage: str) -> None:
    alice, content = server.person("alice"), pictures.jpeg(90 + len(damage))
    told = alice.upload("cat.jpg", content).json()
    with alice.ask("Well?", model=SEEING, attachments=[told["id"]]) as stream:
        conversation = stream.to_end().conversation
    key = alice.get(told["url"]).headers["ETag"].strip('"')
    folder = server.folder / "attachments" / key[:2]
    path = folder / key
    if damage == "folder for file":
        path.unlink()
        (path / "x").mkdir(parents=True)
    else:
        shutil.rmtree(folder)
        folder.write_bytes(b"")
    response = alice.get(told["url"])
    assert (response.status_code, "missing" in response.text) == (404, True)
    for page in (f"/c/{conversation}/", f"/c/{conversation}/export/?format=html", "/settings/data/export/"):
        assert alice.get(page, headers=imports.HTML).status_code == 200, page
    with alice.ask("And?", f"/c/{conversation}/messages/", model=SEEING) as stream:
        assert stream.to_end().finished
    assert "image_url" not in str(fake.calls[-1]["body"])
    again = alice.upload("cat.jpg", content)
    if damage == "folder for file":
        assert alice.get(again.json()["url"]).status_code == 200
        assert alice.get(told["url"]).status_code == 200
    else:
        assert code(again) == "503 storage_unavailable"


@pytest.fixture
def bucket() -> Iterator[FakeS3]:
    if importlib.util.find_spec("storages") is None:
        missing("django-storages", "run `make install-s3`")
    with serving() as found:
        yield found


def test_nobody_waits_for_the_exports_of_others(servers: Callable[..., Server], bucket: FakeS3) -> None:
    keys = {"ATTACHMENTS_S3_KEY_ID": "a", "ATTACHMENTS_S3_KEY": "s"}
    server = servers(ATTACHMENTS_S3_BUCKET="b", ATTACHMENTS_S3_ENDPOINT=bucket.url, **keys)
    people = [server.person(name) for name in ("alice", "bob") for _ in range(2)]
    for person in people:
        picture = person.upload("a.jpg", pictures.jpeg()).json()["id"]
        person.asked("Well?", model=SEEING, attachments=[picture])
    bucket.silent = True
    with ThreadPoolExecutor(len(people)) as pool:
        exports = [pool.submit(person.get, "/settings/data/export/") for person in people]
        until(lambda: bucket.waiting >= 2)
        erin = server.person("erin")
        began = time.monotonic()
        assert erin.get("/", headers=imports.HTML).status_code == 200
        waited = time.monotonic() - began
        bucket.silent = False
        assert {export.result().status_code for export in exports} == {200}
    assert waited < 5
