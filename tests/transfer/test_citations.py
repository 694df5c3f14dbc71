"""Citations in exports of each format, and in the import of our own JSON."""

from typing import Any

import jsonschema_rs
import pytest

from chat.models import Citation, Conversation, ImportJob, Message, User
from chat.rendering.definitions import PARSER
from tests.transfer.exported import SCHEMA, as_html, as_json, as_markdown
from tests.transfer.importing import imported

pytestmark = [
    pytest.mark.database,
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("folder"),
]
FIELDS = ("number", "title", "url", "page", "text", "created")


@pytest.fixture
def talk() -> Conversation:
    ann = User.objects.create_user("ann")
    made = Conversation.objects.create(user=ann, title="Rules", model="m")
    question = Message.objects.create(conversation=made, role="user", text="How?")
    reply = Message.objects.create(conversation=made, role="assistant", text="So.", parent=question)
    Citation.objects.add(
        reply.pk,
        [
            Citation(title="rules.pdf", page=3, text="# Third\n<b>line</b>"),
            Citation(title="A [page]", url="https://web.example/a?b=<c>", text="[x](javascript:alert(1))"),
        ],
    )
    made.active_leaf = reply
    made.save()
    return made


def rows(user: User) -> list[tuple[Any, ...]]:
    return list(Citation.objects.filter(message__conversation__user=user).values_list(*FIELDS))


def test_our_json_keeps_each_citation(talk: Conversation) -> None:
    found = as_json(talk)
    jsonschema_rs.validator_for(SCHEMA).validate(found)
    bob = User.objects.create_user("bob")
    assert imported(bob, found).state == ImportJob.State.DONE
    assert rows(bob) == rows(talk.user)
    assert (
        as_json(Conversation.objects.get(user=bob))["messages"][1]["citations"]
        == (found["messages"][1]["citations"])
    )
    assert "citations" not in found["messages"][0]


@pytest.mark.parametrize(
    "changed",
    [
        {"url": "javascript:alert(1)"},
        {"url": 5},
        {"url": "/logout/"},
        {"date": "2026-02-31"},
        {"page": -1},
        {"page": 1.5},
        {"page": True},
        {"title": ""},
        {"title": "x" * 201},
        {"text": "x" * 4_001},
        {"text": None},
        {"text": "\0"},
        {"created": "yesterday"},
        {},  # but too many
    ],
)
def test_a_wrong_citation_refuses_the_conversation(talk: Conversation, changed: dict[str, Any]) -> None:
    found = as_json(talk)
    found["messages"][1]["citations"][0] |= changed
    found["messages"][1]["citations"] *= 1 if changed else 51
    bob = User.objects.create_user("bob")
    imported(bob, found)
    assert not Conversation.objects.filter(user=bob).exists()


def test_markdown_lists_the_sources_as_text(talk: Conversation) -> None:
    assert as_markdown(talk).partition("### Sources")[2].strip().splitlines() == [
        "1. rules.pdf",
        "",
        "   Page 3",
        "",
        r"   > \# Third",
        r"   > \<b\>line\</b\>",
        "",
        r"2. [A \[page\]](<https://web.example/a?b=%3Cc%3E>)",
        "",
        r"   > \[x\](javascript:alert(1))",
    ]


@pytest.mark.parametrize("line", ["    def f_x():", "- a", "1. b", "+ c", "---", "===", "\t* d"])
def test_a_line_of_a_passage_is_no_code_list_or_heading(talk: Conversation, line: str) -> None:
    Citation.objects.update(text=f"First\n{line}\n\n{line}")
    listed = as_markdown(talk).partition("### Sources")[2].partition("\n2. ")[0]
    quoted = listed[listed.index("   >") :].replace("   >", ">")
    events = " ".join(map(str, PARSER.events(quoted)))
    assert "Text" in events
    assert not [name for name in ("List", "Code", "Heading", "Rule") if name in events]


def test_html_lists_the_sources_as_text(talk: Conversation) -> None:
    whole = as_html(talk)
    assert "<h3>Sources</h3>" in whole
    assert "<summary>Page 3</summary>" in whole
    assert "&lt;b&gt;line" in whole
    assert '<a href="https://web.example/a?b=&lt;c&gt;" rel="nofollow noopener noreferrer">' in whole
