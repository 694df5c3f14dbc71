"""The catalog that comes of the rows of the models, and what is learnt about them."""

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from django.contrib.auth.models import Group
from django.db import IntegrityError, transaction

from chat.catalog import catalog, watcher
from chat.models import CatalogState, SiteDoor, SiteModel, User
from chat.upstream.catalog import DEFAULT_MODEL, Catalog, Door, LlmModel, UnknownModel, bundled, to_record
from chat.upstream.client import Client
from chat.upstream.errors import from_payload
from tests.fake_cloudflare.errors import error

pytestmark = [pytest.mark.database, pytest.mark.django_db]
GLM, GEMMA = "@cf/zai-org/glm-4.7-flash", "@cf/google/gemma-4-26b-a4b-it"
LOCAL = LlmModel("local/tiny", "Tiny", window=2_000, local=True)
rows = SiteModel.objects


@pytest.fixture(autouse=True)
def account(settings: Any) -> None:
    settings.CLOUDFLARE_ACCOUNT_ID = "acc"
    settings.DEFAULT_MODEL = ""
    catalog.register_models([LOCAL])


def now() -> Catalog:
    return catalog.load_catalog([LOCAL])


def change(key: str, **columns: Any) -> Catalog:
    assert rows.filter(pk=key).update(**columns)
    return now()


def declare(key: str, **facts: Any) -> Catalog:
    model = replace(bundled()[0], id=key, **facts)
    rows.update_or_create(pk=key, defaults={"source": "search", "metadata": to_record(model)})
    return now()


def test_initial_catalog_has_bundled_and_site_models() -> None:
    assert list(now()) == [*bundled(), LOCAL]
    assert now().default.id == DEFAULT_MODEL


def test_they_are_entered_once(django_assert_num_queries: Any) -> None:
    before = rows.count()
    with django_assert_num_queries(2):
        catalog.register_models([LOCAL])
    assert rows.count() == before == len(bundled()) + 1


def test_reading_them_takes_three_queries(django_assert_num_queries: Any) -> None:
    for row in rows.all()[:5]:
        row.groups.add(Group.objects.create(name=row.pk))
    with django_assert_num_queries(3):
        now()


def test_without_an_account_only_the_sites_own_are_there(settings: Any) -> None:
    settings.CLOUDFLARE_ACCOUNT_ID = ""
    assert list(now()) == [LOCAL]
    assert now().default == LOCAL
    assert now().resolve("@cf/meta/llama-2-7b-chat-int8") == LOCAL
    with pytest.raises(UnknownModel):
        now().resolve(GEMMA)


def test_site_model_removed_from_settings_is_not_offered() -> None:
    with pytest.raises(UnknownModel):
        catalog.load_catalog([]).get(LOCAL.id)


def test_a_model_of_the_site_can_be_hidden() -> None:
    assert LOCAL not in list(change(LOCAL.id, enabled=False))


def test_the_administrators_order_and_names_hold() -> None:
    assert next(iter(change(GEMMA, position=0))).id == GEMMA
    assert change(GEMMA, display_name="Our favourite").get(GEMMA).name == "Our favourite"


def test_a_hidden_model_is_unknown_but_keeps_its_name() -> None:
    offered = change(GEMMA, enabled=False)
    with pytest.raises(UnknownModel):
        offered.resolve(GEMMA)
    assert offered.name_of(GEMMA) == "Gemma 4 26B A4B"


def test_default_is_from_admin_then_settings_then_bundled(settings: Any) -> None:
    settings.DEFAULT_MODEL = LOCAL.id
    assert now().default.id == LOCAL.id
    assert change(GEMMA, is_default=True).default.id == GEMMA
    settings.DEFAULT_MODEL = "@cf/of/nobody"
    assert change(GEMMA, is_default=False).default.id == DEFAULT_MODEL


def test_a_default_that_has_retired_is_replaced(settings: Any) -> None:
    settings.DEFAULT_MODEL = "@cf/moonshotai/kimi-k2.5"
    assert now().default.id == "@cf/moonshotai/kimi-k2.6"


def test_the_default_is_never_for_some_alone() -> None:
    rows.get(pk=GLM).groups.add(Group.objects.create(name="few"))
    rows.filter(pk=GEMMA).update(enabled=False)
    assert now().default.id == bundled()[2].id


def test_one_that_was_hidden_is_better_than_none() -> None:
    rows.exclude(pk=LOCAL.id).update(delisted_at=datetime.now(UTC))
    assert change(LOCAL.id, enabled=False).default == LOCAL


def test_there_is_one_default_at_most_and_it_is_shown() -> None:
    rows.put_default(GLM)
    rows.put_default(GEMMA)
    assert list(rows.filter(is_default=True).values_list("pk", flat=True)) == [GEMMA]
    for columns in ({"pk": GLM, "is_default": True}, {"pk": GEMMA, "enabled": False}):
        with pytest.raises(IntegrityError), transaction.atomic():
            rows.filter(pk=columns.pop("pk")).update(**columns)


def test_a_model_for_a_group_is_theirs_alone(django_assert_num_queries: Any) -> None:
    few = Group.objects.create(name="few")
    alice, bob = User.objects.create(username="alice"), User.objects.create(username="bob")
    alice.groups.add(few)
    with django_assert_num_queries(0):
        catalog.catalog_for_user(Catalog([LOCAL], LOCAL.id), alice)
    rows.get(pk=GEMMA).groups.add(few)
    assert catalog.catalog_for_user(now(), alice).get(GEMMA)
    with pytest.raises(UnknownModel):
        catalog.catalog_for_user(now(), bob).get(GEMMA)


@pytest.mark.parametrize("together", [False, True])
def test_a_model_whose_last_group_goes_is_hidden_not_everybodys(together: bool) -> None:
    few, others = Group.objects.create(name="few"), Group.objects.create(name="others")
    rows.get(pk=GEMMA).groups.add(few, others)
    before = CatalogState.objects.status().version
    if together:
        Group.objects.filter(name__in=("few", "others")).delete()
    else:
        few.delete()
        assert rows.get(pk=GEMMA).enabled
        others.delete()
    assert not rows.get(pk=GEMMA).enabled
    assert CatalogState.objects.status().version > before


def test_a_model_is_gone_from_its_day_on() -> None:
    today = datetime.now(UTC).date()
    assert declare(GEMMA, retires=today + timedelta(days=1)).get(GEMMA).retires
    offered = declare(GEMMA, retires=today)
    assert offered.retired(GEMMA)
    assert offered.resolve(GEMMA).id == DEFAULT_MODEL


def test_one_that_cloudflare_does_not_list_any_more_is_gone() -> None:
    assert change(GEMMA, delisted_at=datetime.now(UTC)).retired(GEMMA)


def test_a_finetune_that_is_gone_is_replaced_by_its_base() -> None:
    key = f"{GEMMA}+1"
    declare(key, base=GEMMA, finetune="1")
    assert change(key, delisted_at=datetime.now(UTC)).resolve(key).id == GEMMA


def test_a_models_own_limits_win_over_the_declared_ones() -> None:
    declare(GEMMA, window=90_000, retires=date(2030, 1, 1))
    before = CatalogState.objects.status().version
    catalog.record_rejection(GEMMA, from_payload(error(3030)[1]), confirmed=True)
    assert now().get(GEMMA).window == 60_000
    assert CatalogState.objects.status().version == before + 1
    catalog.record_rejection(GEMMA, from_payload(error(3030)[1]), confirmed=True)  # nothing new
    assert CatalogState.objects.status().version == before + 1
    yesterday = datetime.now(UTC) - timedelta(days=1, minutes=1)
    assert change(GEMMA, limits_observed=yesterday).get(GEMMA).window == 90_000


def test_a_limit_of_its_output_is_learnt_too() -> None:
    words = "max_completion_tokens is too large: 9. This model supports at most 8192 completion tokens."
    catalog.record_rejection(GEMMA, from_payload({"error": {"message": words}}), confirmed=True)
    assert now().get(GEMMA).max_output == 8_192


def test_one_refusal_ends_no_model_and_three_end_it_for_a_day() -> None:
    ended = from_payload(error(5028)[1])
    assert catalog.is_informative(ended)
    for _ in range(2):
        catalog.record_rejection(GEMMA, ended, confirmed=True)
        assert now().get(GEMMA)
    catalog.record_rejection(GEMMA, ended, confirmed=True)
    assert now().retired(GEMMA)
    yesterday = datetime.now(UTC) - timedelta(days=1, minutes=1)
    assert change(GEMMA, last_rejected=yesterday).get(GEMMA)
    catalog.record_rejection(GEMMA, ended, confirmed=True)  # what was said yesterday does not count
    assert now().get(GEMMA)


@pytest.mark.parametrize("code", [3040, 3036, 5035, 10000, 5007])
def test_other_refusals_teach_nothing(code: int) -> None:
    assert not catalog.is_informative(from_payload(error(code)[1]))


async def test_of_words_that_a_person_wrote_nothing_is_learnt(monkeypatch: pytest.MonkeyPatch) -> None:
    async def nothing() -> None:
        pass

    learnt: list[str] = []

    def record(_function: Any, model: str, _error: Any, _confirmed: bool) -> Any:
        learnt.append(model)
        return nothing()

    monkeypatch.setattr(watcher, "run_in_db", record)
    made = watcher.CatalogWatcher(list, catalog.current, Client(None, None), lambda: None)
    ended, quoted = from_payload(error(5028)[1]), from_payload(error(5028)[1])
    quoted.quotes_request = True
    for model, problem in (
        (LOCAL, ended),
        (bundled()[1], quoted),
        (bundled()[1], None),
        (bundled()[0], ended),
    ):
        made.learn(model, problem)
    await made._tasks.wait(60)
    assert learnt == [bundled()[0].id]


def test_one_of_several_people_changes_no_model_for_all() -> None:
    User.objects.create_user("alice")
    declare(GEMMA, window=90_000)
    catalog.record_rejection(GEMMA, from_payload(error(3030)[1]), confirmed=False)
    assert now().get(GEMMA).window == 60_000  # nobody else is there
    SiteModel.objects.filter(pk=GEMMA).update(observed_context_window=None, limits_observed=None)
    User.objects.create_user("bob")
    for code in (3030, 5028, 5028, 5028):
        catalog.record_rejection(GEMMA, from_payload(error(code)[1]), confirmed=False)
    assert now().get(GEMMA).window == 90_000


def test_a_second_person_or_the_site_confirms_a_refusal() -> None:
    made = watcher.CatalogWatcher(list, catalog.current, Client(None, None), lambda: None)
    met = [("alice", 3030), ("alice", 3030), ("bob", 5028), ("bob", 3030), ("bob", 5028), ("", 5021)]
    confirmed = []
    for person, code in met:
        refusal = from_payload(error(code)[1])
        refusal.person = person
        confirmed.append(made._is_confirmed(bundled()[0], refusal))
    assert confirmed == [False, False, False, True, False, True]


def test_the_administration_chooses_the_doors() -> None:
    catalog.register_models([LOCAL])
    kinds = [door.kind for door in now().doors]
    assert kinds == ["everyday", "careful", "pictures", "code"]
    gone = SiteDoor(kind="code", model="@cf/gone/model")
    own = SiteDoor(name="Letters", about="For letters.", model=GEMMA)
    SiteDoor.objects.replace_all([own, SiteDoor(kind="pictures", name="Photos"), gone])
    found = now().doors
    assert [(door.kind, door.name) for door in found] == [
        ("", "Letters"),
        ("pictures", "Photos"),
        ("code", ""),
    ]
    assert found[0] == Door("", GEMMA, "Letters", "For letters.")
    assert found[2].model == "@cf/qwen/qwen2.5-coder-32b-instruct"  # in place of the one that is gone
    few = Group.objects.create(name="few")
    rows.get(pk=found[2].model).groups.add(few)
    assert found[2].model not in [door.model for door in now().doors]  # none is suited that is for a group
