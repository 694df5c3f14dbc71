"""The content of an export, and the memory that making it takes."""

import io
import json
import re
import tracemalloc
import zipfile
from collections.abc import Iterator
from datetime import timedelta

import jsonschema_rs
import pytest
from django.utils import timezone

from chat.accounts.timezones import UTC
from chat.library import assistants
from chat.library.assistants import AssistantContent
from chat.models import Conversation, Feedback, Message, Preferences, RunChunk, Tag, User
from chat.transfer.archive import archive_pieces
from chat.transfer.html_export import style_sheet
from tests.support import message_trees
from tests.support.message_trees import Tree, ending, run
from tests.transfer.exported import SCHEMA, archived, as_json, as_markdown

pytestmark = [pytest.mark.django_db, pytest.mark.database]


@pytest.fixture
def tree() -> Tree:
    return Tree(message_trees.conversation(User.objects.create_user("ann")))


def test_all_branches_and_what_is_known_of_them_are_in_the_json(tree: Tree) -> None:
    question, first = tree.grow(None, 2)
    second, third = tree.versions(question, 2)
    tree.show(second)
    run(first, "complete", prompt_tokens=3, completion_tokens=5, parameters={"temperature": 0.5})
    run(third, "failed", error_code="busy")
    Feedback.objects.create(message=first, user=tree.conversation.user, up=False, reason="no")
    tree.conversation.tags.add(Tag.objects.create(user=tree.conversation.user, name="Work", folded="work"))
    found = as_json(tree.conversation)
    jsonschema_rs.validator_for(SCHEMA).validate(found)
    assert [each["id"] for each in found["messages"]] == [str(m.pk) for m in (question, first, second, third)]
    assert [each["parent"] for each in found["messages"]] == [None, *[str(question.pk)] * 3]
    assert (found["active_leaf"], found["tags"]) == (str(second.pk), ["Work"])
    told = found["messages"][1]
    assert told["feedback"] == {"thumb": "down", "reason": "no"}
    assert told["runs"][0]["usage"]["completion_tokens"] == 5
    assert told["runs"][0]["parameters"] == {"temperature": 0.5}
    assert found["messages"][3]["runs"][0]["usage"] is None


def test_in_markdown_each_turn_has_its_own_labels(tree: Tree) -> None:
    turns = tree.grow(None, 3)
    tree.show(turns[-1])
    for place, message in enumerate(turns):
        Message.objects.filter(pk=message.pk).update(text=f"[1]\n\n[1]: https://{place}.org")
    found = as_markdown(tree.conversation)
    assert all(f"{label}: https://{n}.org" in found for n, label in enumerate(("[1]", "[1-2]", "[1-3]")))


@pytest.mark.parametrize("query", range(10))
def test_a_growing_reply_is_exported_as_far_as_it_is_stored(tree: Tree, query: int) -> None:
    """Also if it ends before one of the queries."""
    _, reply = tree.grow(None, 2)
    Message.objects.filter(pk=reply.pk).update(text="")
    live = run(reply, "running")
    for kind, text in (("t", "so far"), ("r", "hm")):
        RunChunk.objects.create(run=live, kind=kind, start=0, text=text)
    with ending(live, query, "so far", "hm"):
        told = as_json(tree.conversation)["messages"][1]
    assert (told["text"], told["reasoning"]) == ("so far", "hm")
    assert told["runs"][0]["status"] == ("complete" if query < 3 else "running")


def test_deleted_messages_are_in_no_export(tree: Tree) -> None:
    kept, gone = tree.grow(None, 2)
    Message.objects.filter(pk=gone.pk).update(deleted=timezone.now(), text="secret")
    tree.show(gone)
    found = as_json(tree.conversation)
    assert ([each["id"] for each in found["messages"]], found["active_leaf"]) == ([str(kept.pk)], None)
    assert "secret" not in as_markdown(tree.conversation)


def test_markdown_has_the_branch_that_is_shown(tree: Tree) -> None:
    question, hidden = Message.objects.bulk_create([m := tree.message(None, "Why?"), tree.message(m, "Old.")])
    [shown] = Message.objects.bulk_create([tree.message(question, "Because.")])
    Message.objects.filter(pk=shown.pk).update(reasoning="Let me see.", model="@cf/a/b")
    tree.conversation.system = "Be brief."
    tree.show(shown)
    found = as_markdown(tree.conversation)
    assert found.startswith("# A tree\n\n## Instructions\n\nBe brief.\n\n## You · ")
    assert re.search(r"## You · \d+ \w{3} \d{4}, \d\d:\d\d UTC\n", found)
    assert "Let me see." in found
    assert found.endswith("\nBecause.\n")
    assert hidden.text not in found


def test_markdown_has_the_title_and_the_assistant_as_text(tree: Tree) -> None:
    assistant = assistants.create(tree.conversation.user, AssistantContent("<img src=x> [a](b)"))
    tree.conversation.title = "<script>*x*</script>"
    tree.conversation.assistant_version = assistant.current
    found = as_markdown(tree.conversation)
    assert found.startswith("# \\<script\\>\\*x\\*\\</script\\>\n")
    assert "\nAssistant: \\<img src=x\\> \\[a\\](b)\n" in found


def archive(user: User) -> zipfile.ZipFile:
    return zipfile.ZipFile(io.BytesIO(archived(user)))


def test_the_archive_has_all_ones_own_conversations(tree: Tree) -> None:
    ann = tree.conversation.user
    Preferences.objects.create(user=ann, instructions="Be brief.")
    others = [message_trees.conversation(), message_trees.conversation(ann), message_trees.conversation(ann)]
    Conversation.objects.filter(pk=others[1].pk).update(deleted=timezone.now())
    Conversation.objects.filter(pk=others[2].pk).update(temporary=True)
    Conversation.objects.filter(pk=tree.conversation.pk).update(title="../../etc: a/b\\c")
    found = archive(ann)
    assert found.testzip() is None
    stored = tree.conversation
    day = f"{stored.created.astimezone(UTC):%Y-%m-%d}"
    names = [
        "account.json",
        f"conversations/{stored.pk}.json",
        f"markdown/{day} etc a b c {stored.pk.hex[:8]}.md",
    ]
    assert found.namelist() == names
    assert json.loads(found.read("account.json"))["instructions"] == "Be brief."
    assert json.loads(found.read(names[1])) == as_json(Conversation.objects.get(pk=stored.pk))


def long_conversation(tree: Tree, number: int, length: int) -> Iterator[Message]:
    start = timezone.now() - timedelta(days=1)
    for index in range(number):
        yield Message(
            conversation=tree.conversation,
            role="user",
            text=f"{index} ".ljust(length, "x"),
            created=start + timedelta(milliseconds=index),
        )


def test_memory_does_not_grow_with_the_conversation(tree: Tree) -> None:
    Message.objects.bulk_create(long_conversation(tree, 4_000, 5_000), batch_size=500)
    size, peak = 0, 0
    tracemalloc.start()
    try:
        for piece in archive_pieces(tree.conversation.user, UTC, str):
            assert isinstance(piece, bytes)
            size += len(piece)
            peak = max(peak, tracemalloc.get_traced_memory()[1])
    finally:
        tracemalloc.stop()
    assert peak < 12_000_000, "20 MB of text were exported"


def test_the_style_sheet_of_a_page_has_every_part() -> None:
    sheet = style_sheet()
    for rule in ("--ground:", ".code pre {", ".code .k {", "math .boxed", ".question .plain"):
        assert rule in sheet
    assert "</" not in sheet
    assert "url(" not in sheet
