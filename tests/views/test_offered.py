"""The models that each person may use, and conversations with a model that has retired."""

import pytest

from tests.fake_cloudflare.server import Fake
from tests.support.databases import Database
from tests.support.server import Person, Server
from tests.support.waiting import until

FEW, HIDDEN, GONE = "@cf/qwen/qwen3.8-27b", "@cf/qwen/qwq-32b", "@cf/openai/gpt-oss-20b"
OLD = "@cf/meta/llama-2-7b-chat-int8"  # retired long ago
DEFAULT = "@cf/zai-org/glm-4.7-flash"


@pytest.fixture(scope="module", autouse=True)
def decided(server: Server, database: Database) -> None:
    """FEW is for alice's group alone, HIDDEN is hidden, GONE is listed no longer."""
    fetched = "SELECT count(*) FROM chat_catalogstate WHERE fetched IS NOT NULL"
    until(lambda: database.value(fetched))  # else it would be back with the first list
    database.rows("INSERT INTO auth_group (id, name) VALUES (7001, 'few')")
    alice = database.value("SELECT id FROM chat_user WHERE username = 'alice'")
    database.rows(f"INSERT INTO chat_user_groups (user_id, group_id) VALUES ({alice}, 7001)")
    database.rows(f"INSERT INTO chat_sitemodel_groups (sitemodel_id, group_id) VALUES ('{FEW}', 7001)")
    database.rows(f"UPDATE chat_sitemodel SET enabled = false WHERE id = '{HIDDEN}'")
    database.rows(f"UPDATE chat_sitemodel SET delisted_at = '2026-11-01 00:00:00' WHERE id = '{GONE}'")
    database.rows("UPDATE chat_catalogstate SET version = version + 1")
    until(lambda: HIDDEN not in server.person("bob").get("/models/").text)


@pytest.fixture
def bob(server: Server) -> Person:
    return server.person("bob")


def test_only_those_of_its_group_see_and_use_a_model(alice: Person, bob: Person, fake: Fake) -> None:
    for path in ("/", "/models/"):
        assert f'value="{FEW}"' in alice.get(path).text
        assert FEW not in bob.get(path).text
    alice.asked("hello", model=FEW)
    assert fake.calls[-1]["path"].endswith(FEW)


@pytest.mark.parametrize("model", [FEW, HIDDEN])
def test_one_may_not_be_told_from_one_that_is_not_there(
    bob: Person, database: Database, fake: Fake, model: str
) -> None:
    stream = bob.asked("hello")
    reply, question = stream.meta["message"], stream.meta["user_message"]
    runs, calls = database.value("SELECT count(*) FROM chat_run"), len(fake.calls)

    def refusals(name: str) -> list[tuple[int, str]]:
        sent, path = {"content": "hello", "model": name}, f"/c/{stream.conversation}"
        given = [
            bob.post("/c/", sent),
            bob.post(f"{path}/messages/", sent),
            bob.post(f"{path}/settings/", {"model": name}),
            bob.get("/models/parameters/", params={"model": name}),
            bob.post(f"/messages/{reply}/regenerate/", {"model": name}),
            bob.post(f"/messages/{question}/edit/", sent),
        ]
        return [(response.status_code, response.text.replace(name, "…")) for response in given]

    assert refusals(model) == refusals("@cf/of/nobody")
    assert {status for status, _ in refusals(model)} == {400}
    assert database.value("SELECT count(*) FROM chat_run") == runs
    assert len(fake.calls) == calls


def test_a_former_member_continues_with_another_model(alice: Person, bob: Person, database: Database) -> None:
    stream = alice.asked("hello", model=FEW)
    key = sql(database, stream.conversation)
    bobs = "(SELECT id FROM chat_user WHERE username = 'bob')"
    database.rows(f"UPDATE chat_conversation SET user_id = {bobs} WHERE id = '{key}'")
    page = bob.get(f"/c/{stream.conversation}/").text
    assert f'value="{DEFAULT}" selected' in page
    assert '<summary data-part="model">Qwen3.8 27B</summary>' in page  # the old reply keeps its name


@pytest.mark.parametrize(
    ("model", "name", "successor", "next_name"),
    [
        (GONE, "GPT OSS 20B", DEFAULT, "GLM 4.7 Flash"),
        (OLD, "Llama 2 7B Chat", DEFAULT, "GLM 4.7 Flash"),
        ("@cf/moonshotai/kimi-k2.5", "Kimi K2.5", "@cf/moonshotai/kimi-k2.6", "Kimi K2.6"),
    ],
)
def test_retired_model_is_replaced_with_a_notice(
    bob: Person, database: Database, fake: Fake, model: str, name: str, successor: str, next_name: str
) -> None:
    stream = bob.asked("hello", model="@cf/openai/gpt-oss-120b")
    key = stream.conversation
    database.rows(f"UPDATE chat_conversation SET model = '{model}' WHERE id = '{sql(database, key)}'")
    database.rows(
        f"UPDATE chat_message SET model = '{model}' WHERE conversation_id = '{sql(database, key)}'"
        " AND role = 'assistant'"
    )
    word = f"{name} is no longer available. From your next message on, {next_name} answers."
    page = bob.get(f"/c/{key}/").text
    assert word in page
    assert f'value="{successor}" selected' in page
    assert word in bob.get(f"/models/?was={model}").text
    stream = bob.asked("And now?", f"/c/{key}/messages/")
    assert stream.meta["model"] == successor
    assert fake.calls[-1]["path"].endswith(successor)
    page = bob.get(f"/c/{key}/").text
    assert word not in page
    assert f'<summary data-part="model">{name}</summary>' in page
    assert f'<summary data-part="model">{next_name}</summary>' in page


def sql(database: Database, key: str) -> str:
    return key.replace("-", "") if database.url.startswith("sqlite") else key


def test_old_page_that_sends_a_retired_model_is_answered(bob: Person, fake: Fake) -> None:
    stream = bob.asked("hello", model=GONE)
    assert stream.meta["model"] == DEFAULT


@pytest.mark.parametrize("was", ["", "x", HIDDEN, "@cf/of/nobody", "<script>", "%00"])
def test_the_choice_says_nothing_of_models_that_did_not_retire(bob: Person, was: str) -> None:
    response = bob.get(f"/models/?was={was}")
    assert response.status_code == 200
    assert "no longer available" not in response.text
