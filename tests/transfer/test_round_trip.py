"""An export is imported unchanged, once; no other file counts as an export."""

import json
import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db.models import F
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from chat.catalog import catalog
from chat.models import Conversation, Feedback, Message, Run, Tag, User
from chat.search.query import parse
from chat.search.results import search
from chat.transfer.formats import conversation_of
from chat.transfer.problems import ConversationProblem
from chat.transfer.records import MAX_IMPORTED_CHARS
from chat.transfer.storing import id_of, is_known, store_conversation
from chat.wire.text import sanitize
from tests.support import message_trees
from tests.support.message_trees import Tree, run
from tests.transfer.exported import as_json, as_markdown

pytestmark = [pytest.mark.django_db, pytest.mark.database]
MODEL = "@cf/zai-org/glm-4.7-flash"
NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
TEXTS = st.text(max_size=30).map(sanitize)
TIMES = st.integers(0, 10**13).map(lambda number: (NOON - timedelta(microseconds=number)).isoformat())
MAYBE = st.none() | TIMES
COUNTS = st.none() | st.integers(0, 10**9)
RUNS = st.fixed_dictionaries(
    {
        **dict.fromkeys(["model", "answered_by", "served_by", "finish_reason", "error_code"], TEXTS),
        "error_message": TEXTS,
        "status": st.sampled_from(["complete", "failed", "stopped"]),
        "parameters": st.dictionaries(TEXTS, st.booleans() | st.integers(0, 9) | st.floats(0, 1), max_size=2),
        "max_tokens": COUNTS,
        "created": TIMES,
        **dict.fromkeys(["started", "first_token", "finished"], MAYBE),
        "usage": st.none()
        | st.fixed_dictionaries(
            dict.fromkeys(["prompt_tokens", "completion_tokens", "cached_tokens", "neurons"], COUNTS)
        ),
    }
)


@st.composite
def conversations(draw: st.DrawFn) -> dict[str, Any]:
    """A random tree, as it would be exported."""
    messages: list[dict[str, Any]] = []
    times = draw(st.lists(TIMES, min_size=1, max_size=8, unique=True))
    for time in sorted(times):
        parent = draw(st.none() | st.sampled_from(messages)) if messages else None
        role = "user" if parent is None else draw(st.sampled_from(["user", "assistant"]))
        messages.append(
            {
                "id": str(draw(st.uuids())),
                "parent": parent and parent["id"],
                "role": role,
                "text": draw(TEXTS) or "x",
                "reasoning": draw(TEXTS),
                "model": draw(TEXTS),
                "created": time,
                "selected_at": draw(MAYBE),
                "feedback": draw(
                    st.none()
                    | st.fixed_dictionaries({"thumb": st.sampled_from(["up", "down"]), "reason": TEXTS})
                ),
                "runs": draw(st.lists(RUNS, max_size=2)) if role == "assistant" else [],
            }
        )
    return {
        "format": "chat.conversation",
        "version": 1,
        "id": str(draw(st.uuids())),
        "title": draw(st.text("abc", min_size=1, max_size=80)),
        "model": MODEL,
        "system": draw(TEXTS),
        "parameters": draw(st.sampled_from([{}, {"temperature": 0.25}])),
        "created": draw(TIMES),
        "updated": draw(TIMES),
        "pinned_at": draw(MAYBE),
        "archived_at": None,
        "tags": draw(st.sampled_from([[], ["A", "b"]])),
        "active_leaf": draw(st.sampled_from(messages))["id"],
        "messages": messages,
    }


def take(user: User, value: Any) -> Conversation:
    found = conversation_of(json.loads(json.dumps(value)))
    store_conversation(user, found, catalog.current.get())
    return Conversation.objects.get(pk=id_of(user, found))


def without_ids(value: dict[str, Any]) -> dict[str, Any]:
    """The conversation with places in the list in place of ids, which differ between accounts."""
    places = {message["id"]: place for place, message in enumerate(value["messages"])}
    messages = [
        message | {"id": places[message["id"]], "parent": message["parent"] and places[message["parent"]]}
        for message in value["messages"]
    ]
    written = json.dumps(messages).replace(".000000+00:00", "+00:00")
    times = {name: value[name] and datetime.fromisoformat(value[name]) for name in ("created", "updated")}
    return (
        value
        | times
        | {"id": "", "messages": json.loads(written), "active_leaf": places[value["active_leaf"]]}
    )


@given(sent=conversations())
@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
def test_a_tree_is_the_same_after_import_and_export(sent: dict[str, Any]) -> None:
    ann, ben = (User.objects.create_user(str(uuid.uuid4())) for _ in range(2))
    first = as_json(take(ann, sent))
    again = as_json(take(ben, first))
    assert without_ids(again) == without_ids(first)
    assert not Feedback.objects.exclude(conversation=F("message__conversation")).exists()
    assert not Feedback.objects.filter(conversation=None).exists()
    assert [each["text"] for each in first["messages"]] == [each["text"] for each in sent["messages"]]
    wanted = without_ids(sent)
    stored = without_ids(first)
    for name in ("title", "model", "system", "parameters", "tags", "active_leaf", "created", "updated"):
        assert stored[name] == wanted[name]
    for told, message in zip(stored["messages"], wanted["messages"], strict=True):
        assert (told["parent"], told["role"], told["feedback"]) == (
            message["parent"],
            message["role"],
            message["feedback"],
        )
        assert [run["usage"] for run in told["runs"]] == [run["usage"] for run in message["runs"]]


def test_an_export_of_this_site_is_the_same_in_another_account() -> None:
    tree = Tree(message_trees.conversation(User.objects.create_user("ann")))
    question, first = tree.grow(None, 2)
    [second] = tree.versions(question, 1)
    tree.show(first)
    run(first, "complete", prompt_tokens=3, completion_tokens=5, neurons=0.25)
    run(second, "failed", error_code="busy", error_message="Busy.")
    tree.conversation.tags.add(Tag.objects.create(user=tree.conversation.user, name="Work", folded="work"))
    Conversation.objects.filter(pk=tree.conversation.pk).update(model=MODEL)
    tree.conversation.refresh_from_db()
    before = as_json(tree.conversation)
    ben = User.objects.create_user("ben")
    taken = take(ben, before)
    assert without_ids(as_json(taken)) == without_ids(before)
    assert as_markdown(taken) == as_markdown(tree.conversation)
    assert Run.objects.filter(user=ben).count() == 0, "what happened elsewhere is no usage here"


def test_imported_conversations_are_found_by_the_search() -> None:
    sent = exported(title="Lighthouses")
    sent["messages"][1]["text"] = "The Eddystone stands in the sea."
    ann = User.objects.create_user("ann")
    taken = take(ann, sent)
    for words in ("lighthouses", "eddystone"):
        found = search(ann.pk, parse(words, UTC)).results
        assert [each.conversation for each in found] == [taken.pk]


def exported(**more: Any) -> dict[str, Any]:
    tree = Tree(message_trees.conversation())
    tree.show(tree.grow(None, 3)[-1])
    return as_json(tree.conversation) | more


def test_an_imported_conversation_is_known_to_its_owner() -> None:
    tree = Tree(message_trees.conversation())
    tree.show(tree.grow(None, 2)[-1])
    owner, ann = tree.conversation.user, User.objects.create_user("ann")
    found = conversation_of(as_json(tree.conversation))
    assert is_known(owner, found)
    assert not is_known(ann, found)
    store_conversation(ann, found, catalog.current.get())
    assert is_known(ann, found)
    Conversation.objects.filter(user=ann).update(deleted=NOON)
    assert is_known(ann, found)


def test_ids_of_the_file_reach_nobody_elses_rows() -> None:
    victim = Tree(message_trees.conversation())
    victim.show(victim.grow(None, 2)[-1])
    sent = as_json(victim.conversation)
    sent["messages"][0]["text"] = "overwritten"
    taken = take(User.objects.create_user("ann"), sent)
    assert taken.pk != victim.conversation.pk
    assert not Message.objects.filter(conversation=victim.conversation, text="overwritten").exists()


def test_a_missing_model_is_replaced_for_the_next_question_only() -> None:
    sent = exported(model="gpt-4o")
    sent["messages"][1]["model"] = "gpt-4o"
    taken = take(User.objects.create_user("ann"), sent)
    assert taken.model == catalog.current.get().default.id
    assert taken.messages.get(role="assistant").model == "gpt-4o"


def changed(place: int, **more: Any) -> dict[str, Any]:
    sent = exported()
    sent["messages"][place] |= more
    return sent


HOSTILE: dict[str, Any] = {
    "another version": (lambda: exported(version=2), "version"),
    "no version": (lambda: exported(version=None), "invalid"),
    "no id": (lambda: exported(id="x"), "invalid"),
    "no title": (lambda: exported(title=7), "invalid"),
    "a long title": (lambda: exported(title="x" * 81), "long"),
    "NUL": (lambda: exported(title="a\0"), "text"),
    "half a character": (lambda: changed(0, text="\ud83d"), "text"),
    "messages that are none": (lambda: exported(messages=[1]), "invalid"),
    "a reply to nothing": (lambda: changed(1, parent=None), "parent"),
    "a question without text": (lambda: changed(0, text=""), "invalid"),
    "an unknown role": (lambda: changed(0, role="system"), "invalid"),
    "a long text": (lambda: changed(0, text="x" * (MAX_IMPORTED_CHARS + 1)), "long"),
    "no time": (lambda: changed(0, created="now"), "invalid"),
    "a time without its zone": (lambda: changed(0, created="2026-01-01T00:00:00"), "invalid"),
    "a time out of range": (lambda: changed(0, created="0001-01-01T00:00:00+14:00"), "invalid"),
    "a thumb": (lambda: changed(1, feedback={"thumb": "sideways", "reason": ""}), "invalid"),
    "a number": (lambda: changed(1, runs=[a_run(max_tokens=10**200)]), "invalid"),
    "a nested parameter": (lambda: changed(1, runs=[a_run(parameters={"a": [[]]})]), "invalid"),
    "a status": (lambda: changed(1, runs=[a_run(status="won")]), "invalid"),
    "many attempts": (lambda: changed(1, runs=[a_run()] * 201), "invalid"),
}


def a_run(**more: Any) -> dict[str, Any]:
    return {"model": "m", "status": "complete", "parameters": {}, "created": None, "usage": None} | more


def test_the_child_tells_no_deep_parameters() -> None:
    deep = {"temperature": 0.5, "a": [[]], "b": {}, "c": None} | dict.fromkeys(map(str, range(99)), 1)
    found = conversation_of(exported(parameters=deep)).parameters
    assert found == {"temperature": 0.5, "c": None, **{str(each): 1 for each in range(48)}}


@pytest.mark.parametrize("what", HOSTILE)
def test_values_that_this_chat_never_exports_are_refused(what: str) -> None:
    make, code = HOSTILE[what]
    with pytest.raises(ConversationProblem) as refused:
        conversation_of(make())
    assert refused.value.code == code


def one(number: int, **more: Any) -> dict[str, Any]:
    """A conversation with one question, as it would be exported."""
    moment = NOON.isoformat()
    question = {"id": str(uuid.UUID(int=1)), "parent": None, "role": "user", "text": "?", "reasoning": ""}
    return {
        "format": "chat.conversation",
        "version": 1,
        "id": str(uuid.UUID(int=number)),
        **dict.fromkeys(["title", "model", "system"], ""),
        "parameters": {},
        **dict.fromkeys(["created", "updated"], moment),
        "messages": [question | {"model": "", "created": moment}],
    } | more


def test_an_import_keeps_to_the_limits_of_tags_and_pins(
    django_user_model: type[User], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Import a file with more of them: the rest could not be listed or removed on the pages."""
    ann = django_user_model.objects.create_user("ann")
    for name, most in (
        ("MAX_PINNED_CONVERSATIONS", 2),
        ("MAX_TAGS_PER_USER", 5),
        ("MAX_TAGS_PER_CONVERSATION", 3),
    ):
        monkeypatch.setattr(f"chat.transfer.storing.{name}", most, raising=False)
    for number in range(1, 5):
        tags = [f"{number} {letter}" for letter in "abcd"]
        take(ann, one(number, pinned_at=NOON.isoformat(), tags=tags))
    made = take(ann, one(9, tags=["1 a", "new"]))
    assert Conversation.objects.pinned(ann).count() == 2
    assert Tag.objects.owned_by(ann).count() == 5
    assert [tag.name for tag in made.tags.all()] == ["1 a"]
    assert Conversation.objects.filter(user=ann).count() == 5
