"""Statistics of the models, in two queries."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import Permission
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from chat.admin.model_stats import rates
from chat.models import Run
from tests.admin import seed

pytestmark = [pytest.mark.database, pytest.mark.django_db]
RATES, OTHER = "/admin/chat/run/rates/", "@cf/other/model"


def ran(ago: timedelta = timedelta(), waited: float | None = None, **fields: object) -> None:
    """A run that began so long ago, and whose first token came after so many seconds."""
    talk = seed.talk("alice")
    began = timezone.now() - ago
    heard = None if waited is None else began + timedelta(seconds=waited)
    Run.objects.filter(conversation=talk).update(created=began, first_token=heard, **fields)


def test_runs_are_counted_by_model_and_code(administrator: Client) -> None:
    for waited in (0.5, 3.0, 1.0):
        ran(waited=waited)
    ran(status="failed", error_code="busy")
    ran(status="failed", error_code="busy")
    ran(status="interrupted", error_code="timeout")
    ran(waited=9.0, answered_by=OTHER, fallback_reason="busy")
    ran(waited=2.0, model=OTHER)
    first, second = rates(timezone.now() - timedelta(hours=1))
    assert (first.model, first.runs, first.failed, first.instead) == (seed.MODEL, 7, 3, 1)
    assert first.by_code == [("busy", 2), ("timeout", 1)]
    assert first.median == pytest.approx(1.0, abs=0.001)
    assert (second.model, second.failed, second.share, second.median) == (OTHER, 0, 0.0, pytest.approx(2.0))
    page = administrator.get(RATES).content.decode()
    assert "3 (42.9 %)" in page
    assert f"?error_code=busy&amp;model={seed.MODEL.replace('@', '%40')}" in page


def test_the_median_of_an_even_number_is_the_lower_of_the_two() -> None:
    for waited in (4.0, 1.0, 2.0, 3.0):
        ran(waited=waited)
    (rate,) = rates(timezone.now() - timedelta(hours=1))
    assert rate.median == pytest.approx(2.0)


@pytest.mark.parametrize(
    ("period", "number"), [("hour", 1), ("day", 2), ("week", 3), ("month", 4), ("", 2), ("x", 2)]
)
def test_a_period_is_chosen(administrator: Client, period: str, number: int) -> None:
    for ago in (
        timedelta(minutes=5),
        timedelta(hours=5),
        timedelta(days=5),
        timedelta(days=20),
        timedelta(days=50),
    ):
        ran(ago)
    (rate,) = administrator.get(RATES, {"period": period}).context["rates"]
    assert rate.runs == number


def test_two_queries_whatever_there_is() -> None:
    for n in range(5):
        ran(waited=n, model=f"@cf/model/{n}", error_code=str(n))
    with CaptureQueriesContext(connection) as counted:
        assert len(rates(timezone.now() - timedelta(hours=1))) == 5
    assert len(counted) == 2


def test_the_list_of_runs_leads_there(administrator: Client) -> None:
    assert f'href="{RATES}"' in administrator.get("/admin/chat/run/").content.decode()
    assert "No requests" in administrator.get(RATES).content.decode()


def test_only_who_may_see_the_runs_may_see_the_rates(reviewer: Client, administrator: Client) -> None:
    assert reviewer.get(RATES).status_code == 403
    assert Client().get(RATES).status_code == 302
    assert administrator.post(RATES).status_code == 405
    seed.person("erin").user_permissions.add(Permission.objects.get(codename="view_run"))
    assert reviewer.get(RATES).status_code == 200
