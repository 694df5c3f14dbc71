"""Pruning: exactly the rows that are old enough, in small transactions, by one process a day."""

import asyncio
import os
import re
import uuid
from collections.abc import Callable
from datetime import timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from axes.models import AccessAttempt
from django.contrib.sessions.models import Session
from django.core.management import CommandError, call_command
from django.db import IntegrityError, connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from chat.models import (
    Call,
    Conversation,
    ConversationAccess,
    ConversationAccessOwner,
    ConversationAccessPrune,
    Feedback,
    Invite,
    Message,
    Run,
    Step,
    TitleRequest,
    User,
)
from chat.models.usage import usage_of
from chat.retention import daily, deletion, kinds
from chatsite import env
from tests.support.message_trees import run
from tests.support.readings import forget_readings
from tests.support.steps import looked_up, step_of
from tests.support.waiting import becomes

pytestmark = [pytest.mark.database, pytest.mark.django_db(transaction=True)]


def ago(days: float) -> Any:
    return timezone.now() - timedelta(days=days)


def prune(*options: str) -> dict[str, int]:
    """Run the command and return the number of each kind that it names."""
    output = StringIO()
    call_command("prune", *options, stdout=output)
    found = [
        re.match(r"(?:would delete|deleted) (\d+) (.+)", line) for line in output.getvalue().splitlines()
    ]
    return {each[2]: int(each[1]) for each in found if each}


def conversation(alice: User, length: int = 2, **more: Any) -> Conversation:
    """A conversation of that many messages, each under the one before, the last ones first in the table."""
    made = Conversation.objects.create(user=alice, title="t", model="m", **more)
    keys = [uuid.uuid4() for _ in range(length)]
    rows = [
        Message(
            id=key,
            conversation=made,
            parent_id=keys[number - 1] if number else None,
            role="assistant" if number % 2 else "user",
            text="words",
            created=ago(40),  # all at the same time: only the parents tell the order
        )
        for number, key in enumerate(keys)
    ]
    Message.objects.bulk_create(rows)
    Conversation.objects.filter(pk=made.pk).update(active_leaf=keys[-1])
    return made


def test_each_kind_goes_when_its_time_is_over_and_not_before(alice: User) -> None:
    now = timezone.now()
    for name, expires in (("old", ago(1)), ("new", now + timedelta(days=1))):
        Session.objects.create(session_key=name, session_data="", expire_date=expires)
    for number, (created, used) in enumerate(
        [(ago(90), None), (ago(90), ago(40)), (ago(36), None), (now, now)]
    ):
        Invite.objects.create(digest=f"{number}", created=created, used=used)
    for days in (31, 29):
        attempt = AccessAttempt.objects.create(username=f"{days}", failures_since_start=1)
        AccessAttempt.objects.filter(pk=attempt.pk).update(attempt_time=ago(days))
    for days, status in ((366, "complete"), (366, "running"), (364, "complete")):
        finished = None if status == "running" else ago(days)
        times = {"created": ago(days), "finished": finished}
        Call.objects.create(user=alice, model="m", dialect="openai", streamed=False, status=status, **times)
    for deleted in (ago(31), ago(29), None):
        conversation(alice, deleted=deleted)
    expected = {
        "expired sessions": 1,
        "used and expired invitations": 2,
        "failed logins": 1,
        "API calls": 1,
        "deleted chats": 1,
    }
    before = (Session.objects.count(), Conversation.objects.count(), Call.objects.count())
    counted = prune("--dry-run")
    assert before == (Session.objects.count(), Conversation.objects.count(), Call.objects.count())
    deleted = prune()
    assert counted == deleted
    assert {name: number for name, number in deleted.items() if number} == expected
    assert "readings" not in deleted  # kept for ever unless a setting says otherwise
    assert Session.objects.get().pk == "new"
    assert sorted(Invite.objects.values_list("digest", flat=True)) == ["2", "3"]
    assert Call.objects.count() == 2
    assert (Conversation.objects.count(), Message.objects.count()) == (2, 4)
    assert not any(prune().values())


def test_purged_messages_and_conversations_leave_their_usage(alice: User) -> None:
    talk, gone = conversation(alice, 6), conversation(alice, 2, deleted=ago(31))
    talk.refresh_from_db()
    path = [step.id for step in Message.objects.ancestors(talk.active_leaf_id, 9)]
    Message.objects.filter(pk__in=path[:4]).update(deleted=ago(31))
    Conversation.objects.filter(pk=talk.pk).update(active_leaf=path[4])
    for message, by in ((path[0], ""), (path[4], ""), (gone.messages.last().pk, "@cf/another")):
        used = {"prompt_tokens": 5, "completion_tokens": 7, "answered_by": by, "created": ago(2)}
        within = Message.objects.get(pk=message).conversation
        run = Run.objects.create(
            user=alice, conversation=within, message_id=message, fingerprint="x", max_tokens=9,
            model="@cf/a/b", status="complete", finished=ago(2), **used,
        )  # fmt: skip
    TitleRequest.objects.create(
        user=alice, conversation=gone, model="@cf/t", prompt_tokens=1, completion_tokens=2, created=ago(2)
    )
    Call.objects.create(
        user=alice, run=run, dialect="openai", streamed=True, model="@cf/another", status="complete",
        finished=ago(2), prompt_tokens=5, completion_tokens=7, created=ago(2),
    )  # fmt: skip
    step_of(run, 1, cost=0.5, created=ago(2))
    step_of(run, 2, created=ago(2))
    days = [ago(3), ago(0)]
    before = usage_of(alice, days)
    assert sum(each.requests for each in before) == 5
    found = prune()
    assert (found["deleted messages"], found["deleted chats"]) == (4, 1)
    assert sorted(Message.objects.values_list("pk", flat=True)) == sorted(path[4:])
    assert usage_of(alice, days) == before
    assert not Step.objects.exists()
    assert not any(prune().values())


def test_a_temporary_chat_takes_its_steps_along(alice: User) -> None:
    looked_up(alice)
    Conversation.objects.update(temporary=True, updated=ago(0.99))
    Run.objects.update(status="waiting", finished=None)  # which may last for a day by itself
    assert kinds.sweep(deletion.never)["temporary chats"] == 1
    assert not Step.objects.exists()
    looked_up(alice)
    alice.delete()
    assert not Step.objects.exists()


def test_a_sweep_takes_closed_temporary_chats_and_what_is_due(alice: User, settings: Any) -> None:
    now = timezone.now()
    kept = [
        conversation(alice, temporary=True, updated=ago(0.9)),
        conversation(alice, deleted=ago(29)),
        conversation(alice, updated=ago(400)),
    ]
    conversation(alice, temporary=True, deleted=now)
    conversation(alice, temporary=True, updated=ago(0.99))
    due = conversation(alice, deleted=ago(30))
    settings.PRUNE_DAILY = False
    files = {"files of deleted attachments": 0}
    assert kinds.sweep(deletion.never) == {"temporary chats": 2} | files
    settings.PRUNE_DAILY = True
    assert Conversation.objects.filter(pk=due.pk).exists()
    deleted = {"temporary chats": 0, "deleted chats": 1}
    assert kinds.sweep(deletion.never) == deleted | files
    assert set(Conversation.objects.all()) == set(kept)


def test_a_sweep_completes_the_feedback_of_an_older_version(alice: User) -> None:
    older, newer = conversation(alice), conversation(alice)
    for talk, known in ((older, None), (newer, newer.pk)):
        reply = talk.messages.get(role="assistant")
        Feedback.objects.create(message=reply, user=alice, up=True, conversation=known)
    kinds.sweep(deletion.never)
    assert set(Feedback.objects.values_list("conversation", flat=True)) == {older.pk, newer.pk}


@pytest.fixture
def workers(settings: Any, tmp_path: Path) -> Path:
    """The folder of journals, with some of 31 and of 29 days."""
    settings.DATA_DIR = tmp_path
    folder = tmp_path / "workers"
    folder.mkdir()
    for days in (31, 29):
        for suffix in (".damaged", ".journal"):
            path = folder / f"{days}{suffix}"
            path.write_text("words")
            os.utime(path, (ago(days).timestamp(),) * 2)
    return folder


def test_damaged_journals_go_when_deleted_conversations_do(workers: Path) -> None:
    assert prune("--dry-run")["damaged journals"] == 1
    assert len(list(workers.iterdir())) == 4
    assert prune()["damaged journals"] == 1
    assert {path.name for path in workers.iterdir()} == {"29.damaged", "29.journal", "31.journal"}
    assert prune()["damaged journals"] == 0


def test_damaged_journals_stay_where_deleted_conversations_do(workers: Path, settings: Any) -> None:
    settings.KEEP_DELETED_DAYS = 0
    assert "damaged journals" not in prune()
    assert len(list(workers.iterdir())) == 4


def test_a_journal_that_cannot_be_deleted_is_named(workers: Path) -> None:
    (workers / "31.damaged").unlink()
    (workers / "31.damaged").mkdir()
    os.utime(workers / "31.damaged", (ago(31).timestamp(),) * 2)
    with pytest.raises(CommandError, match=r"31\.damaged"):
        prune()


def test_rows_kept_for_ever_stay(alice: User, settings: Any) -> None:
    for name in ("DELETED", "CALLS", "INVITATIONS", "LOGIN_FAILURES"):
        setattr(settings, f"KEEP_{name}_DAYS", 0)
    conversation(alice, deleted=ago(9_999))
    Invite.objects.create(digest="d", created=ago(9_999))
    assert set(prune()) == {
        "expired sessions",
        "expired shared links",
        "files of deleted attachments",
        "uploaded files without a row",
        "files that were never sent",
        "leftover pieces of finished replies",
        "replaced versions of assistants",
        "temporary chats",
    }
    assert (Conversation.objects.count(), Invite.objects.count()) == (1, 1)


def test_a_long_conversation_goes_in_short_transactions(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deletion, "DELETE_BATCH_ROWS", 10)
    conversation(alice, 95, deleted=ago(31))
    rests: list[float] = []
    monkeypatch.setattr("chat.db.executor.time.sleep", rests.append)
    with CaptureQueriesContext(connection) as queries:
        assert prune()["deleted chats"] == 1
    assert not Message.objects.exists()
    deletions = [query["sql"] for query in queries if query["sql"].startswith('DELETE FROM "chat_message"')]
    assert len(deletions) == 10
    assert len(rests) >= 11


def test_one_with_a_live_reply_stays(alice: User, settings: Any) -> None:
    run(conversation(alice, deleted=ago(31)).messages.get(role="assistant"), "running")
    assert prune()["deleted chats"] == 0
    assert Message.objects.count() == 2


@pytest.fixture
def reading() -> Any:
    """Make one of so many days ago. It cannot be deleted, so each test cleans up by pruning."""
    made: list[ConversationAccess] = []

    def one(days: float) -> ConversationAccess:
        row = ConversationAccess.objects.create(
            reader_key=1, reader="r", owner_key=2, owner="o", at=ago(days)
        )
        ConversationAccessOwner.objects.create(access=row, owner_key=2, owner="o")
        made.append(row)
        return row

    yield one
    forget_readings()


def test_readings_go_by_a_setting_of_their_own(
    reading: Callable[[float], ConversationAccess], settings: Any
) -> None:
    old, young = reading(101), reading(99)
    settings.KEEP_READINGS_DAYS = 100
    assert prune()["readings"] == 1
    assert not ConversationAccess.objects.filter(pk=old.pk).exists()
    assert list(ConversationAccess.objects.all()) == [young]
    assert [row.access_id for row in ConversationAccessOwner.objects.all()] == [young.pk]
    assert not ConversationAccessPrune.objects.exists()


def refused(do: Callable[[], object], before: Any) -> None:
    """Also with a permit."""
    with pytest.raises(IntegrityError), transaction.atomic(), ConversationAccessPrune.objects.permit(before):
        do()


def test_the_database_refuses_what_is_too_young_whoever_asks(
    reading: Callable[[float], ConversationAccess],
) -> None:
    old, young = reading(101), reading(89)
    with pytest.raises(IntegrityError):
        old.delete()  # no permit
    refused(young.delete, timezone.now())
    refused(old.delete, ago(102))
    refused(lambda: ConversationAccessOwner.objects.filter(access=old).delete(), timezone.now())
    refused(lambda: ConversationAccess.objects.filter(pk=old.pk).update(reader="x"), timezone.now())
    assert (ConversationAccess.objects.count(), ConversationAccessOwner.objects.count()) == (2, 2)


def test_days_are_a_number_or_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    assert (env.days("SOME_DAYS", 30), env.days("OTHER_DAYS", 0, 90)) == (30, 0)
    for written in ("0", "90", "36500"):
        monkeypatch.setenv("SOME_DAYS", written)
        assert env.days("SOME_DAYS", 30, 90) == int(written)
    for written in ("89", "-1", "1.5", "x", "36501"):
        monkeypatch.setenv("SOME_DAYS", written)
        with pytest.raises(env.EnvError, match=r"SOME_DAYS .* or 0 for ever"):
            env.days("SOME_DAYS", 30, 90)


async def test_it_runs_by_itself_once_a_day_in_one_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(daily, "PRUNING_POLL_SECONDS", 0.01)
    pruned: list[int] = []
    monkeypatch.setattr(daily, "prune", lambda stop: pruned.append(1) or {})
    processes = [asyncio.create_task(daily.prune_daily()) for _ in range(2)]
    await becomes(lambda: pruned)
    for _ in range(5):  # as many looks again
        await asyncio.sleep(0.02)
    for each in processes:
        each.cancel()
    await asyncio.gather(*processes, return_exceptions=True)
    assert pruned == [1]
