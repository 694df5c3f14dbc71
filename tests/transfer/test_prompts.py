"""The prompt library in an export, and its import."""

import json
import zipfile
from io import BytesIO
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from chat.models import ImportJob, Prompt, User
from chat.transfer import library
from tests.transfer.exported import archived
from tests.transfer.importing import checked, imported

pytestmark = [pytest.mark.django_db, pytest.mark.database, pytest.mark.usefixtures("folder")]
SCHEMA = json.loads((Path(library.__file__).parent / "prompts.schema.json").read_text("utf-8"))
LETTER = {"title": "A letter", "command": "letter", "text": "Dear {{name}}"}
ONE = {"format": "chat.prompt", "version": 1, **LETTER}
State = ImportJob.State


def stored(user: User) -> list[tuple[str, ...]]:
    return list(Prompt.objects.owned_by(user).order_by("command").values_list("command", "title", "text"))


def test_an_export_is_imported_once_by_its_owner_and_by_others(ann: User) -> None:
    ben = User.objects.create_user("ben")
    for number in range(3):
        Prompt.objects.create(owner=ann, title=f"„{number}“", command=f"ü-{number}", text="a\n{{b:c}}\n")
    Prompt.objects.create(owner=ben, title="a secret", command="s", text="of ben", everybody=True)
    data = archived(ann)
    with zipfile.ZipFile(BytesIO(data)) as archive:
        file = archive.read("prompts.json")
    found = json.loads(file)
    jsonschema_rs.validator_for(SCHEMA).validate(found)
    assert [each["command"] for each in found] == ["ü-0", "ü-1", "ü-2"]
    again = checked(ann, data)
    assert (again.state, again.problem, again.preview["known_prompts"]) == (State.REFUSED, "known", 3)
    job = imported(ben, data)
    assert (job.state, job.preview["prompts"], job.stored) == (State.DONE, 3, 0)
    assert stored(ben) == [("s", "a secret", "of ben"), *stored(ann)]
    alone = checked(ben, file)
    assert alone.problem == "known"


def test_an_export_of_some_chats_has_no_prompts(ann: User) -> None:
    for only in (None, []):
        with zipfile.ZipFile(BytesIO(archived(ann, only))) as archive:
            assert "prompts.json" not in archive.namelist()
        Prompt.objects.create(owner=ann, title="t", command=f"c{only}", text="x")


def test_a_prompt_with_a_taken_command_gets_another(ann: User) -> None:
    Prompt.objects.create(owner=ann, title="Mine", command="letter", text="mine")
    imported(ann, [ONE, ONE | {"text": "another"}, ONE])
    assert stored(ann) == [
        ("letter", "Mine", "mine"),
        ("letter-2", "A letter", "Dear {{name}}"),
        ("letter-3", "A letter", "another"),
    ]


@pytest.mark.parametrize(
    "wrong",
    [
        {"version": 2},
        {"version": "1"},
        {"title": ""},
        {"title": "x" * 101},
        {"text": " "},
        {"text": "x" * 20_001},
        {"text": "a\0"},
        {"text": 1},
        {"command": "a b"},
        {"command": None},
    ],
)
def test_a_prompt_that_is_not_valid_is_left_out(ann: User, wrong: dict[str, Any]) -> None:
    job = imported(ann, [ONE | wrong, ONE])
    assert (job.state, job.preview["prompts"], job.preview["refused_prompts"]) == (State.DONE, 1, 1)
    assert len(stored(ann)) == 1
    alone = checked(ann, [ONE | wrong])
    assert (alone.state, alone.problem) == (State.REFUSED, "nothing")


def test_an_import_keeps_to_the_limit(ann: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(library, "MAX_PROMPTS", 2)
    job = imported(ann, [ONE | {"text": str(number)} for number in range(3)])
    assert (job.preview["prompts"], job.preview["refused_prompts"]) == (2, 1)
    assert len(stored(ann)) == 2
