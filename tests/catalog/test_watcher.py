"""A change of the catalog by one process or an administrator soon reaches every process."""

from collections.abc import Callable

import pytest

from tests.fake_cloudflare.models import finetune, record
from tests.fake_cloudflare.server import Fake
from tests.support.databases import Database
from tests.support.server import Server
from tests.support.waiting import until

pytestmark = pytest.mark.database
SMALL = "@cf/meta/llama-3.2-1b-instruct"


def offered(server: Server) -> str:
    return server.person("alice").get("/models/").text


def searches(fake: Fake) -> int:
    return sum("/models/search" in call["path"] for call in fake.lists.calls)


def test_only_the_first_process_fetches_the_list_at_start(servers: Callable[..., Server], fake: Fake) -> None:
    fake.lists.models.append(record("@cf/maker/new-9b", context_window="9000"))
    one, other = servers(), servers()
    for server in (one, other):
        until(lambda server=server: "@cf/maker/new-9b" in offered(server))
    assert searches(fake) == 1
    other.person("alice").asked("hello", model="@cf/maker/new-9b")
    assert fake.calls[-1]["path"].endswith("/ai/run/@cf/maker/new-9b")


@pytest.mark.parametrize("how", ["10000", "html", "hang"])
def test_a_list_that_cannot_be_had_delays_nothing_and_is_no_end(
    servers: Callable[..., Server], fake: Fake, database: Database, how: str
) -> None:
    fake.lists.fails["search"] = how
    server = servers()
    until(lambda: searches(fake))
    if how != "hang":
        until(lambda: database.value("SELECT error FROM chat_catalogstate"))
    assert offered(server).count('type="radio"') > 30
    stream = server.person("alice").asked("hello")
    assert stream.text == "You said: hello"
    assert server.terminate() == 0


def test_a_finetune_is_asked_of_its_base(servers: Callable[..., Server], fake: Fake) -> None:
    base, key = "@cf/meta/llama-3.3-70b-instruct-fp8-fast", "00000000-0000-4000-8000-000000000001"
    fake.lists.finetunes = [finetune("cats", base, key)]
    server = servers()
    until(lambda: "cats (Llama 3.3 70B Fast)" in offered(server))
    stream = server.person("alice").asked("hello", model=f"{base}+{key}")
    assert stream.meta["model"] == f"{base}+{key}"
    assert fake.calls[-1]["path"].endswith(f"/ai/run/{base}")
    assert fake.calls[-1]["body"]["lora"] == key


def test_a_process_starts_with_the_models_it_knows(server: Server) -> None:
    assert offered(server).count('type="radio"') > 30


def test_limits_from_a_rejection_reach_every_process(
    servers: Callable[..., Server], database: Database
) -> None:
    one, other = servers(), servers()
    for name in ("alice", "bob"):
        stream = one.person(name).asked("fake: status code=3030", model="@cf/openai/gpt-oss-20b")
        assert stream.done
        assert stream.done["code"] == "too_long"
    learnt = "SELECT observed_context_window FROM chat_sitemodel WHERE id = '@cf/openai/gpt-oss-20b'"
    until(lambda: database.value(learnt) == 60_000)
    for server in (one, other):
        until(lambda server=server: offered(server).count("60k context") == 2)


def test_a_change_in_the_database_reaches_a_process_that_runs(server: Server, database: Database) -> None:
    assert SMALL in offered(server)
    database.rows(f"UPDATE chat_sitemodel SET enabled = false WHERE id = '{SMALL}'")
    database.rows("UPDATE chat_catalogstate SET version = version + 1")
    until(lambda: SMALL not in offered(server))
    response = server.person("alice").post("/c/", {"content": "hello", "model": SMALL})
    assert response.status_code == 400
    assert "isn’t available here" in response.json()["error"]["message"]
