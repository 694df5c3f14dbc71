"""The lists of runs and of workers."""

from datetime import timedelta
from typing import Any

import pytest
from django.contrib import admin
from django.contrib.auth.models import Permission
from django.db.models import Model
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from chat.admin.transcript import read
from chat.models import Run, TitleRequest, Worker
from tests.admin import seed

pytestmark = [pytest.mark.database, pytest.mark.django_db]
RUNS, WORKERS, TITLES = "/admin/chat/run/", "/admin/chat/worker/", "/admin/chat/titlerequest/"


def runs(client: Client, query: str) -> int:
    return client.get(f"{RUNS}?{query}").context["cl"].result_count


def test_a_run_says_how_it_ended_and_leads_to_its_message(administrator: Client) -> None:
    talk = seed.talk("alice", "A secret title", reply="A secret.", status="failed", error_code="busy",
        request_id="req-77")  # fmt: skip
    reply = seed.messages_of(talk)[1]
    page = administrator.get(RUNS).content.decode()
    assert page.count("GLM 4.7 Flash</") == 2  # in the row and in the filter
    for text in ("alice", f'title="{seed.MODEL}"', "Failed", ">busy<", "req-77", "1,000 / 20", ">3.0<"):
        assert text in page
    assert f"/admin/chat/conversation/{talk.pk}/change/?leaf={reply.pk}#m-{reply.pk}" in page
    assert "secret" not in page


def test_runs_are_filtered_and_found(administrator: Client) -> None:
    seed.talk("alice", status="failed", error_code="busy", request_id="req-77")
    seed.talk("bob", model="@cf/other", created=timezone.now())
    assert runs(administrator, "") == 2
    for query in ("status__exact=failed", "error_code=busy", "model=@cf/other", "q=alice", "q=req-77"):
        assert runs(administrator, query) == 1
    day = (timezone.now() - timedelta(days=1)).isoformat().replace("+", "%2B")
    assert runs(administrator, f"created__gte={day}") == 1


def test_a_title_request_counts_in_the_conversation(administrator: Client) -> None:
    talk = seed.talk("alice", "A secret title")
    TitleRequest.objects.create(
        user=talk.user, conversation=talk, model="@cf/ibm-granite/granite-4.0-h-micro", status="complete",
        prompt_tokens=500, completion_tokens=7, neurons=0.8, finished=timezone.now(),
    )  # fmt: skip
    page = administrator.get(TITLES).content.decode()
    for text in ("alice", "granite-4.0-h-micro", "Complete", "500 / 7", ">0.8<"):
        assert text in page
    assert f"/admin/chat/conversation/{talk.pk}/change/" in page
    assert "secret" not in page
    assert "1,500 / 27" in administrator.get("/admin/chat/conversation/").content.decode()
    bill = read(talk, None, None).bill
    assert (bill.prompt_tokens, bill.completion_tokens) == (1_500, 27)


def test_a_worker_says_whether_it_lives_and_what_it_writes(administrator: Client) -> None:
    alive = Worker.objects.create(host="alive", pid=7)
    Worker.objects.create(host="dead", pid=8, heartbeat_at=timezone.now() - timedelta(minutes=1))
    for n in range(2):
        talk = seed.talk(title=f"talk {n}")
        Run.objects.filter(conversation=talk).update(worker=alive, status="running", finished=None)
    seed.talk()
    found = {
        str(each): (each.is_alive, each.number_live)
        for each in administrator.get(WORKERS).context["cl"].result_list
    }
    assert found == {"alive:7": (True, 2), "dead:8": (False, 0)}


LOG = "https://dash.cloudflare.com/acc/ai/ai-gateway/gateways/team/logs/log-7"
THROUGH = {"gateway": "team", "gateway_log": "log-7", "gateway_cached": True, "gateway_step": 2}


def test_a_run_through_a_gateway_leads_into_its_log(administrator: Client, settings: Any) -> None:
    seed.talk("alice", **THROUGH)
    assert "log-7" not in administrator.get(RUNS).content.decode()
    settings.CLOUDFLARE_ACCOUNT_ID, settings.AI_GATEWAY_ID = "acc", "team"
    page = administrator.get(RUNS).content.decode()
    assert f'<a href="{LOG}" rel="noreferrer">cached, fallback 2</a>' in page


def test_only_an_administrator_is_led_into_the_account(settings: Any, reviewer: Client) -> None:
    settings.CLOUDFLARE_ACCOUNT_ID, settings.AI_GATEWAY_ID = "acc", "team"
    seed.person("erin").user_permissions.add(Permission.objects.get(codename="view_run"))
    seed.talk("alice", **THROUGH)
    page = reviewer.get(RUNS).content.decode()
    assert "cached, fallback 2" in page
    assert "cloudflare.com" not in page
    assert "log-7" not in page


def test_a_transcript_says_how_a_reply_came(reviewer: Client) -> None:
    talk = seed.talk("alice", **THROUGH)
    page = reviewer.get(f"/admin/chat/conversation/{talk.pk}/change/").content.decode()
    for text in ("from the gateway cache", "gateway fallback 2"):
        assert text in page
    assert "log-7" not in page


SEARCHED = [model for model, options in admin.site._registry.items() if options.search_fields]


@pytest.mark.parametrize("model", SEARCHED, ids=lambda model: model._meta.model_name)
def test_every_list_with_a_search_box_searches(administrator: Client, model: type[Model]) -> None:
    address = reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist")
    assert administrator.get(f"{address}?q=nothing").status_code == 200


def test_an_empty_list_offers_nothing_to_do_to_its_rows(administrator: Client) -> None:
    for query, says in (("", "Nothing here yet."), ("?q=x", "Nothing found.")):
        page = administrator.get(f"/admin/chat/apikey/{query}").content.decode()
        assert says in page
        assert 'name="action"' not in page
    page = administrator.get("/admin/chat/invite/").content.decode()
    assert "Invite someone</a>" in page
    assert 'name="action"' not in administrator.get("/admin/auth/group/").content.decode()


@pytest.mark.parametrize("model", admin.site._registry, ids=lambda model: model._meta.model_name)
def test_a_list_is_titled_with_what_it_lists(administrator: Client, model: type[Model]) -> None:
    address = reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist")
    title = str(admin.site.get_model_admin(model).title or model._meta.verbose_name_plural)
    assert administrator.get(address).context["title"] == title[0].upper() + title[1:]
