"""The assistants that are ready to be copied, and the form, which begins with what one needs."""

import pytest
from django.test import Client
from django.utils import translation

from chat.library import assistants
from chat.library.assistants import MAX_ASSISTANTS, AssistantContent, check_picture
from chat.library.ready_assistants import READY, content_of_ready
from chat.models import Assistant, User

pytestmark = [pytest.mark.database, pytest.mark.django_db(transaction=True)]
LIST, COPY = "/settings/assistants/", "/settings/assistants/ready/"
HTML = {"headers": {"Accept": "text/html"}}


@pytest.mark.parametrize("name", READY)
def test_a_ready_one_becomes_ones_own_and_begins_a_chat(alice_client: Client, alice: User, name: str) -> None:
    ready = content_of_ready(name)
    assert check_picture(ready.picture) == ready.picture
    offered = alice_client.get(LIST, **HTML).content.decode()
    assert f'name="name" value="{name}"' in offered
    started = alice_client.post(COPY, {"name": name}, **HTML)
    own = Assistant.objects.owned_by(alice).get()
    assert (started.status_code, started.headers["Location"]) == (303, f"/?assistant={own.pk}")
    assert assistants.content_of(own.current) == ready
    assert ready.name in alice_client.get(started.headers["Location"], **HTML).content.decode()
    assert f'name="name" value="{name}"' not in alice_client.get(LIST, **HTML).content.decode()


@pytest.mark.parametrize("sent", [{}, {"name": "poems"}, {"name": "x" * 500}, {"name": "letters", "more": 1}])
def test_an_unknown_one_is_refused(alice_client: Client, sent: dict[str, object]) -> None:
    assert alice_client.post(COPY, sent, content_type="application/json").status_code in (400, 413)
    assert not Assistant.objects.exists()


def test_they_count_to_the_limit(alice_client: Client, alice: User) -> None:
    for number in range(MAX_ASSISTANTS):
        assistants.create(alice, AssistantContent(f"Number {number}"))
    assert alice_client.post(COPY, {"name": "letters"}, content_type="application/json").status_code == 409


def test_a_form_begins_with_name_instructions_and_documents(alice_client: Client) -> None:
    form = alice_client.get(f"{LIST}new/", **HTML).content.decode().partition('id="assistant-form"')[2]
    first, fold, rest = form.partition('<details class="model-settings"><summary>')
    assert fold
    for name in ("name", "instructions", "file"):
        assert f' name="{name}"' in first
    for name in ("picture", "image_file", "description", "questions", "model", "temperature"):
        assert f' name="{name}"' in rest
    refused = alice_client.post(LIST, {"name": "Cook", "picture": "no emoji"}, **HTML).content.decode()
    assert '<details class="model-settings" open>' in refused


def test_they_are_in_the_language_of_the_person() -> None:
    with translation.override("en"):
        assert [content_of_ready(name).name for name in READY] == ["Letters", "Homework", "Code review"]
