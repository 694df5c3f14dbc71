"""A person's own usage: by day in their time zone and by model, from an index alone."""

import re
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from chat.catalog.catalog import cost_of
from chat.models import Call, Run, Step, TitleRequest, User
from chat.models.usage import DayUsage, usage_of
from tests.support.message_trees import Tree, conversation
from tests.support.server import Server
from tests.support.steps import run_of, step_of
from tests.views.trees import ask_to_end

pytestmark = pytest.mark.database
MODEL = "@cf/zai-org/glm-4.7-flash"
PAGE = "/settings/usage/"
TOKYO = ZoneInfo("Asia/Tokyo")
MANY = 100_000


def make_run(user: User, created: datetime, **columns: Any) -> Run:
    reply = Tree(conversation(user)).grow(None, 2)[1]
    given = {"model": MODEL, "created": created, "finished": created, "prompt_tokens": 10}
    return run_of(reply, user, **given | {"completion_tokens": 5} | columns)


def make_call(user: User, created: datetime, **columns: Any) -> Call:
    return Call.objects.create(
        user=user, model=MODEL, dialect="openai", streamed=False, status="complete", created=created,
        finished=created, prompt_tokens=100, completion_tokens=50, **columns,
    )  # fmt: skip


@pytest.fixture
def ann(db: None) -> User:
    return User.objects.create_user("ann")


def days(zone: Any, number: int = 30) -> list[datetime]:
    first = datetime(2026, 11, 1)
    return [(first + timedelta(days=day)).replace(tzinfo=zone) for day in range(number + 1)]


def test_a_day_is_that_of_the_persons_time_zone(ann: User) -> None:
    make_run(ann, datetime(2026, 11, 4, 15, 30, tzinfo=UTC))  # the 5th in Tokyo
    assert usage_of(ann, days(UTC)) == [DayUsage(4, MODEL, 1, 10, 5)]
    assert usage_of(ann, days(TOKYO)) == [DayUsage(5, MODEL, 1, 10, 5)]


def test_runs_calls_and_titles_are_summed_by_model(ann: User) -> None:
    noon = datetime(2026, 11, 4, 12, tzinfo=UTC)
    run = make_run(ann, noon)
    make_run(ann, noon, model="@cf/other/one", answered_by=MODEL)
    make_run(ann, noon, model="local/x", prompt_tokens=None, completion_tokens=None)  # it failed
    make_call(ann, noon)
    make_call(ann, noon, run=run)  # the same tokens as those of the run
    TitleRequest.objects.create(
        user=ann, conversation=run.conversation, model="@cf/small", created=noon,
        prompt_tokens=7, completion_tokens=3,
    )  # fmt: skip
    assert usage_of(ann, days(UTC)) == [DayUsage(4, "@cf/small", 1, 7, 3), DayUsage(4, MODEL, 3, 120, 60)]


def test_calls_of_tools_cost_as_long_as_they_are_of_a_run(ann: User) -> None:
    noon = datetime(2026, 11, 4, 12, tzinfo=UTC)
    run = make_run(ann, noon, prompt_tokens=None, completion_tokens=None)  # it failed
    for number, cost in enumerate((0.25, 0.5, None, 0.0), 1):
        step_of(run, number, cost=cost)
    Step.objects.get(number=1).copy(run.message_id, 9).save()
    assert usage_of(ann, days(UTC)) == [DayUsage(4, "web_search", 3, 0, 0, 0.75)]
    assert cost_of(usage_of(ann, days(UTC))[0]) == 0.75
    assert usage_of(User.objects.create_user("ben"), days(UTC)) == []


def test_nobody_elses_usage_and_no_other_month_counts(ann: User) -> None:
    noon = datetime(2026, 11, 4, 12, tzinfo=UTC)
    make_run(User.objects.create_user("ben"), noon)
    make_run(ann, datetime(2026, 10, 31, 23, 59, 59, tzinfo=UTC))
    make_run(ann, datetime(2026, 12, 1, tzinfo=UTC))
    assert usage_of(ann, days(UTC)) == []


@pytest.mark.django_db(transaction=True)
def test_a_hundred_thousand_runs_are_read_from_the_index(request: pytest.FixtureRequest) -> None:
    ann = User.objects.create_user("ann")
    run = make_run(ann, datetime(2026, 11, 4, 12, tzinfo=UTC))
    multiply(run)
    add_steps(run)  # an empty table would be read whole, whatever its indexes
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("CHECKPOINT")  # VACUUM skips rows whose commits are not on the disk
        cursor.execute("VACUUM ANALYZE" if connection.vendor == "postgresql" else "ANALYZE")
    request.addfinalizer(forget_statistics)
    with CaptureQueriesContext(connection) as queries:
        used = usage_of(ann, days(UTC))
    assert used == [
        DayUsage(4, MODEL, MANY + 1, (MANY + 1) * 10, (MANY + 1) * 5),
        DayUsage(4, "web_search", MANY + 1, 0, 0, (MANY + 1) * 0.25),
    ]
    assert len(queries) == 5  # runs, calls, titles, what was purged, and the calls of tools
    explain = "EXPLAIN " if connection.vendor == "postgresql" else "EXPLAIN QUERY PLAN "
    only = "Index Only Scan using " if connection.vendor == "postgresql" else "USING COVERING INDEX "
    with connection.cursor() as cursor:
        for query, index in ((queries[0], "run_usage"), (queries[4], "step_usage")):
            cursor.execute(explain + query["sql"].strip().replace("%", "%%"))
            plan = str(cursor.fetchall())
            assert f"{only}{index}" in plan, plan


def forget_statistics() -> None:
    """SQLite would plan the queries of later tests for tables of this size."""
    if connection.vendor == "sqlite":
        with connection.cursor() as cursor:
            cursor.execute("DELETE FROM sqlite_stat1")
            cursor.execute("ANALYZE sqlite_master")


def multiply(run: Run) -> None:
    """Store the run MANY times more."""
    fields = Run._meta.concrete_fields
    columns = [f'"{field.column}"' for field in fields]
    made = "gen_random_uuid()" if connection.vendor == "postgresql" else "lower(hex(randomblob(16)))"
    own = {'"id"': made, '"client_key"': made}
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO chat_run ({', '.join(columns)}) "
            f"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {MANY}) "
            f"SELECT {', '.join(own.get(column, f'chat_run.{column}') for column in columns)} "
            "FROM chat_run CROSS JOIN n"
        )


def add_steps(run: Run) -> None:
    """Store a step for each run."""
    step_of(run, 1, cost=0.25)
    columns = [field.column for field in Step._meta.concrete_fields if not field.primary_key]
    values = ["r.id" if column == "run_id" else f"s.{column}" for column in columns]
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO chat_step ({', '.join(columns)}) "
            f"SELECT {', '.join(values)} FROM chat_step s CROSS JOIN chat_run r WHERE r.id <> s.run_id"
        )


def test_the_page_shows_figures_and_a_chart(server: Server) -> None:
    bob = server.person("bob")
    assert "No usage in" in bob.get(PAGE).text
    ask_to_end(bob, "hello")
    page = bob.get(PAGE).text
    assert '<svg role="img" aria-label="Bar chart of the tokens' in page
    assert page.count('<rect class="shade-1"') == 2  # a bar, and the legend of its model
    assert re.search(r'scope="row"><svg class="swatch".*<bdi>GLM 4\.7 Flash</bdi></th><td>1</td>', page)
    assert "style=" not in page
    assert "No usage in" in server.person("carol").get(PAGE).text


@pytest.mark.parametrize("month", ["", "2026", "2026-13", "1999-12", "9999-12", "2026-1", "²026-11", "x"])
def test_an_invalid_month_is_refused(server: Server, month: str) -> None:
    assert server.person("alice").get(PAGE, params={"month": month}).status_code == 400


def test_the_months_since_the_account_was_made_are_linked(server: Server) -> None:
    erin = server.person("erin")
    this = f"{timezone.now():%Y-%m}"
    assert 'rel="prev"' not in erin.get(PAGE).text
    server.database.rows(
        "UPDATE chat_user SET date_joined = '2020-01-15 00:00:00+00:00' WHERE username = 'erin'"
    )
    page = erin.get(PAGE).text
    assert 'rel="prev"' in page
    assert 'rel="next"' not in page
    first = erin.get(PAGE, params={"month": "2020-01"}).text
    assert 'rel="prev"' not in first
    assert 'href="?month=2020-02" rel="next"' in first
    assert erin.get(PAGE, params={"month": this}).status_code == 200
