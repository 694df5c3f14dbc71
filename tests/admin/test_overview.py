"""The overview: today's figures, each with its list, and the state of the set-up."""

import re
from datetime import timedelta
from html import unescape
from typing import Any

import pytest
from django.contrib.auth.models import Permission
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from chat.admin.model_stats import people_since, usage_since
from chat.formats import written_cost
from chat.models import Call, CatalogState, Conversation, Run, Step, TitleRequest, User, Worker
from tests.admin import seed
from tests.support.clients import as_
from tests.support.steps import step_of

pytestmark = [pytest.mark.django_db, pytest.mark.database]
OVERVIEW = "/admin/"
FIGURE = re.compile(r'<a href="([^"]*)"><strong>(.*?)</strong> (.*?)</a>')
GRANITE = "@cf/ibm-granite/granite-4.0-h-micro"


def ran(ago: timedelta = timedelta(), **fields: Any) -> Conversation:
    talk = seed.talk("alice")
    Run.objects.filter(conversation=talk).update(created=timezone.now() - ago, **fields)
    return talk


def called(**fields: Any) -> None:
    whole = {"user": seed.person("alice"), "model": seed.MODEL, "dialect": "openai", "streamed": False,
        "status": "complete", "prompt_tokens": 1_000, "completion_tokens": 20,
        "finished": timezone.now()}  # fmt: skip
    Call.objects.create(**(whole | fields))


def shown(client: Client) -> str:
    return unescape(client.get(OVERVIEW).content.decode())


def linked(client: Client) -> dict[str, tuple[str, str]]:
    """The value and the URL of each figure."""
    return {name: (value, url) for url, value, name in FIGURE.findall(shown(client))}


def figures(client: Client) -> dict[str, str]:
    return {name: value for name, (value, _url) in linked(client).items()}


def test_todays_figures_are_on_top(administrator: Client) -> None:
    ran()
    ran(status="failed", error_code="busy")
    ran(timedelta(days=2), status="failed")
    called()
    found = figures(administrator)
    assert found.pop("Cost") == "$0.0002"
    assert found == {"Replies": "2", "Failed replies": "1", "API calls": "1"}
    administrator.defaults["HTTP_ACCEPT_LANGUAGE"] = "fr"
    assert all(name[0].isupper() for name in figures(administrator))


def test_each_figure_leads_to_the_list_it_counts(administrator: Client) -> None:
    ran()
    ran(status="failed")
    ran(timedelta(days=2))
    called()
    for name, (value, url) in linked(administrator).items():
        page = administrator.get(url)
        assert page.status_code == 200
        if name == "Cost":
            assert page.context["cost"] == value
            continue
        assert str(page.context["cl"].result_count) == value, name
        day = next(spec for spec in page.context["cl"].filter_specs if spec.title == "created")
        chosen = [choice["display"] for choice in day.choices(page.context["cl"]) if choice["selected"]]
        assert chosen == ["Today"]


def test_today_begins_at_midnight_of_the_person(administrator: Client) -> None:
    administrator.cookies["tz"] = "Pacific/Kiritimati"  # UTC+14
    with timezone.override("Pacific/Kiritimati"):
        midnight = timezone.localtime().replace(hour=0, minute=0, second=0, microsecond=0)
    age = timezone.now() - midnight
    ran(age - timedelta(seconds=1))
    ran(age + timedelta(minutes=1))
    assert figures(administrator)["Replies"] == "1"


def test_the_cost_counts_replies_calls_and_titles_once() -> None:
    talk = ran()
    ran(answered_by=GRANITE)
    called()
    called(run=Run.objects.get(conversation=talk))
    TitleRequest.objects.create(
        user=talk.user, conversation=talk, model=GRANITE, status="complete", prompt_tokens=500,
        completion_tokens=7,
    )  # fmt: skip
    used = usage_since(timezone.now() - timedelta(hours=1))
    counted = [(each.model, each.requests, each.prompt_tokens, each.completion_tokens) for each in used]
    assert counted == [(seed.MODEL, 2, 2_000, 40), (GRANITE, 2, 1_500, 27)]


def test_the_cost_counts_the_calls_of_tools() -> None:
    run = Run.objects.get(conversation=ran())
    step_of(run, 1, cost=0.5, created=timezone.now())
    step_of(run, 2, created=timezone.now())
    Step.objects.get(number=1).copy(run.message_id, 9).save()
    *_models, tool = usage_since(timezone.now() - timedelta(hours=1))
    assert (tool.name, tool.requests, tool.dollars) == ("Web search", 1, 0.5)
    assert last_hour().startswith("$0.50")


def test_the_cost_is_told_by_person_the_highest_first(administrator: Client) -> None:
    run = Run.objects.get(conversation=ran())
    called()
    step_of(run, 1, cost=0.5, created=timezone.now())
    called(user=seed.person("bob"), model=GRANITE)
    called(user=seed.person("ann"), prompt_tokens=1_000_000_000)
    called(user=seed.person("eve"), created=timezone.now() - timedelta(days=2))
    first, second, third = people_since(timezone.now() - timedelta(hours=1))
    assert [first.name, second.name, third.name] == ["ann", "alice", "bob"]
    assert (second.number, second.tokens) == ("3", "2,000 / 40")
    assert second.cost.startswith("$0.50")
    page = administrator.get("/admin/chat/run/rates/").content.decode()
    assert page.index("<bdi>ann</bdi>") < page.index("<bdi>alice</bdi>") < page.index("<bdi>bob</bdi>")
    assert "<bdi>eve</bdi>" not in page


def last_hour() -> str:
    return written_cost(*(each.dollars for each in usage_since(timezone.now() - timedelta(hours=1))))


def test_a_cost_with_an_unknown_price_is_a_lower_bound() -> None:
    ran(prompt_tokens=10_000_000)
    assert last_hour().startswith("$")
    ran(model="@cf/of/nobody")
    assert last_hour().startswith("at least $")


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        ((), "nothing"),
        ((0.0,), "nothing"),
        ((None,), "unknown"),
        ((None, 0.0), "unknown"),
        ((0.00003,), "<\u00a0$0.0001"),
        ((0.00003, 0.2), "$0.2000"),
        ((0.00019,), "$0.0002"),
        ((1.999,), "$2.00"),
        ((1234.5, None), "at least $1,234.50"),
    ],
)
def test_a_cost_is_said_plainly(parts: tuple[float | None, ...], said: str) -> None:
    assert written_cost(*parts) == said


def test_where_nothing_was_spent_it_says_so(administrator: Client) -> None:
    assert figures(administrator)["Cost"] == "nothing"
    ran(model="@cf/of/nobody")
    assert figures(administrator)["Cost"] == "unknown"
    page = shown(administrator)
    assert "<td>unknown</td>" in page
    assert "$0.00" not in page


def test_the_state_of_the_setup_is_a_line(administrator: Client, settings: Any) -> None:
    Worker.objects.create(host="here", pid=1)
    Worker.objects.create(host="dead", pid=2, heartbeat_at=timezone.now() - timedelta(minutes=1))
    page = administrator.get(OVERVIEW).content.decode()
    assert "No Cloudflare account is connected." in page
    assert "1 server process is running." in page
    assert 'data-state="good"' in page
    settings.CLOUDFLARE_ACCOUNT_ID = "acc"
    page = administrator.get(OVERVIEW).content.decode()
    assert "A Cloudflare account is connected." in page
    assert 'data-state="good"' in page


@pytest.mark.parametrize(
    ("error", "why"),
    [
        ("The list of models is empty.", "it is empty"),
        ("ConnectTimeout", "no answer in time"),
        ("Authentication error.", "Authentication error"),
    ],
)
def test_bad_news_comes_first(administrator: Client, settings: Any, error: str, why: str) -> None:
    settings.CLOUDFLARE_ACCOUNT_ID = "acc"
    CatalogState.objects.update_or_create(pk=CatalogState.ONLY, defaults={"error": error})
    page = administrator.get(OVERVIEW).content.decode()
    said = page.split('<p class="status-line" data-state="bad">')[1]
    assert said.startswith(f"Cloudflare’s list of models could not be loaded: {why}. ")
    assert "built-in model" in said.split("</p>")[0]
    assert "A Cloudflare account is connected." not in said
    CatalogState.objects.update(fetched=timezone.now())
    assert "built-in" not in administrator.get(OVERVIEW).content.decode()


def test_a_reviewer_is_told_about_the_record_and_sees_no_figures(reviewer: Client) -> None:
    assert figures(reviewer) == {}
    page = shown(reviewer)
    assert "Chats are private." in page
    assert "data-state" not in page


def test_a_figure_needs_the_right_to_its_list(reviewer: Client) -> None:
    erin = seed.person("erin")
    for right, names in (("view_run", ["Replies", "Failed replies"]), ("view_call", ["API calls"])):
        erin.user_permissions.set(Permission.objects.filter(codename=right))
        assert list(figures(reviewer)) == names


def test_staff_without_rights_are_told_whom_to_ask() -> None:
    page = as_(User.objects.create_user("carol", is_staff=True)).get(OVERVIEW).content.decode()
    assert "Ask an administrator" in page


def test_figures_read_only_the_rows_of_their_time(administrator: Client) -> None:
    """Check SQLite's plans, because PostgreSQL reads tables as small as these from end to end."""
    if connection.vendor != "sqlite":
        pytest.skip("plans of SQLite")
    with CaptureQueriesContext(connection) as captured:
        administrator.get(OVERVIEW)
    steps = []
    for query in captured.captured_queries:
        if re.search(r"chat_(run|call|titlerequest)", query["sql"]):
            with connection.cursor() as cursor:
                cursor.execute("EXPLAIN QUERY PLAN " + query["sql"])
                found = " ".join(row[3] for row in cursor.fetchall())
            steps.append(
                re.search(r"SEARCH (?:chat_\w+|used) USING (?:COVERING )?INDEX \w+ \(created>\?", found)
            )
    assert len(steps) == 5 + 1
    assert None not in steps
