"""A site that has a row in every table, with values that databases store differently."""

import re
from pathlib import Path

from tests.support.databases import Database, Template
from tests.support.databases import on_postgres as new_postgres
from tests.support.manage import run_manage

ODD = "tab\t back\\slash \\N \\. \"quoted\" 'single' \u2028 line\nbreak\r 😀 e\u0301 {} %s %%"

# Run by `manage.py shell` in a database with the people of the tests.
EVERYTHING = f"""
from datetime import UTC, datetime
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Group, Permission
from django.contrib.contenttypes.models import ContentType
from axes.models import AccessAttempt, AccessAttemptExpiration, AccessFailureLog, AccessLog
from chat.models import *
from chat.search import index
from chat.models.conversation_access import ConversationAccessOwner
ODD = {ODD!r}
AT = datetime(2026, 1, 22, 12, tzinfo=UTC)
LATER = datetime(2026, 1, 22, 12, 0, 0, 123456, tzinfo=UTC)
ODD_JSON = {{"z": ODD, "a": [1.0, 1e5, 1e-7, 12345678901234567890, None, True, {{"ß": "😀"}}], "": {{}}}}
alice, erin = User.objects.get(username="alice"), User.objects.get(username="erin")
User.objects.create(username="gone").delete()
alice.groups.add(Group.objects.create(name="few"))
Group.objects.get(name="few").permissions.add(Permission.objects.get(codename="view_conversation"))
LogEntry.objects.create(user=erin, content_type=ContentType.objects.get_for_model(User),
    object_id="1", object_repr=ODD, action_flag=2, change_message="[]")
attempt = AccessAttempt.objects.create(user_agent=ODD, ip_address="2001:db8::1", username=None,
    http_accept="", path_info="/", get_data="", post_data="", failures_since_start=3)
AccessAttemptExpiration.objects.create(access_attempt=attempt, expires_at=AT)
AccessFailureLog.objects.create(user_agent="", ip_address="192.0.2.7", locked_out=True)
AccessLog.objects.create(user_agent="", ip_address=None, logout_time=LATER)
worker = Worker.objects.create(host="here", pid=7, heartbeat_at=AT)
conversation = Conversation.objects.create(user=alice, title="Boats", model="@cf/a/b", system=ODD,
    parameters=ODD_JSON, created=AT, updated=LATER)
question = Message.objects.create(conversation=conversation, role="user", text=ODD, created=AT)
reply = Message.objects.create(conversation=conversation, parent=question, role="assistant",
    text="Red. " * 9000, reasoning=ODD, created=LATER, selected_at=LATER)
conversation.active_leaf = reply
conversation.save()
index.add([index.title_of(conversation), *(index.message_of(each, alice.pk) for each in (question, reply))])
tag = Tag.objects.create(user=alice, name="ÄÖ", folded="ao")
conversation.tags.add(tag)
prompt = Prompt.objects.create(owner=alice, title=ODD, command="äö", text=ODD, everybody=True, created=AT)
prompt.groups.add(Group.objects.get(name="few"))
run = Run.objects.create(user=alice, conversation=conversation, message=reply, fingerprint="x",
    model="@cf/a/b", max_tokens=9, status="running", worker=worker, neurons=0.1, text_offset=4)
done = Run.objects.create(user=alice, conversation=conversation, message=reply, fingerprint="x",
    model="@cf/a/b", max_tokens=9, status="complete", finished=LATER, neurons=1 / 3,
    context_start=question.pk)
RunChunk.objects.create(run=run, kind="t", start=0, text=ODD)
key = ApiKey.objects.create(user=alice, name="a program", prefix="chat_1234567", digest="d", last_used=AT)
file = AttachmentFile.objects.create(sha256="0f" * 32, uploaded=LATER)
DocumentPage.objects.create(file=file, media_type="text/plain", number=2**30, text=ODD)
PassageVectors.objects.create(file=file, media_type="text/plain", model=ODD, start=0, count=1,
    vectors=bytes(range(256)))
FileDeletion.objects.create(sha256="1e" * 32, since=AT)
Attachment.objects.create(owner=alice, message=question, file=file, media_type="image/png", name=ODD, alt=ODD,
    width=1, height=2**30, size=2**30, created=AT)
rules = Attachment.objects.create(file=file, media_type="text/plain", name=ODD, width=0, height=0, size=1,
    pages=1)
Call.objects.create(user=alice, key=key, dialect="openai", streamed=True, model="m", served_by="b", run=done,
    neurons=1e-300)
Feedback.objects.create(message=reply, user=alice, up=False, reason=ODD)
CatalogState.objects.create(version=2**60, fetched=AT, error="no answer")
model = SiteModel.objects.create(id="@cf/a/b", source="search", metadata=ODD_JSON, is_default=True,
    observed_max_output=2**40)
model.groups.add(Group.objects.get(name="few"))
SiteDoor.objects.create(position=3, name="Tür 🚪", about="\u200f…", model="@cf/a/b")
Site.objects.create(name="Häuschen 🏡", colour="plum", icon=bytes(range(256)), connected_by=alice)
assistant = Assistant.objects.create(owner=alice, published_by=erin, created=AT)
assistant.groups.add(Group.objects.get(name="few"))
assistant.current = AssistantVersion.objects.create(assistant=assistant, number=1, name=ODD, instructions=ODD,
    picture="🍲", parameters=ODD_JSON, questions=[ODD], created=LATER, image=rules)
assistant.save()
AssistantDocument.objects.create(version=assistant.current, attachment=rules, position=0)
conversation.assistant_version = assistant.current
conversation.save()
access = ConversationAccess.objects.create(kind="list", reader_key=erin.pk, reader="erin", words=ODD,
    address="::ffff:192.0.2.7", conversation=conversation.pk)
ConversationAccessOwner.objects.create(access=access, owner_key=alice.pk, owner="alice", conversations=["1"])
ImportJob.objects.create(user=alice, state="done", file_name=ODD, size=2**50, preview=ODD_JSON)
Citation.objects.create(message=reply, number=1, title="a.pdf", page=2, text="A \u2028 passage")
Step.objects.create(run=done, message=reply, user=alice, number=1, turn=1, revision=2, call="c",
    tool=ODD[:100], arguments=ODD_JSON, state="done", summary=ODD, result=ODD, sources=[ODD_JSON],
    cost=1e-7, finished=LATER)
ImportedRuns.objects.create(message=reply, runs=[ODD_JSON, []])
Invite.objects.create(digest="i", note="for bob", made_by=erin)
MaintenanceTask.objects.note("prune")
server = McpServer.objects.create(name="wiki", label=ODD[:60], url="https://example.org", due=AT, error=ODD)
server.groups.add(Group.objects.get(name="few"))
McpTool.objects.create(server=server, name="find", description=ODD, parameters=ODD_JSON, accepted=ODD_JSON)
Preferences.objects.create(user=alice, instructions=ODD, favourites=["@cf/a/b"], updated=AT)
Memory.objects.create(owner=alice, fact=ODD, created=AT)
PurgedUsage.objects.create(user=alice, created=AT, model="m", completion_tokens=5)
SetupLink.objects.create(token="s")
SharedLink.objects.create(leaf=reply, title="Boats", leaf_length=3, digest="l", expires=AT)
TitleRequest.objects.create(user=alice, conversation=conversation, status="complete", finished=AT, model="m")
"""
# A row of it would be a permit to delete the log of readings, and is never committed.
NEVER_FILLED = {"chat_conversationaccessprune"}
LINE = re.compile(r"^(\w+) +([\d,]+) +([\d,]+)  ([0-9a-f]{32}) (same|DIFFERENT)$", re.MULTILINE)
# Of the people of the tests; a database without them is one in which nobody has been.
PEOPLE = ("django_session", "chat_user_user_permissions", "chat_user_groups", "chat_identifier", "chat_user")


def fill(database: Database, folder: Path) -> None:
    made = run_manage("shell", "-v0", "-c", EVERYTHING, DATABASE_URL=database.url, DATA_DIR=str(folder))
    assert made.returncode == 0, made.stderr


def without_people(template: Template, folder: Path) -> Database:
    """Return a migrated database in which nobody is."""
    folder.mkdir(exist_ok=True)
    database = template.copy(folder)
    database.each(*(f"DELETE FROM {table}" for table in PEOPLE))
    return database


def new_database(template: Template, folder: Path) -> Database:
    """Return a database without tables."""
    if template.kind == "postgres":
        return new_postgres(f"new_{folder.name}_{id(folder)}")
    path = folder / "new.sqlite3"
    path.touch()
    return Database(f"sqlite:///{path}")


def compared(output: str) -> dict[str, tuple[str, str, str]]:
    """Return (rows of the source, rows of the target, verdict) by table, from what `move` said."""
    return {table: (source, target, verdict) for table, source, target, _, verdict in LINE.findall(output)}
