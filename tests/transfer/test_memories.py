"""The memory in an export, and its import."""

import json
import zipfile
from io import BytesIO
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from chat.library.memory import MAX_MEMORIES, remember
from chat.models import ImportJob, Memory, User
from chat.transfer import library
from tests.transfer.exported import archived
from tests.transfer.importing import checked, imported, started, work

pytestmark = [pytest.mark.django_db, pytest.mark.database, pytest.mark.usefixtures("folder")]
SCHEMA = json.loads((Path(library.__file__).parent / "memories.schema.json").read_text("utf-8"))
ONE = {"format": "chat.memory", "version": 1, "fact": "I like tea.", "created": "2026-01-02T03:04:05+00:00"}
State = ImportJob.State


def stored(user: User) -> list[tuple[Any, ...]]:
    return list(Memory.objects.owned_by(user).values_list("fact", "created"))


def test_an_export_is_imported_once_with_its_times(ann: User) -> None:
    ben = User.objects.create_user("ben")
    for fact in ("„I“ like tea.", "w" * 500, "last"):
        remember(ann, fact)
    remember(ben, "a secret of ben")
    data = archived(ann)
    with zipfile.ZipFile(BytesIO(data)) as archive:
        file = archive.read("memory.json")
    jsonschema_rs.validator_for(SCHEMA).validate(json.loads(file))
    again = checked(ann, data)
    assert (again.state, again.problem) == (State.REFUSED, "known")
    job = imported(ben, data)
    assert (job.state, job.preview["memories"], job.stored) == (State.DONE, 3, 0)
    assert stored(ben)[:3] == stored(ann)
    assert checked(ben, file).problem == "known"
    counted = []
    started(User.objects.create_user("cid"), file)
    work(lambda: counted.append(ImportJob.objects.latest("created").processed))
    assert 1 in counted  # at once, so that a stop knows of it
    with zipfile.ZipFile(BytesIO(archived(ann, []))) as archive:
        assert "memory.json" not in archive.namelist()


@pytest.mark.parametrize(
    "wrong", [{"version": 2}, {"fact": " "}, {"fact": "x" * 501}, {"fact": "a\0"}, {"created": "2026-01-02"}]
)
def test_a_memory_that_is_not_valid_is_left_out(ann: User, wrong: dict[str, Any]) -> None:
    job = imported(ann, [ONE | wrong, ONE, ONE | {"fact": " I like\ntea. "}])
    assert (job.state, job.preview["memories"], sum(job.preview["skipped"].values())) == (State.DONE, 1, 1)
    assert [fact for fact, _created in stored(ann)] == ["I like tea."]


def test_an_import_keeps_to_the_limit(ann: User) -> None:
    for number in range(MAX_MEMORIES - 1):
        remember(ann, str(number))
    job = imported(ann, [ONE | {"fact": f"new {number}"} for number in range(3)])
    assert (job.preview["memories"], job.preview["refused_memories"]) == (1, 2)
    assert len(stored(ann)) == MAX_MEMORIES
