"""A prompt is used without scripts: its page asks for the fields, and a new chat has the text in its box."""

import html
import re
from typing import Any

import pytest
from django.contrib.auth.models import Group, Permission
from django.test import Client

from chat.library.prompts import fields_of, fill_fields, filled_length
from chat.limits import MAX_PROMPT_CHARS
from chat.models import Message, Prompt, User
from chat.views.library.prompts import MAX_FIELDS
from chat.views.requests.request_parsers import MAX_QUESTION_CHARS

pytestmark = [pytest.mark.database, pytest.mark.django_db(transaction=True)]
HTML = {"HTTP_ACCEPT": "text/html"}
LIST = "/settings/prompts/"
HOSTILE = "</textarea><script>alert(1)</script>"


def made(owner: User, text: str, **fields: Any) -> str:
    prompt = Prompt.objects.create(owner=owner, title="A letter", command="letter", text=text, **fields)
    return f"{LIST}{prompt.pk}/use/"


def box(response: Any) -> str:
    """Return the text in the message box."""
    found = re.search(r'<textarea id="content"[^>]*>\n(.*?)</textarea>', response.content.decode(), re.DOTALL)
    assert found
    return html.unescape(found[1])


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (
            "{{ person }}, {{topic:the weather}} in {{language:English: formal}}. {{person:Ada}}.",
            {"person": "Ada", "topic": "the weather", "language": "English: formal"},
        ),
        ("{{a:one\ntwo}} {{b:}} {{Schlüssel wort}}", {"a": "one\ntwo", "b": "", "Schlüssel wort": ""}),
        ("{{\ufeffa}} {{\x85}}", {"\x85": ""}),  # white space as scripts have it
    ],
)
def test_fields_are_those_of_the_script(text: str, found: dict[str, str]) -> None:
    assert list(fields_of(text).items()) == list(found.items())


@pytest.mark.parametrize("text", ["{a}", "{{}}", "{{ }}", "{{:x}}", "{{a\nb}}", "{ {a} }", "{{a}", "f({{}})"])
def test_other_braces_are_text(text: str) -> None:
    assert fields_of(text) == {}
    assert fill_fields(text, {"a": "x"}) == text


def test_values_are_filled_in_literally() -> None:
    text, values = "{{a}}|{{b:x}}|{{ a }}|{{c}}", {"a": r"\1 {{b}}", "b": ""}
    filled = fill_fields(text, values)
    assert filled == r"\1 {{b}}||\1 {{b}}|{{c}}"
    assert filled_length(text, values) == len(filled)


def test_a_long_text_of_braces_has_no_fields() -> None:
    assert fields_of("{{" * 10_000 + " " * 20_000) == {}
    assert fields_of("{{a" + " a" * 10_000) == {}


def test_the_list_leads_to_a_new_chat_with_the_text(alice_client: Client, alice: User) -> None:
    use = made(alice, "Dear {{name}},\nabout {{topic:boats}}: {{name}}!")
    assert f'href="{use}"' in alice_client.get(LIST).content.decode()
    shown = html.unescape(alice_client.get(use, **HTML).content.decode())
    assert 'name="field:name"' in shown
    assert "\nboats</textarea>" in shown
    response = alice_client.post(use, {"field:name": "Ada\r\nand Bob", "field:topic": "cats"}, **HTML)
    assert response.status_code == 200
    assert box(response) == "Dear Ada\nand Bob,\nabout cats: Ada\nand Bob!"
    assert 'action="/c/"' in response.content.decode()
    assert not Message.objects.exists()


def test_a_prompt_without_fields_is_put_in_as_it_is(alice_client: Client, alice: User) -> None:
    assert box(alice_client.post(made(alice, "\tHello {you}"), **HTML)) == "\tHello {you}"


def test_hostile_texts_are_only_text(alice_client: Client, alice: User) -> None:
    use = made(alice, f"{{{{name:{HOSTILE}}}}} {HOSTILE}")
    shown = alice_client.get(use, **HTML)
    filled = alice_client.post(use, {"field:name": HOSTILE}, **HTML)
    assert box(filled) == f"{HOSTILE} {HOSTILE}"
    for response in (shown, filled):
        assert "<script>alert" not in response.content.decode()
        assert html.escape(HOSTILE) in response.content.decode()


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        ({"field:other": "x"}, 400),
        ({"field:name": "a\0b"}, 400),
        ({"field:name": "x" * (MAX_QUESTION_CHARS + 1)}, 413),
    ],
)
def test_a_refused_field_keeps_what_was_typed(
    alice_client: Client, alice: User, sent: dict, status: int
) -> None:
    response = alice_client.post(
        made(alice, "Dear {{name}} {{topic}}"), {"field:topic": "kept"} | sent, **HTML
    )
    assert response.status_code == status
    assert 'role="alert"' in response.content.decode()
    assert "\nkept</textarea>" in response.content.decode()


def test_a_field_that_stands_often_cannot_grow_the_text(alice_client: Client, alice: User) -> None:
    use = made(alice, "{{a}}" * (MAX_PROMPT_CHARS // 5))
    response = alice_client.post(use, {"field:a": "x" * 100_000}, HTTP_ACCEPT="application/json")
    assert response.status_code == 413
    assert "the limit is" in response.json()["error"]["message"]


def test_the_page_asks_for_so_many_fields(alice_client: Client, alice: User) -> None:
    names = [f"f{number}" for number in range(MAX_FIELDS + 1)]
    use = made(alice, "".join(f"{{{{{name}}}}}" for name in names))
    shown = alice_client.get(use, **HTML).content.decode()
    assert shown.count('name="field:') == MAX_FIELDS
    assert "There are more fields." in shown
    response = alice_client.post(use, {f"field:{name}": "x" for name in names[:-1]}, **HTML)
    assert box(response) == "x" * MAX_FIELDS + f"{{{{{names[-1]}}}}}"


def test_a_prompt_of_another_is_used_if_it_is_published(alice_client: Client) -> None:
    bob = User.objects.create_user("bob")
    private = made(bob, "secret")
    Prompt.objects.update(everybody=True)
    assert f'href="{private}"' in alice_client.get(LIST).content.decode()
    assert box(alice_client.post(private, **HTML)) == "secret"


def test_a_prompt_that_only_others_may_use_has_no_link(alice_client: Client, alice: User) -> None:
    alice.is_staff = True
    alice.save()
    alice.user_permissions.add(Permission.objects.get(codename="publish_prompt"))
    use = made(User.objects.create_user("bob"), "Hello")
    Prompt.objects.get().groups.add(Group.objects.create(name="others"))
    assert "A letter" in alice_client.get(LIST).content.decode()
    assert use not in alice_client.get(LIST).content.decode()
    assert alice_client.get(use, **HTML).status_code == 404
