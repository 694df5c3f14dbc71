"""The parameters on an assistant's form are those of the model that is chosen on it."""

import pytest
from django.test import Client

from chat.library import assistants
from chat.library.assistants import AssistantContent
from chat.models import Assistant, User

pytestmark = [pytest.mark.database, pytest.mark.django_db(transaction=True)]
HTML = {"HTTP_ACCEPT": "text/html"}
PAGES = "/settings/assistants/"
LLAMA = "@cf/meta/llama-3.3-70b-instruct-fp8-fast"  # top_k to 50, temperature to 5, no thinking
GLM = "@cf/zai-org/glm-4.7-flash"  # temperature to 2, no top_k


@pytest.fixture
def cook(alice: User) -> Assistant:
    return assistants.create(
        alice, AssistantContent("Cook", model=LLAMA, parameters={"temperature": 4.5, "top_k": 3})
    )


def send(alice_client: Client, cook: Assistant, **fields: str) -> str:
    """Send the form as it is without scripts, with the controls of LLAMA; return where it leads."""
    sent = {"name": "Cook", "model": LLAMA, "temperature": "4.5", "top_k": "3", "parameters_of": LLAMA}
    response = alice_client.post(f"{PAGES}{cook.pk}/", sent | fields, **HTML)
    assert response.status_code == 303
    cook.refresh_from_db()
    return str(response.headers["Location"])


def test_the_form_says_whose_controls_it_has(alice_client: Client, cook: Assistant) -> None:
    shown = alice_client.get(f"{PAGES}{cook.pk}/", **HTML).content.decode()
    assert f'name="parameters_of" value="{LLAMA}"' in shown
    part = alice_client.get("/models/parameters/", {"model": GLM, "assistant": ""}).content.decode()
    assert f'name="parameters_of" value="{GLM}"' in part
    assert 'form="assistant-form"' in part
    assert "parameters_of" not in alice_client.get("/models/parameters/", {"model": GLM}).content.decode()


def test_the_same_model_leads_to_the_list(alice_client: Client, cook: Assistant) -> None:
    assert send(alice_client, cook) == f"{PAGES}?saved=1"
    assert cook.current
    assert cook.current.parameters == {"temperature": 4.5, "top_k": 3}


def test_a_changed_model_keeps_what_it_takes_and_says_so(alice_client: Client, cook: Assistant) -> None:
    target = send(alice_client, cook, model=GLM)
    assert target.startswith(f"{PAGES}{cook.pk}/?saved=1")
    assert cook.current
    assert cook.current.parameters == {"temperature": 2}
    shown = alice_client.get(target, **HTML).content.decode()
    assert "Your changes are saved." in shown
    assert "Only the values that it takes" in shown
    assert 'name="thinking"' in shown
    assert 'name="top_k"' not in shown
    assert (
        "Only the values that it takes" not in alice_client.get(f"{PAGES}{cook.pk}/", **HTML).content.decode()
    )


def test_a_new_assistant_with_another_model_shows_it(alice_client: Client) -> None:
    fields = {"name": "Cook", "model": LLAMA, "parameters_of": GLM}
    target = str(alice_client.post(PAGES, fields, **HTML).headers["Location"])
    assert "?saved=1" in target
    assert 'name="top_k"' in alice_client.get(target, **HTML).content.decode()


def test_controls_are_no_field_of_the_api(alice_client: Client, cook: Assistant) -> None:
    fields = {"name": "Cook", "parameters_of": LLAMA}
    assert alice_client.post(PAGES, fields, content_type="application/json").status_code == 400
