"""The index agrees with the texts, whatever is stored, changed or deleted, and however it is built."""

import random
import uuid
from collections.abc import Callable
from contextlib import suppress
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from chat.catalog.catalog import CurrentCatalog
from chat.conversations.titles import TitleClaim, rename, save_title
from chat.conversations.turns.call_transcript import CallTranscript
from chat.conversations.turns.commands import ContinueReply, EditMessage, RegenerateReply, SendMessage
from chat.conversations.turns.store import TurnStore
from chat.engine.generation.active_run import ActiveRun
from chat.engine.generation.run_storage import save_batch
from chat.engine.outcome import RunOutcome
from chat.engine.streaming.run_state import RunInfo, RunState
from chat.exceptions import RequestError
from chat.models import Conversation, Message, Run, SearchBuild, SearchDocument, TitleRequest, User, Worker
from chat.ownership import recovery
from chat.ownership.protocol import Batch, Lease, Texts
from chat.retention.deletion import delete_conversations, delete_keys
from chat.search import build, index
from chat.search.build import Differences, verify
from chat.upstream.catalog import Catalog, LlmModel
from chat.upstream.chat_request import ChatRequest
from chat.wire.frames import Delta
from chat.wire.text import OverlapFilter
from tests.search.conftest import Say
from tests.support.message_trees import Tree, conversation

pytestmark = [pytest.mark.database, pytest.mark.django_db]
MODEL = LlmModel("@cf/a/b", "B", window=3_000)
SAID = ("The quick fox", "ümlaut 日本語 useEffect", "a b c a b c", "…", "it's \\ 'quoted' \" text")


class History:
    """Random actions of people, by the functions that the site itself uses."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.user = User.objects.create_user("alice")
        self.worker = Worker.objects.create(id=uuid.uuid4(), host="here", pid=1)
        self.store = TurnStore(Lease(self.worker.pk), CurrentCatalog(Catalog([MODEL], MODEL.id)))

    def act(self) -> None:
        actions: list[Callable[[], None]] = [
            self.send, self.send, self.edit, self.regenerate, self.proceed, self.end, self.end_batch,
            self.rename, self.title, self.extend, self.call, self.delete, self.delete_message,
        ]  # fmt: skip
        with suppress(RequestError):  # such as to continue a complete reply
            self.random.choice(actions)()

    def words(self) -> str:
        return " ".join(self.random.choices(SAID, k=self.random.randint(1, 4)))

    def any(self, rows) -> object | None:
        keys = sorted(rows.values_list("pk", flat=True))
        return self.random.choice(keys) if keys else None

    def turn(self, command) -> None:
        self.store.store(self.user, command, queued=False)

    def send(self) -> None:
        talk = self.any(Conversation.objects.all()) if self.random.random() < 0.6 else None
        self.turn(SendMessage(self.words(), uuid.uuid4(), conversation=talk))

    def edit(self) -> None:
        if message := self.any(Message.objects.filter(role="user")):
            self.turn(EditMessage(message, self.words(), uuid.uuid4()))

    def regenerate(self) -> None:
        if message := self.any(Message.objects.filter(role="assistant")):
            self.turn(RegenerateReply(message, uuid.uuid4()))

    def proceed(self) -> None:
        if message := self.any(Message.objects.filter(role="assistant")):
            self.turn(ContinueReply(message, uuid.uuid4()))

    def end(self) -> None:
        if run := Run.objects.live().order_by("created").first():
            run.chunks.create(kind="t", start=0, text=self.words())
            recovery.interrupt(run)

    def end_batch(self) -> None:
        """All live runs end in one batch, as the writer ends them; some have no text."""
        ended = []
        for row in Run.objects.live().select_related("message").order_by("created"):
            active_run = ActiveRun(RunState(RunInfo.of(row)), row, OverlapFilter(""))
            active_run.state.append(self.words() if self.random.random() < 0.8 else "")
            active_run.end(RunOutcome(self.random.choice(["complete", "stopped"])))
            ended.append(active_run)
        save_batch(Batch(ended=ended), self.worker.pk)

    def extend(self) -> None:
        """A process that lost a run comes back with more of its text, or with another."""
        if key := self.any(Run.objects.filter(status="interrupted")):
            run = Run.objects.select_related("message").get(pk=key)
            text = run.texts()[0] if self.random.random() < 0.7 else ""
            recovery.keep_longer(run.pk, Texts(f"{text} {self.words()}", ""))

    def rename(self) -> None:
        if talk := self.any(Conversation.objects.all()):
            rename(Conversation.objects.get(pk=talk), self.words()[:80])

    def title(self) -> None:
        if talk := self.any(Conversation.objects.filter(title_state="first_line")):
            Conversation.objects.filter(pk=talk).update(title_state="requested")
            request = TitleRequest.objects.create(conversation_id=talk, user=self.user, model=MODEL.id)
            claim = TitleClaim(request.pk, talk, self.user.pk, "", "")
            save_title(claim, self.words()[:80], {"status": "complete"})

    def call(self) -> None:
        prompt = [{"role": "user", "content": self.words()}]
        transcript = CallTranscript(self.user, ChatRequest(prompt, MODEL, max_tokens=9))
        transcript.save()
        transcript.add_delta(Delta(text=self.words()))
        transcript.finish({"status": "complete"}, [])

    def delete(self) -> None:
        if (talk := self.any(Conversation.objects.all())) and self.random.random() < 0.3:
            Run.objects.filter(conversation=talk).update(
                worker=None, status="failed", finished=timezone.now()
            )
            delete_conversations(Conversation.objects.filter(pk=talk), lambda: False)

    def delete_message(self) -> None:
        ended = Message.objects.exclude(conversation__runs__status="running")
        if (message := self.any(ended)) and self.random.random() < 0.3:
            delete_keys(Message.objects.all(), [message])


@pytest.mark.parametrize("seed", [1, 2])
def test_after_any_history_the_index_agrees_with_the_texts(seed: int) -> None:
    history, most = History(seed), 0
    for _ in range(80):
        history.act()
        most = max(most, Message.objects.count())
    assert most > 10
    assert verify() == Differences()
    Run.objects.update(worker=None, status="failed", finished=timezone.now())
    history.user.delete()
    assert verify() == Differences()
    assert not SearchDocument.objects.exists()


def test_texts_stored_together_are_indexed_together() -> None:
    tree = Tree(conversation())
    tree.conversation.title = "A talk"
    messages = [tree.message(None, text) for text in ("one", "two", "three")]
    with CaptureQueriesContext(connection) as queries:
        index.add([index.title_of(tree.conversation), *(index.message_of(each, 1) for each in messages)])
    assert SearchDocument.objects.count() == 4
    # SQLite inserts the words of each document apart.
    assert len(queries) == (2 if connection.vendor == "sqlite" else 1)


def test_an_indexed_text_stays_while_others_are_added(say: Say) -> None:
    indexed = Message.objects.get(pk=say("one", title="Two"))
    other = Tree(indexed.conversation).message(None, "three")
    other.save()
    again = Message(pk=indexed.pk, text="four")
    index.add(index.message_of(each, indexed.conversation.user_id) for each in (again, other))
    assert SearchDocument.objects.count() == 3
    assert verify() == Differences()


@pytest.mark.django_db(transaction=True)
def test_a_flush_empties_the_index_as_well(say: Say) -> None:
    say("one")
    call_command("flush", verbosity=0, interactive=False)
    assert verify() == Differences()


def test_missing_stale_and_different_documents_are_reported(say: Say) -> None:
    missing, changed, stale = say("one"), say("two"), say("three")
    SearchDocument.objects.filter(message=missing).delete()
    Message.objects.filter(pk=changed).update(text="four")
    SearchDocument.objects.filter(message=stale).update(message=uuid.uuid4())
    assert verify() == Differences(missing=2, stale=2, different=1)
    with pytest.raises(CommandError, match="2 missing, 2 without a text, 1 different"):
        call_command("search_index", "--verify")


@pytest.fixture
def older() -> list[Message]:
    """Conversations of a time before the index, one of them long."""
    messages: list[Message] = []
    for length in (2, 7, 1):
        tree = Tree(conversation())
        messages += tree.grow(None, length)
    SearchBuild.objects.update_or_create(pk=1, defaults={"finished": False})
    return messages


@pytest.fixture(autouse=True)
def small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build, "STEP_CONVERSATIONS", 2)
    monkeypatch.setattr(build, "STEP_MESSAGES", 3)


def test_older_conversations_are_indexed_step_by_step(older: list[Message], say: Say) -> None:
    assert build.step() == 3
    assert SearchBuild.objects.is_running()
    say("written meanwhile")
    while build.step() is not None:
        pass
    assert not SearchBuild.objects.is_running()
    assert verify() == Differences()
    newest = SearchDocument.objects.order_by("-pk").filter(message__isnull=False)[0]
    assert newest.message not in {message.pk for message in older}


def test_a_step_takes_few_statements(
    older: list[Message], monkeypatch: pytest.MonkeyPatch, django_assert_max_num_queries: Any
) -> None:
    """The texts of a step are stored together, not one by one."""
    monkeypatch.setattr(build, "STEP_CONVERSATIONS", 100)
    monkeypatch.setattr(build, "STEP_MESSAGES", 100)
    with django_assert_max_num_queries(14):
        assert build.step() == 13


def test_the_command_builds_verifies_and_builds_anew(older: list[Message]) -> None:
    with pytest.raises(CommandError, match="still being built"):
        call_command("search_index", "--verify")
    for arguments, sentence in (
        ([], "complete: 13 documents"),
        (["--verify"], "agrees with all 13 documents"),
        (["--rebuild"], "complete: 13 documents"),
        (["--verify"], "agrees with all 13 documents"),
    ):
        out = StringIO()
        call_command("search_index", *arguments, stdout=out)
        assert sentence in out.getvalue()


def test_documents_added_after_a_new_build_are_newer(older: list[Message], say: Say) -> None:
    call_command("search_index", "--rebuild")
    before = SearchDocument.objects.order_by("-pk")[0].pk
    say("newer")
    assert SearchDocument.objects.filter(pk__gt=before).count() == 2
