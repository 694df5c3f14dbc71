"""Migrations keep what is stored."""

import threading
import uuid
from datetime import UTC, datetime
from typing import Any

import pytest
from django.contrib.auth.models import Group, Permission
from django.db import IntegrityError, connection, transaction
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader

from chat.migration_status import known_names
from chat.models import (
    ApiKey,
    Call,
    Conversation,
    ConversationAccess,
    ConversationAccessOwner,
    Feedback,
    ImportJob,
    Message,
    Run,
    RunChunk,
    SearchBuild,
    SearchDocument,
    SiteModel,
)
from chat.search import build, results
from chat.search.query import parse
from chatsite import locks
from tests.support.older_databases import Older, apps_at, migrate_to, migrate_to_latest

BEFORE, AFTER = "0023_field_names", "0024_site_models"
AT = datetime(2026, 1, 22, 12, tzinfo=UTC)
RENAMED = {
    "chat_offeredmodel": "chat_sitemodel",
    "chat_offeredmodel_groups": "chat_sitemodel_groups",
    "chat_modellist": "chat_catalogstate",
    "chat_reading": "chat_conversationaccess",
    "chat_readingowner": "chat_conversationaccessowner",
    "chat_readingprune": "chat_conversationaccessprune",
}
BOOKKEEPING = {"django_migrations", "django_content_type", "auth_permission", "sqlite_sequence"}
MODEL = "@cf/a/b"


def migrate(target: str) -> Any:
    """Return the apps as they are then."""
    migrate_to(target)
    return apps_at(target)


def fill(apps: Any) -> None:
    """Store a row in each table that a migration since then has touched."""

    def create(model_name: str, /, **values: Any) -> Any:
        return apps.get_model("chat", model_name).objects.create(**values)

    user = create("User", username="alice")
    conversation = create(
        "Conversation", user=user, title="Boats", model=MODEL, updated=AT, last_seen=AT, created=AT
    )
    question = create("Message", conversation=conversation, role="user", text="Which?", created=AT)
    reply = create(
        "Message",
        conversation=conversation,
        parent=question,
        role="assistant",
        text="Red ones.",
        selected_at=AT,
    )
    worker = create("Worker", id=uuid.uuid4(), pid=1, heartbeat_at=AT)
    run = create(
        "Run",
        user=user,
        conversation=conversation,
        message=reply,
        fingerprint="x",
        model=MODEL,
        max_tokens=9,
        status="running",
        worker=worker,
        fallback_reason="busy",
        text_offset=4,
        first_token=AT,
        first_text=AT,
    )
    create("RunChunk", run=run, kind="t", start=0, text="Red")
    key = create("ApiKey", user=user, name="a program", shown="chat_1234567", digest="d")
    create("Call", user=user, key=key, dialect="openai", streamed=True, model=MODEL, served_by="b")
    create("Feedback", message=reply, user=user, up=True, reason="boats")
    create("ModelList", version=7, fetched=AT, error="no answer")
    create("OfferedModel", id="@cf/a/c", source="search", gone=AT, refusals=3, refused=AT, shown=False)
    model = create(
        "OfferedModel",
        id=MODEL,
        source="search",
        declared={"id": MODEL},
        learnt_window=4_000,
        learnt_output=500,
        is_default=True,
        own_name="Ours",
        position=3,
    )
    model.groups.add(apps.get_model("auth", "Group").objects.create(name="few"))
    access = create("Reading", at=AT, kind="list", reader_key=1, reader="erin", words="boats")
    create("ReadingOwner", reading=access, owner_key=user.pk, owner="alice", conversations=["1"])


def stored() -> dict[str, list[Any]]:
    """Return the values of all rows by the table's present name. SQLite may change the order of columns."""
    found = {}
    with connection.cursor() as cursor:
        for table in set(connection.introspection.table_names(cursor)) - BOOKKEEPING:
            cursor.execute(f"SELECT * FROM {connection.ops.quote_name(table)}")
            found[RENAMED.get(table, table)] = sorted(sorted(map(repr, row)) for row in cursor.fetchall())
    return found


@pytest.mark.database
def test_renamed_tables_and_columns_keep_every_row(older: Older) -> None:
    fill(older(BEFORE))
    before = stored()
    assert all(before[new] for old, new in RENAMED.items() if old != "chat_readingprune")
    apps = migrate(AFTER)
    assert stored() == before
    rows = {name: apps.get_model("chat", name).objects for name in ("SiteModel", "Run", "ApiKey")}
    columns = (
        "enabled", "metadata", "observed_context_window", "observed_max_output", "delisted_at",
        "rejections", "last_rejected", "display_name",
    )  # fmt: skip
    assert list(rows["SiteModel"].order_by("pk").values_list(*columns)) == [
        (True, {"id": MODEL}, 4_000, 500, None, 0, None, "Ours"),
        (False, {}, None, None, AT, 3, AT, ""),
    ]
    assert rows["Run"].get().first_text_at == AT
    assert rows["ApiKey"].get().prefix == "chat_1234567"
    migrate(BEFORE)
    assert stored() == before
    migrate_to_latest()
    counted = (Conversation, Message, Run, RunChunk, ApiKey, Call, Feedback, SiteModel, ConversationAccess)
    assert [model.objects.count() for model in counted] == [1, 2, 1, 1, 1, 1, 1, 2, 1]


@pytest.mark.database
def test_renamed_tables_keep_their_rules(older: Older) -> None:
    fill(older(BEFORE))
    migrate(AFTER)
    for refused in (
        lambda: ConversationAccess.objects.update(reader="nobody"),
        lambda: ConversationAccess.objects.all().delete(),
        lambda: ConversationAccessOwner.objects.update(owner="nobody"),
        lambda: SiteModel.objects.filter(pk=MODEL).update(enabled=False),
        lambda: SiteModel.objects.update(enabled=True, is_default=True),
    ):
        with pytest.raises(IntegrityError), transaction.atomic():
            refused()


@pytest.mark.database
def test_groups_keep_their_rights_to_a_renamed_model(older: Older) -> None:
    apps = older(BEFORE)
    rights = apps.get_model("auth", "Permission").objects
    names = ("view_offeredmodel", "change_offeredmodel", "view_reading")
    group = apps.get_model("auth", "Group").objects.create(name="few")
    group.permissions.set(rights.filter(codename__in=names))
    assert group.permissions.count() == 3
    migrate(AFTER)
    held = Group.objects.get(name="few").permissions.values_list("content_type__model", "codename")
    assert set(held) == {
        ("sitemodel", "view_sitemodel"),
        ("sitemodel", "change_sitemodel"),
        ("conversationaccess", "view_conversationaccess"),
    }
    assert not Permission.objects.filter(codename__in=names).exists()
    migrate_to_latest()
    assert Group.objects.get(name="few").permissions.count() == 3


@pytest.mark.database
def test_the_order_of_conversations_keeps_every_row(older: Older) -> None:
    apps = older("0030_favourite_models")
    user = apps.get_model("chat", "User").objects.create(username="alice")
    made = apps.get_model("chat", "Conversation").objects.create(user=user, title="Boats", model=MODEL)
    apps.get_model("chat", "Message").objects.create(conversation=made, role="user", text="Which?")
    before = {name: rows for name, rows in stored().items() if rows}
    apps = migrate("0031_conversation_order")
    found = apps.get_model("chat", "Conversation").objects.get(title="Boats")
    assert (found.pinned_at, found.archived_at, found.temporary) == (None, None, False)
    assert found.messages.get().deleted is None
    migrate("0030_favourite_models")
    assert {name: rows for name, rows in stored().items() if rows} == before


def test_stored_permissions_have_the_new_names(older: Older) -> None:
    """The administration shows them by the names that Django stored when it made them."""
    older("0033_search")
    run = Permission.objects.filter(codename="view_run", content_type__app_label="chat")
    run.update(name="Can view run")
    migrate("0034_list_names")
    assert run.get().name == "Can view reply attempt"


@pytest.mark.database
def test_renamed_columns_of_imports_keep_every_row(older: Older) -> None:
    apps = older("0038_conversation_accesses")
    user = apps.get_model("chat", "User").objects.create(username="alice")
    apps.get_model("chat", "ImportJob").objects.create(
        user=user, file_name="a.zip", size=9, total=5, done=3, stored=2, found={"conversations": 4}
    )
    job = migrate("0039_import_job_names").get_model("chat", "ImportJob").objects.get()
    assert (job.preview, job.total, job.processed, job.stored) == ({"conversations": 4}, 5, 3, 2)
    old = migrate("0038_conversation_accesses").get_model("chat", "ImportJob").objects.get()
    assert (old.pk, old.found, old.done) == (job.pk, {"conversations": 4}, 3)
    migrate_to_latest()
    assert ImportJob.objects.get().preview == {"conversations": 4}


@pytest.mark.database
def test_the_search_index_is_built_again_with_new_words(older: Older) -> None:
    apps = older("0058_deleted_by_time")
    user = apps.get_model("chat", "User").objects.create(username="alice")
    talk = apps.get_model("chat", "Conversation").objects.create(user=user, title="Øl", model=MODEL)
    apps.get_model("chat", "SearchDocument").objects.create(
        id=1_000_000_007, owner=user.pk, conversation=talk.pk
    )
    apps.get_model("chat", "SearchBuild").objects.update(finished=True)
    migrate_to_latest()
    state = SearchBuild.objects.get()
    assert (state.finished, state.next_id, SearchDocument.objects.count()) == (False, 1_000_000_007, 0)
    build.build(lambda _: None, beside_servers=lambda: False)
    assert [found.title for found in results.search(user.pk, parse("ol ", UTC)).results] == ["Øl"]


@pytest.mark.database
def test_documents_with_embeddings_are_not_embedded_again(older: Older) -> None:
    apps = older("0060_import_attempts")
    files = [apps.get_model("chat", "AttachmentFile").objects.create(sha256=f"{n:064}") for n in range(2)]
    for file in files:
        apps.get_model("chat", "Attachment").objects.create(
            file=file, media_type="text/plain", name="a.txt", width=0, height=0, size=9, pages=1
        )
    apps.get_model("chat", "PassageVectors").objects.create(
        file=files[0], media_type="text/plain", model=MODEL, start=0, count=1, vectors=b"x"
    )
    found = migrate("0061_embedded_documents").get_model("chat", "Attachment").objects.order_by("file")
    assert [each.embedded for each in found] == [MODEL, ""]


ADDED = {"run_by_state", "run_latest", "run_live_by_conversation_state"}
REPLACED = {"run_by_status", "run_live_by_conversation", "chat_run_conversation_id_5adc132d"}


def indexes_of(table: str) -> set[str]:
    with connection.cursor() as cursor:
        found = connection.introspection.get_constraints(cursor, table)
    return {name for name, each in found.items() if each["index"]}


@pytest.mark.database
def test_feedback_gets_its_conversation_and_runs_their_indexes(older: Older) -> None:
    latest = indexes_of("chat_run")
    assert latest > ADDED
    apps = older("0040_list_indexes")
    assert indexes_of("chat_run") == (latest - ADDED) | REPLACED
    user = apps.get_model("chat", "User").objects.create(username="alice")
    create = {name: apps.get_model("chat", name).objects.create for name in ("Conversation", "Message")}
    belongs = {}
    for number in range(3):
        talk = create["Conversation"](user=user, title="Boats", model=MODEL)
        question = create["Message"](conversation=talk, role="user", text="Which?")
        reply = create["Message"](conversation=talk, role="assistant", text="Red ones.", parent=question)
        apps.get_model("chat", "Feedback").objects.create(message=reply, user=user, up=bool(number % 2))
        belongs[reply.pk] = talk.pk
    feedback = migrate("0044_replaced_indexes").get_model("chat", "Feedback").objects
    assert dict(feedback.values_list("message", "conversation")) == belongs
    assert indexes_of("chat_run") == latest
    migrate("0040_list_indexes")
    assert indexes_of("chat_run") == (latest - ADDED) | REPLACED
    migrate_to_latest()
    assert dict(Feedback.objects.values_list("message", "conversation")) == belongs


@pytest.mark.database
def test_a_process_that_waits_keeps_no_index_from_being_built(
    older: Older, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another server with --prepare waits for the lock of the one that migrates."""
    older("0042_conversations_of_feedback")
    waits = threading.Event()
    monkeypatch.setattr(locks, "_say", lambda _words: waits.set())

    def prepare() -> None:
        with locks.migrating(connection):  # that of this thread
            pass
        connection.close()

    waiting = threading.Thread(target=prepare)
    with locks.migrating(connection):
        waiting.start()
        assert waits.wait(20)
        MigrationExecutor(connection).migrate([("chat", "0043_review_indexes")])
    waiting.join(20)
    assert not waiting.is_alive()


def test_known_names_are_those_of_the_loader() -> None:
    assert known_names() == set(MigrationLoader(None).disk_migrations or ())
