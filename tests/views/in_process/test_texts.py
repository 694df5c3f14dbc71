"""A text beside the chat: its versions, what changed, edited by hand, downloaded and run."""

import gzip
import hashlib
import re
import uuid
from typing import Any

import pytest
from django.test import Client

from chat.models import Citation, Conversation, Message, SearchDocument, User
from chat.models.message import BY_HAND
from chat.rendering.block_texts import DOCTYPE, PRELUDE
from tests.support.databases import ROOT
from tests.support.message_trees import Tree, conversation, run

pytestmark = [pytest.mark.database, pytest.mark.django_db(transaction=True)]

PYTHON = "First:\n\n```python\nx = 1\n```\n\nThen:\n\n```html\n<p>one</p>\n```\n"
LATER = "```js\nlet a;\n```\n\n```html\n<p>two</p>\n```\n\n```python\nx = 2\ny = 3\n```\n"
PART = {"X-Requested-With": "fetch", "Accept": "text/html"}
TABLE = "| what | sum |\n|-|-|\n| tea, green | -2.50 |\n| =1+1 | 3 |\n"


class Talk:
    """Two questions; the first reply has two versions, of which the second is shown."""

    def __init__(self, user: User) -> None:
        self.tree = Tree(conversation(user))
        self.first = self._add(None, "Write a program")
        self.other = self._add(self.first, "```python\nx = 0\n```\n")
        self.reply = self._add(self.first, PYTHON)
        self.second = self._add(self.reply, "Make it longer")
        self.leaf = self._add(self.second, LATER)
        self.tree.show(self.leaf)

    def _add(self, parent: Message | None, text: str) -> Message:
        message = self.tree.message(parent, text)
        message.save()
        return message

    @property
    def active(self) -> uuid.UUID | None:
        return Conversation.objects.get(pk=self.tree.conversation.pk).active_leaf_id


@pytest.fixture
def talk(alice: User) -> Talk:
    return Talk(alice)


def get(client: Client, message: Message, what: str = "text", **query: Any) -> Any:
    return client.get(f"/messages/{message.pk}/{what}/", query)


def edit(client: Client, message: Message, text: str, block: int | None = None) -> Any:
    query = f"?block={block}" if block else ""
    return client.post(
        f"/messages/{message.pk}/text/{query}", {"text": text}, content_type="application/json"
    )


def test_a_block_has_its_versions_in_all_replies_of_the_branch(alice_client: Client, talk: Talk) -> None:
    page = get(alice_client, talk.reply, block=1).content.decode()
    assert "Version 2 of 3" in page
    assert len(re.findall(r">\d+ \w{3} \d{4}, \d\d:\d\d</time>", page)) == 3
    addresses = [f"/messages/{talk.other.pk}/text/?block=1", f"/messages/{talk.leaf.pk}/text/?block=3"]
    assert all(f'href="{address}"' in page for address in addresses)
    assert "Version 1 of 2" in get(alice_client, talk.reply, block=2).content.decode(), "HTML is another text"


def test_the_latest_version_has_a_plain_address(alice_client: Client, talk: Talk) -> None:
    page = get(alice_client, talk.reply, block=1, latest="on").content.decode()
    assert "Version 3 of 3" in page
    assert f'data-message="{talk.leaf.pk}"' in page


def test_a_reply_has_all_replies_with_their_versions(alice_client: Client, talk: Talk) -> None:
    page = get(alice_client, talk.leaf).content.decode()
    assert "Version 3 of 3" in page
    assert page.count("Write a program") == 2, "the question that each version answers"


def test_a_part_has_the_buttons_that_need_a_script(alice_client: Client, talk: Talk) -> None:
    part = alice_client.get(f"/messages/{talk.leaf.pk}/text/", headers=PART).content.decode()
    assert ("<html" in part, 'data-do="close"' in part, "Print" in part) == (False, True, True)
    page = get(alice_client, talk.leaf).content.decode()
    assert ("<html" in page, 'data-do="close"' in page, "<script" in page) == (True, False, False)


def test_a_letter_between_backticks_is_shown_as_one(alice_client: Client, talk: Talk) -> None:
    letter = "**Heating**\n\nDear Mr Huber,\n\n| a | b |\n|-|-|\n| 1 | 2 |\n"
    Message.objects.filter(pk=talk.leaf.pk).update(text=f"Here:\n\n```markdown\n{letter}```\n")
    page = get(alice_client, talk.leaf, block=1).content.decode()
    assert ("text prose" in page, "<strong>Heating</strong>" in page) == (True, True)
    assert ("<td>1</td>" in page, "markdown</h2>" in page) == (True, False)
    edited = get(alice_client, talk.leaf, block=1, view="edit").content.decode()
    assert f'spellcheck="true" aria-label="Edit this text">\n{letter}</textarea>' in edited
    assert get(alice_client, talk.leaf, block=1, download="").content.decode() == letter
    assert get(alice_client, talk.leaf, block=1, download="table").content.decode() == "\ufeffa,b\r\n1,2\r\n"


def test_what_changed_is_shown_by_word(alice_client: Client, talk: Talk) -> None:
    page = get(alice_client, talk.leaf, "changes", block=3, **{"from": talk.reply.pk}).content.decode()
    assert "x = <del>1</del><ins>2\ny = 3</ins>\n" in page
    assert "1 change from version 2 to version 3" in page
    other_way = get(alice_client, talk.reply, "changes", block=1, **{"from": talk.leaf.pk}).content.decode()
    assert "1 change from version 2 to version 3" in other_way
    assert "from version 1 to version 2" in get(alice_client, talk.reply, "changes").content.decode()
    assert get(alice_client, talk.leaf, "changes", **{"from": uuid.uuid4()}).status_code == 404
    assert get(alice_client, talk.leaf, "changes", **{"from": "x"}).status_code == 400


def test_versions_of_a_question_are_compared_too(alice_client: Client, talk: Talk) -> None:
    edited = talk.tree.message(None, "Write a long program")
    edited.save()
    page = get(alice_client, edited, "changes").content.decode()
    assert "Write a <ins>long </ins>program" in page
    assert "Edit</a>" not in page
    assert get(alice_client, edited, block=1).status_code == 404


def test_an_edited_reply_is_a_version_that_is_shown(alice_client: Client, talk: Talk) -> None:
    answer = edit(alice_client, talk.leaf, "By hand.\n")
    assert answer.status_code == 200
    version = Message.objects.get(pk=answer.json()["message"])
    assert (version.text, version.model, version.parent_id) == ("By hand.\n", BY_HAND, talk.second.pk)
    assert talk.active == version.pk
    assert Message.objects.get(pk=talk.leaf.pk).text == LATER, "nothing is overwritten"
    assert SearchDocument.objects.filter(message=version.pk).exists()
    page = alice_client.get(f"/c/{talk.tree.conversation.pk}/").content.decode()
    assert "Edited by hand</h2>" in page
    assert f'href="/messages/{version.pk}/changes/?from={talk.leaf.pk}"' in page


def test_an_edited_reply_keeps_its_sources(alice_client: Client, talk: Talk) -> None:
    for number, title in enumerate(("Boats", "Sheds"), 1):
        source = {"title": title, "url": f"https://{title}.example/", "text": "A passage."}
        Citation.objects.create(message=talk.reply, number=number, **source)
    made = edit(alice_client, talk.reply, "It is in the shed [2].").json()["message"]
    assert list(Citation.objects.filter(message=made).values_list("number", "title")) == [
        (1, "Boats"),
        (2, "Sheds"),
    ]
    assert talk.reply.citations.count() == 2
    assert "https://Sheds.example/" in alice_client.get(f"/c/{talk.reply.conversation_id}/").content.decode()


def test_an_edited_block_stands_in_its_reply(alice_client: Client, talk: Talk) -> None:
    answer = edit(alice_client, talk.leaf, "<p>```</p>\n````", block=2).json()
    text = Message.objects.get(pk=answer["message"]).text
    assert text == LATER.replace("```html\n<p>two</p>\n```", "`````html\n<p>```</p>\n````\n`````")
    assert answer["block"] == 2
    shown = alice_client.get(f"/messages/{answer['message']}/text/?block=2&download=")
    assert shown.content.decode() == "<p>```</p>\n````\n"


def test_a_form_leads_to_the_new_version(alice_client: Client, talk: Talk) -> None:
    answer = alice_client.post(f"/messages/{talk.leaf.pk}/text/?block=2", {"text": "<p>3\r\n</p>\r\n"})
    assert answer.status_code == 303
    assert "&lt;p&gt;3\n&lt;/p&gt;" in alice_client.get(f"{answer['Location']}&view=edit").content.decode()


def test_two_tabs_make_two_versions(alice_client: Client, talk: Talk) -> None:
    one, two = (edit(alice_client, talk.leaf, text).json()["message"] for text in ("one", "two"))
    assert one != two
    assert "Version 5 of 5" in alice_client.get(f"/messages/{two}/text/").content.decode()
    assert edit(alice_client, talk.leaf, LATER).json()["message"] == str(talk.leaf.pk), "nothing was changed"


@pytest.mark.parametrize(
    ("text", "status"), [("", 400), (" \n", 400), (None, 400), (7, 400), ("x" * 400_001, 413), ("a\0", 400)]
)
def test_what_cannot_be_a_version_is_refused(
    alice_client: Client, talk: Talk, text: Any, status: int
) -> None:
    assert edit(alice_client, talk.leaf, text).status_code == status
    assert talk.active == talk.leaf.pk


def test_questions_and_busy_conversations_are_not_edited(alice_client: Client, talk: Talk) -> None:
    assert edit(alice_client, talk.second, "x").status_code == 409
    run(talk.leaf, "running")
    assert edit(alice_client, talk.reply, "x").status_code == 409


def test_a_reply_has_a_limited_number_of_versions_by_hand(
    alice_client: Client, talk: Talk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("chat.conversations.turns.versions.MAX_VERSIONS_BY_HAND", 1)
    assert [edit(alice_client, talk.leaf, text).status_code for text in ("one", "two")] == [200, 409]


@pytest.mark.parametrize(("block", "status"), [("0", 400), ("x", 400), ("", 400), ("-1", 400), ("9", 404)])
def test_a_wrong_block_is_refused(alice_client: Client, talk: Talk, block: str, status: int) -> None:
    for what in ("text", "changes", "run"):
        assert get(alice_client, talk.leaf, what, block=block).status_code == status
    assert get(alice_client, talk.leaf, view="what").status_code == 400
    assert get(alice_client, talk.leaf, view="run").status_code == 404, "a reply does not run"


def test_a_block_runs_without_an_origin_and_without_the_network(alice_client: Client, talk: Talk) -> None:
    answer = get(alice_client, talk.leaf, "run", block=2)
    assert answer.content.decode() == f"{DOCTYPE}{PRELUDE}<p>two</p>\n"
    policy = answer["Content-Security-Policy"].split("; ")
    assert policy[:3] == ["sandbox allow-scripts", "default-src 'none'", "script-src 'unsafe-inline'"]
    assert {"base-uri 'none'", "form-action 'none'", "frame-ancestors 'self'"} < set(policy)
    assert answer["Connection-Allowlist"] == "()"
    assert get(alice_client, talk.leaf, "run", block=1).status_code == 404, "JavaScript alone has no page"
    page = get(alice_client, talk.leaf, block=2, view="run").content.decode()
    assert f'<iframe sandbox="allow-scripts" src="/messages/{talk.leaf.pk}/run/?block=2"' in page


def test_opened_by_itself_it_runs_nothing(alice_client: Client, talk: Talk) -> None:
    address = f"/messages/{talk.leaf.pk}/run/?block=2"
    answer = alice_client.get(address, headers={"Sec-Fetch-Dest": "document"})
    assert answer["Content-Security-Policy"].startswith("sandbox; default-src 'none'; style-src")
    assert answer.content.decode() == f"{DOCTYPE}<p>two</p>\n"


def test_a_diagram_is_drawn_by_a_script_of_ours(alice_client: Client, talk: Talk) -> None:
    diagram = talk.tree.message(talk.leaf, "x")
    diagram.save()
    reply = talk.tree.message(diagram, "```mermaid\ngraph TD; A-->B</pre><script>x()</script>\n```\n")
    reply.save()
    answer = get(alice_client, reply, "run", block=1)
    assert answer["Content-Security-Policy"].split("; ")[2] == "script-src 'self'"
    assert answer["Connection-Allowlist"] == "(response-origin)"
    page = answer.content.decode()
    assert 'src="/mermaid-12.0.0.js"' in page
    assert page.endswith("A--&gt;B&lt;/pre&gt;&lt;script&gt;x()&lt;/script&gt;\n</pre>")


def test_the_script_of_diagrams_is_what_its_authors_published(client: Client) -> None:
    answer = client.get("/mermaid-12.0.0.js")
    about = (ROOT / "static/vendor/mermaid/README.md").read_text("utf-8")
    assert hashlib.sha256(gzip.decompress(answer.content)).hexdigest() in about
    assert (answer["Content-Encoding"], answer["Content-Type"]) == ("gzip", "text/javascript; charset=utf-8")
    assert answer["Cross-Origin-Resource-Policy"] == "cross-origin", "a frame has no origin"
    assert "immutable" in answer["Cache-Control"]


@pytest.mark.parametrize(
    ("query", "name", "begin"),
    [({"block": 1}, "code.js", "let a"), ({"block": 3}, "code.py", "x = 2"), ({}, "text.md", "```js")],
)
def test_a_text_is_a_file_of_its_kind(
    alice_client: Client, talk: Talk, query: Any, name: str, begin: str
) -> None:
    answer = get(alice_client, talk.leaf, download="", **query)
    assert answer["Content-Disposition"] == f'attachment; filename="{name}"'
    assert answer["Content-Type"] == "application/octet-stream"
    assert answer.content.decode().startswith(begin)


def test_a_table_is_a_file_for_spreadsheets(alice_client: Client, talk: Talk) -> None:
    Message.objects.filter(pk=talk.leaf.pk).update(text=TABLE)
    answer = get(alice_client, talk.leaf, download="table")
    expected = '\ufeffwhat,sum\r\n"tea, green",-2.50\r\n\'=1+1,3\r\n'
    assert (answer.content.decode(), "table.csv" in answer["Content-Disposition"]) == (expected, True)
    assert get(alice_client, talk.reply, download="table").status_code == 404
