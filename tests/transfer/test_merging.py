"""A later export of a conversation that was imported before."""

from typing import Any

import pytest
from django.utils import timezone

from chat.models import Conversation, ImportJob, Message, User
from chat.transfer import merging
from tests.transfer import samples
from tests.transfer.importing import checked, imported, start, uploaded, work

pytestmark = [pytest.mark.django_db, pytest.mark.database, pytest.mark.usefixtures("folder")]
State = ImportJob.State


def longer() -> dict[str, Any]:
    """A later export of the same conversation: two more messages, and another version of the first reply."""
    sent = samples.claude(current_leaf_message_uuid="m4")
    question, reply = (dict(each) for each in sent["chat_messages"])
    question["parent_message_uuid"], reply["parent_message_uuid"] = "", "m1"
    more = [("m3", "m1", reply), ("m5", "m2", question), ("m4", "m5", reply)]
    sent["chat_messages"] = [question, reply]
    sent["chat_messages"] += [each | {"uuid": key, "parent_message_uuid": above} for key, above, each in more]
    return sent


def test_a_later_export_adds_what_is_new(ann: User) -> None:
    imported(ann, samples.claude())
    talk = Conversation.objects.get()
    before = {row["id"]: row for row in Message.objects.values()}
    job = checked(ann, [longer(), samples.claude()])
    found = job.preview
    assert (found["conversations"], found["grown"], found["added"], found["known"]) == (0, 1, 3, 1)
    start(job)
    work()
    job.refresh_from_db()
    assert (job.state, job.stored, job.processed) == (State.DONE, 1, 2)
    rows = {row["id"]: row for row in Message.objects.values()}
    assert len(rows) == 5
    assert {key: rows[key] for key in before} == before
    talk.refresh_from_db()
    assert len(list(Message.objects.ancestors(talk.active_leaf_id, 9))) == 4
    uploaded(ann, longer())
    work()
    assert ImportJob.objects.latest("created").state == State.REFUSED, "nothing is new any more"


def test_a_later_export_keeps_what_was_continued_or_deleted(ann: User) -> None:
    imported(ann, samples.claude())
    talk = Conversation.objects.get()
    mine = Message.objects.create(conversation=talk, parent_id=talk.active_leaf_id, role="user", text="mine")
    Conversation.objects.update(active_leaf=mine, title="Renamed")
    imported(ann, longer())
    talk.refresh_from_db()
    assert (talk.active_leaf_id, talk.title, Message.objects.count()) == (mine.pk, "Renamed", 6)


@pytest.mark.parametrize(("what", "count"), [("message", 3), ("conversation", 2)])
def test_a_later_export_restores_nothing_that_was_deleted(ann: User, what: str, count: int) -> None:
    imported(ann, samples.claude())
    if what == "message":
        Message.objects.filter(role="assistant").update(deleted=timezone.now())
    else:
        Conversation.objects.update(deleted=timezone.now())
    imported(ann, longer())
    assert Message.objects.count() == count
    assert not Message.objects.filter(parent__deleted__isnull=False, deleted=None).exists()


def test_a_conversation_grows_no_longer_than_one_can_be(ann: User, monkeypatch: pytest.MonkeyPatch) -> None:
    imported(ann, samples.claude())
    monkeypatch.setattr(merging, "MAX_IMPORTED_MESSAGES", 4)
    imported(ann, longer())
    assert Message.objects.count() == 2


@pytest.mark.parametrize("before", [False, True])
def test_the_preview_counts_what_a_file_itself_repeats(ann: User, before: bool) -> None:
    """An export may have two states of a conversation: of the later one, only what is new is stored."""
    if before:
        imported(ann, [samples.open_webui()])
    job = checked(ann, [samples.claude(), longer(), longer(), samples.open_webui()])
    found, messages = job.preview, Message.objects.count()
    assert (found["conversations"], found["grown"], found["added"]) == (1 if before else 2, 1, 3)
    assert found["known"] == (2 if before else 1)
    start(job)
    work()
    job.refresh_from_db()
    assert job.stored == found["conversations"] + found["grown"]
    assert Message.objects.count() - messages == found["messages"] + found["added"]


def test_the_preview_counts_a_growth_that_the_file_repeats_once(ann: User) -> None:
    imported(ann, samples.claude())
    job = checked(ann, [longer(), longer(), samples.claude()])
    found = job.preview
    assert (found["conversations"], found["grown"], found["added"], found["known"]) == (0, 1, 3, 2)


def test_the_memory_for_what_a_file_repeats_is_bounded(ann: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(merging, "MAX_PLANNED", 1)
    job = checked(ann, [samples.claude(), longer()])
    assert (job.preview["conversations"], job.preview["grown"], job.preview["known"]) == (1, 0, 1)


def test_the_preview_names_what_is_in_the_trash(ann: User) -> None:
    imported(ann, [samples.claude(), samples.open_webui()])
    Conversation.objects.filter(title="A poem").update(deleted=timezone.now())
    job = checked(ann, [samples.claude(), samples.open_webui(), samples.librechat()])
    assert (job.preview["conversations"], job.preview["known"], job.preview["trashed"]) == (1, 1, 1)
