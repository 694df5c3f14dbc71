"""The export of conversations with a key: a right of its own, pages, one conversation, all of them."""

import io
import json
import shutil
import subprocess
import uuid
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.api.client import Program
from tests.conftest import missing
from tests.support.documentation import fences
from tests.support.server import Server

PATHS = ("/v1/conversations", "/v1/conversations/{}", "/v1/export")


@pytest.fixture(scope="module")
def hers(server: Server) -> list[str]:
    """Three conversations of alice's, the latest first."""
    made = []
    for number in range(3):
        stream = server.person("alice").asked(f"question {number}\nfake: length tokens=2 delay=0")
        made.append(stream.conversation)
    return made[::-1]


@pytest.fixture(scope="module")
def backup(program: Callable[..., Program]) -> Program:
    return program(export=True, run=False, list=False)


@pytest.mark.parametrize("path", PATHS)
def test_a_key_without_the_right_exports_nothing(alices: Program, hers: list[str], path: str) -> None:
    response = alices.client.get(path.format(hers[0]))
    assert response.status_code == 403
    assert response.json()["error"]["code"] == "insufficient_permissions"


def test_a_key_that_exports_can_do_nothing_else(backup: Program) -> None:
    assert backup.chat("hello").status_code == 403
    assert backup.client.get("/v1/models").status_code == 403
    assert backup.client.post("/v1/export").status_code == 405


def test_the_list_has_pages(backup: Program, hers: list[str]) -> None:
    first = backup.client.get("/v1/conversations", params={"limit": 2}).json()
    assert [each["id"] for each in first["data"]] == hers[:2]
    assert (first["has_more"], first["last_id"]) == (True, hers[1])
    assert first["data"][0]["title"] == "question 2"
    rest = backup.client.get("/v1/conversations", params={"limit": 2, "after": hers[1]}).json()
    assert ([each["id"] for each in rest["data"]], rest["has_more"]) == (hers[2:], False)


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ({"limit": "0"}, 400),
        ({"limit": "101"}, 400),
        ({"limit": "²"}, 400),
        ({"after": "x"}, 400),
        ({"after": str(uuid.uuid4())}, 404),
    ],
)
def test_an_invalid_page_is_refused(backup: Program, query: dict[str, str], status: int) -> None:
    assert backup.client.get("/v1/conversations", params=query).status_code == status


def test_one_and_all_are_those_of_the_page(backup: Program, server: Server, hers: list[str]) -> None:
    one = backup.client.get(f"/v1/conversations/{hers[0]}").json()
    assert one == server.person("alice").get(f"/c/{hers[0]}/export/?format=json").json()
    archive = zipfile.ZipFile(io.BytesIO(backup.client.get("/v1/export").content))
    assert json.loads(archive.read(f"conversations/{hers[0]}.json")) == one
    assert {f"conversations/{each}.json" for each in hers} < set(archive.namelist())


def test_a_strangers_conversation_is_not_there(program: Callable[..., Program], hers: list[str]) -> None:
    bobs = program("bob", export=True)
    for key in (hers[0], str(uuid.uuid4())):
        assert bobs.client.get(f"/v1/conversations/{key}").status_code == 404
    assert bobs.client.get("/v1/conversations").json()["data"] == []
    assert bobs.client.get("/v1/conversations", params={"after": hers[0]}).status_code == 404


def test_the_job_of_the_readme_makes_a_backup(
    backup: Program, server: Server, hers: list[str], tmp_path: Path
) -> None:
    if shutil.which("curl") is None:
        missing("curl", "install the package curl")
    [command] = [lines[0] for lines in fences("docs/api.md") if lines[0].startswith("curl ")]
    (tmp_path / "key.txt").write_text(f"Authorization: Bearer {backup.key}\n")
    typed = command.replace("https://chat.example.org", server.url).split()
    subprocess.run(typed, cwd=tmp_path, check=True)
    assert f"conversations/{hers[0]}.json" in zipfile.ZipFile(tmp_path / "chat.zip").namelist()
