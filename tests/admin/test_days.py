"""The last days: as charts that have their numbers as tables, in the person's zone, read once."""

import re
from datetime import datetime, timedelta
from html import unescape
from typing import Any

import pytest
from django.contrib.auth.models import Permission
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from chat.admin import days
from chat.admin.days import NUMBER, last_days
from chat.formats import short_date
from chat.models import Run, TitleRequest
from tests.admin import seed

pytestmark = [pytest.mark.django_db, pytest.mark.database]
CHART = re.compile(
    r'<details class="chart"><summary><span>(.*?)</span> <strong>(.*?)</strong>(.*?)</details>', re.DOTALL
)
ROW = re.compile(r'<tr><th scope="row">(.*?)</th>(.*?)</tr>')


def ran(at: datetime, owner: str = "alice", waited: float | None = 1.0, **fields: Any) -> Run:
    talk = seed.talk(owner)
    first = None if waited is None else at + timedelta(seconds=waited)
    Run.objects.filter(conversation=talk).update(created=at, first_token=first, **fields)
    return Run.objects.get(conversation=talk)


def noon(ago: int) -> datetime:
    return timezone.localtime().replace(hour=12, minute=0, second=0) - timedelta(days=ago)


def charts(client: Client) -> dict[str, tuple[str, dict[str, list[str]], int]]:
    """By title: the total, the values of each day, and the number of bars."""
    page = unescape(client.get("/admin/").content.decode())
    return {
        title: (
            total,
            {day: re.findall("<td>(.*?)</td>", cells) for day, cells in ROW.findall(rest)},
            rest.count("<rect"),
        )
        for title, total, rest in CHART.findall(page)
    }


def test_each_figure_has_a_chart_and_a_table(administrator: Client) -> None:
    for waited in (1.0, 2.0, 3.0):
        ran(noon(3), waited=waited)
    ran(noon(3), "bob", waited=None, status="failed", error_code="busy")
    ran(noon(NUMBER))  # too long ago
    run = ran(noon(10))
    TitleRequest.objects.create(
        user=run.user, conversation=run.conversation, model=seed.MODEL, status="complete",
        created=noon(10), prompt_tokens=10_000_000, completion_tokens=1,
    )  # fmt: skip
    found, day = charts(administrator), short_date(noon(3).date())
    values = {title: rows[day] for title, (_total, rows, _bars) in found.items()}
    assert values.pop("Cost") == ["$0.0003"]
    assert values == {
        "Replies": ["4"],
        "People who asked": ["2"],
        "Failed replies": ["1"],
        "Time to the first token": ["3.00 s", "2.00 s"],
    }
    assert {title: bars for title, (_total, _rows, bars) in found.items()} == {
        "Replies": 2, "People who asked": 2, "Failed replies": 1, "Time to the first token": 4, "Cost": 2
    }  # fmt: skip
    assert found["Replies"][0] == "5"
    assert found["Failed replies"][0] == "1 (20.0 %)"
    assert float(found["Cost"][0].removeprefix("$")) > 0.5
    assert [len(rows) for _total, rows, _bars in found.values()] == [NUMBER] * 5


def test_the_95th_of_a_hundred_is_the_one_that_most_wait_for() -> None:
    for number in range(1, 21):
        ran(noon(2), waited=number)
    day = last_days()[-3]
    assert (day.half, day.most) == (pytest.approx(10, abs=0.01), pytest.approx(19, abs=0.01))


def test_a_day_is_the_persons_own(administrator: Client) -> None:
    administrator.cookies["tz"] = "Pacific/Kiritimati"  # UTC+14
    with timezone.override("Pacific/Kiritimati"):
        midnight = timezone.localtime().replace(hour=0, minute=0, second=0, microsecond=0)
    ran(midnight - timedelta(minutes=1))
    ran(midnight + timedelta(seconds=1))
    rows = charts(administrator)["Replies"][1]
    days = [short_date((midnight - timedelta(days=ago)).date()) for ago in (0, 1, 2)]
    assert [rows[day] for day in days] == [["1"], ["1"], ["0"]]
    assert "time zone, Pacific/Kiritimati." in administrator.get("/admin/").content.decode()


def test_a_day_that_is_over_is_read_once() -> None:
    ran(noon(4))
    last_days()
    ran(noon(0))
    ran(noon(4))
    with CaptureQueriesContext(connection) as counted:
        found = last_days()
    assert (found[-1].replies, found[-5].replies) == (1, 1)
    assert len(counted) <= 10  # today, and yesterday for the first two hours
    with timezone.override("Asia/Tokyo"):
        assert sum(day.replies for day in last_days()) == 3  # it was read again


def test_all_days_are_read_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(days, "_over", {})
    for ago in range(1, NUMBER):
        ran(noon(ago), waited=ago)
    with CaptureQueriesContext(connection) as counted:
        found = last_days()
    assert len(counted) == 6
    assert [day.replies for day in found] == [1] * (NUMBER - 1) + [0]
    assert [round(day.half or 0) for day in found] == [*range(NUMBER - 1, 0, -1), 0]


def test_without_data_there_is_a_sentence(administrator: Client) -> None:
    page = administrator.get("/admin/").content.decode()
    assert "Nobody asked anything in these days." in page
    assert '<svg viewBox="0 0 300' not in page
    ran(timezone.now(), waited=None, model="local/smollm2-135m")
    page = administrator.get("/admin/").content.decode()
    for nothing in ("No reply failed.", "No reply began.", "Nothing that has a price was used."):
        assert nothing in page


def test_people_see_the_charts_that_they_have_a_right_to(reviewer: Client) -> None:
    ran(noon(1))
    assert charts(reviewer) == {}
    erin = seed.person("erin")
    erin.user_permissions.add(Permission.objects.get(codename="view_run"))
    assert list(charts(reviewer)) == [
        "Replies",
        "People who asked",
        "Failed replies",
        "Time to the first token",
    ]
