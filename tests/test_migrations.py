"""Migrations keep what is stored."""

import uuid
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

BEFORE, AFTER = ("chat", "0022_throttle_rows"), ("chat", "0023_field_names")
AT = datetime(2026, 11, 22, 12, tzinfo=UTC)


def migrate(target: tuple[str, str]) -> Any:
    """Returns the apps as they are then."""
    executor = MigrationExecutor(connection)
    executor.migrate([target])
    return MigrationExecutor(connection).loader.project_state([target]).apps


@pytest.fixture
def latest(transactional_db: None) -> Iterator[None]:
    """Leaves the database as the other tests need it."""
    yield
    executor = MigrationExecutor(connection)
    executor.migrate(executor.loader.graph.leaf_nodes())


def fill(apps: Any) -> None:
    user = apps.get_model("chat", "User").objects.create(username="alice")
    conversation = apps.get_model("chat", "Conversation").objects.create(
        user=user, title="Boats", model="@cf/a/b", updated=AT, seen=AT
    )
    messages = apps.get_model("chat", "Message").objects
    question = messages.create(conversation=conversation, role="user", text="Which?")
    reply = messages.create(
        conversation=conversation, parent=question, role="assistant", text="Red ones.", picked=AT
    )
    worker = apps.get_model("chat", "Worker").objects.create(id=uuid.uuid4(), pid=1, beat=AT)
    apps.get_model("chat", "Run").objects.create(
        user=user,
        conversation=conversation,
        message=reply,
        fingerprint="x",
        model="@cf/a/b",
        max_tokens=9,
        status="running",
        worker=worker,
        because="busy",
        text_start=4,
        reasoning_start=2,
    )


def test_renamed_columns_keep_their_rows(latest: None) -> None:
    fill(migrate(BEFORE))
    apps = migrate(AFTER)
    models = {name: apps.get_model("chat", name) for name in ("Conversation", "Message", "Worker", "Run")}
    assert models["Conversation"].objects.get().last_seen == AT
    assert list(models["Message"].objects.order_by("role").values_list("text", "selected_at")) == [
        ("Red ones.", AT),
        ("Which?", None),
    ]
    assert models["Worker"].objects.get().heartbeat_at == AT
    assert list(models["Run"].objects.values_list("fallback_reason", "text_offset", "reasoning_offset")) == [
        ("busy", 4, 2)
    ]
