"""The steps of an import: the preview, the storing, its stop, its restart, and what is refused."""

import os
from collections.abc import Callable
from datetime import timedelta
from typing import Any, NoReturn

import pytest
from django.utils import timezone

from chat.files.confinement import Crashed, Expired, TooMuchOutput
from chat.files.problems import UnconfinedFiles
from chat.models import Conversation, ImportJob, Message, User
from chat.models.import_job import ABANDONED_AFTER
from chat.search.build import verify
from chat.transfer import import_files, importing, jobs, storing
from chat.transfer.problems import FILE_PROBLEMS
from chat.transfer.reader import Untrusted
from tests.transfer import samples
from tests.transfer.exported import archived
from tests.transfer.importing import checked, imported, start, started, uploaded, work, zipped

pytestmark = [pytest.mark.django_db, pytest.mark.database, pytest.mark.usefixtures("folder")]
State = ImportJob.State


def after(calls: int) -> Callable[[], bool]:
    """A stop that comes after so many questions for it."""
    left = [calls]

    def stop() -> bool:
        left[0] -= 1
        return left[0] < 0

    return stop


def four() -> list[Any]:
    return [samples.chatgpt(), samples.claude(), samples.open_webui(), samples.librechat()]


def test_the_preview_counts_and_stores_nothing(ann: User) -> None:
    job = checked(ann, [*four(), samples.claude(), {"mapping": {}}, {"x": 1}, {}])
    assert job.state == State.READY
    assert job.preview == {
        "sources": ["chatgpt", "claude", "open_webui", "librechat"],
        "conversations": 4,
        "messages": 10,
        "assistants": 0,
        "grown": 0,
        "added": 0,
        "known": 1,
        "trashed": 0,
        "skipped": {"empty": 1, "invalid": 2},
        "without": {
            "attachment": {"count": 4, "names": ["cat.png", "notes.txt", "sum.pdf", "x.png"]},
            "tool": {"count": 2, "names": ["web: search()", "web: found"]},
        },
        "prompts": 0,
        "known_prompts": 0,
        "refused_prompts": 0,
        "memories": 0,
        "refused_memories": 0,
    }
    assert not Conversation.objects.exists()
    assert not work(), "it waits for its owner"


def test_an_import_stores_each_conversation_once(ann: User) -> None:
    job = imported(ann, four())
    assert (job.state, job.stored, job.processed) == (State.DONE, 4, 4)
    assert not import_files.path_of(job.pk).exists()
    before = list(Message.objects.order_by("pk").values())
    again = checked(ann, four())
    assert (again.state, again.problem, again.preview["known"]) == (State.REFUSED, "known", 4)
    assert list(Message.objects.order_by("pk").values()) == before
    imported(User.objects.create_user("ben"), four())
    assert Conversation.objects.count() == 8


def test_the_files_of_an_archive_that_are_not_read_are_named(ann: User) -> None:
    files = {"conversations.json": four(), "projects.json": [{"docs": []}], "memories.json": [{"a": "b"}]}
    job = imported(ann, zipped(files | {"users.json": [{"uuid": "1"}], "shared_conversations.json": []}))
    found = {"count": 2, "names": ["projects.json", "memories.json"]}
    assert (job.state, job.stored) == (State.DONE, 4)
    assert job.preview["without"]["file"] == job.preview["lost"]["file"] == found


def test_an_import_goes_on_where_it_was_interrupted(ann: User) -> None:
    job = uploaded(ann, four())
    work(after(2))
    job.refresh_from_db()
    assert (job.state, job.beat) == (State.CHECKING, None)
    work()
    start(job)
    work(after(4))
    assert Conversation.objects.count() == 2
    work()
    job.refresh_from_db()
    assert (job.state, job.stored, Conversation.objects.count()) == (State.DONE, 4, 4)


def test_an_import_is_taken_over_when_its_heartbeat_stops(ann: User) -> None:
    job = uploaded(ann, four())
    assert jobs.claim()
    assert jobs.claim() is None
    late = timezone.now() - ABANDONED_AFTER - timedelta(seconds=1)
    ImportJob.objects.filter(pk=job.pk).update(beat=late)
    assert jobs.claim()


def test_a_stopped_import_stores_nothing_more(ann: User) -> None:
    job = started(ann, four())

    def stopped_by_its_owner() -> bool:
        if Conversation.objects.count() == 1:
            ImportJob.objects.filter(pk=job.pk).update(state=State.STOPPED)
        return False

    work(stopped_by_its_owner)
    assert Conversation.objects.count() == 1
    job.refresh_from_db()
    assert job.state == State.STOPPED


def test_a_long_conversation_is_shown_when_all_steps_are_stored(
    ann: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(storing, "STORE_BATCH_MESSAGES", 1)
    job = started(ann, [samples.chatgpt()])
    steps = []

    def given_up(storing: Any, is_last: bool) -> None:
        steps.append((is_last, Message.objects.count(), Conversation.objects.listed(ann).count()))
        if len(steps) == 2:
            raise jobs.Ended
        confirm(storing, is_last)

    confirm = importing._Storing._confirm
    monkeypatch.setattr(importing._Storing, "_confirm", given_up)
    work()
    assert steps == [(False, 1, 0), (False, 2, 0)]
    assert not Conversation.objects.listed(ann).exists()
    ImportJob.objects.filter(pk=job.pk).update(state=State.STOPPED)
    monkeypatch.setattr(importing._Storing, "_confirm", confirm)
    again = imported(ann, [samples.chatgpt()])
    assert (again.state, again.stored) == (State.DONE, 1)
    assert (Conversation.objects.listed(ann).count(), Message.objects.count()) == (1, 3)
    assert verify().total == 0


def test_an_archive_of_this_chat_is_imported_whole(ann: User) -> None:
    imported(ann, four())
    archive = archived(ann)
    ben = User.objects.create_user("ben")
    job = imported(ben, archive)
    assert (job.preview["sources"], job.stored, job.preview["skipped"]) == (["chat"], 4, {})
    mine, his = (
        sorted(Conversation.objects.filter(user=user).values_list("title", "updated", "messages__text"))
        for user in (ann, ben)
    )
    assert mine == his


def test_the_import_of_a_disabled_person_stores_nothing(ann: User) -> None:
    started(ann, four())
    User.objects.filter(pk=ann.pk).update(is_active=False)
    assert not work()
    assert not Conversation.objects.exists()


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"hello", "not_json"),
        (b'[{"a": 1', "damaged"),
        (b"[]", "no_conversations"),
        (b"[{}]", "nothing"),
        (b'[{"mapping": NaN}]', "nothing"),
        (b'[{"mapping": {"a": ' + b"9" * 400 + b"}}]", "nothing"),
        (b'[{"mapping": ' + b"[" * 600 + b"]" * 600 + b"}]", "nothing"),
        (b"[{\xff: 1}]", "nothing"),
        (b"[{]}]", "no_conversations"),
        (b"PK\x03\x04", "damaged"),
    ],
)
def test_a_file_that_cannot_be_read_is_refused(ann: User, data: bytes, problem: str) -> None:
    job = checked(ann, data)
    assert (job.state, job.problem) == (State.REFUSED, problem)
    assert not Conversation.objects.exists()
    assert not import_files.path_of(job.pk).exists()


def test_a_refused_file_names_what_it_has(ann: User) -> None:
    uploaded(ann, zipped({"conversations.json": '{"a": 1', "projects.json": [{"a": 1}]}))
    work()
    job = ImportJob.objects.get()
    assert (job.state, job.problem) == (State.REFUSED, "damaged")
    assert job.preview["without"]["file"]["names"] == ["conversations.json", "projects.json"]


def test_too_many_conversations_are_refused(ann: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importing, "MAX_CONVERSATIONS", 3)
    job = checked(ann, four())
    assert (job.state, job.problem) == (State.REFUSED, "too_many")


def test_an_error_of_ours_ends_the_import(ann: User, monkeypatch: pytest.MonkeyPatch, caplog: Any) -> None:
    job = uploaded(ann, four())
    monkeypatch.setattr(importing, "objects", lambda *_, **__: 1 / 0)
    assert work()
    job.refresh_from_db()
    assert (job.state, job.problem) == (State.REFUSED, "failed")
    assert "an import failed" in caplog.text


def test_an_import_is_left_to_the_machine_with_its_file(ann: User) -> None:
    job = uploaded(ann, four())
    import_files.path_of(job.pk).unlink()
    assert not work()
    job.refresh_from_db()
    assert job.state == State.CHECKING


@pytest.mark.parametrize(("limit", "is_active"), [(200, True), (0, True), (200, False)])
def test_files_that_nobody_waits_for_are_deleted(
    ann: User, settings: Any, limit: int, is_active: bool
) -> None:
    settings.IMPORT_MAX_MB = limit
    job = uploaded(ann, four())
    stray = import_files.folder() / "stray"
    stray.touch()
    if limit and is_active:
        work()
    User.objects.filter(pk=ann.pk).update(is_active=is_active)
    jobs.tidy()
    assert stray.exists(), "it may be arriving"
    old = timezone.now() - timedelta(days=2)
    for path in (stray, import_files.path_of(job.pk)):
        os.utime(path, (old.timestamp(), old.timestamp()))
    jobs.tidy()
    assert [path.name for path in import_files.folder().iterdir()] == [str(job.pk)]
    ImportJob.objects.filter(pk=job.pk).update(created=old)
    jobs.tidy()
    assert list(import_files.folder().iterdir()) == []
    job.refresh_from_db()
    assert job.state == State.STOPPED


@pytest.mark.parametrize(
    ("error", "state", "problem", "attempts"),
    [
        (Expired(), State.REFUSED, "slow", 1),
        (UnconfinedFiles("seccomp"), State.REFUSED, "unconfined", 1),
        (FileNotFoundError(), State.REFUSED, "gone", 1),
        (MemoryError(), State.REFUSED, "failed", 1),
        (Crashed(-9), State.CHECKING, "", 1),
        (TooMuchOutput(), State.CHECKING, "", 1),
        (Untrusted("a NUL"), State.CHECKING, "", 1),
        (jobs.Ended(), State.CHECKING, "", 0),
    ],
)
def test_an_end_of_the_child_is_told_or_tried_again(
    ann: User,
    error: Exception,
    state: ImportJob.State,
    problem: str,
    attempts: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(*_: object, **__: object) -> NoReturn:
        raise error

    job = uploaded(ann, four())
    monkeypatch.setattr(importing, "objects", fail)
    assert work()
    job.refresh_from_db()
    assert (job.state, job.problem, job.beat, job.attempts) == (state, problem, None, attempts)
    assert not problem or problem in FILE_PROBLEMS
