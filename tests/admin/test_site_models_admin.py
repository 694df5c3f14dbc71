"""Deciding about models: shown or hidden, their order and names, who may use them, and the default."""

from typing import Any
from urllib.parse import unquote

import pytest
from django.contrib.auth.models import Group, Permission
from django.test import Client

from chat.catalog import catalog
from chat.models import CatalogState, SiteModel, User
from chat.upstream.catalog import Catalog
from tests.support.clients import as_

pytestmark = [pytest.mark.django_db, pytest.mark.database]
LIST, DOORS = "/admin/chat/sitemodel/", "/admin/chat/sitemodel/doors/"
GLM, GEMMA = "@cf/zai-org/glm-4.7-flash", "@cf/google/gemma-4-26b-a4b-it"
GEMMAS_PAGE = f"{LIST}_40cf_2Fgoogle_2Fgemma-4-26b-a4b-it/change/"
GLMS_PAGE = f"{LIST}_40cf_2Fzai-org_2Fglm-4.7-flash/change/"
rows = SiteModel.objects


@pytest.fixture(autouse=True)
def account(settings: Any) -> None:
    settings.CLOUDFLARE_ACCOUNT_ID = "acc"
    settings.DEFAULT_MODEL = ""
    catalog.register_models([])


def staff(name: str, *rights: str) -> Client:
    user = User.objects.create_user(name, is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename__in=rights))
    return as_(user)


@pytest.fixture
def keeper() -> Client:
    """Staff whose only right is to decide about models."""
    return staff("keeper", "change_sitemodel", "view_sitemodel")


def now() -> Catalog:
    return catalog.load_catalog([])


def version() -> int:
    return CatalogState.objects.status().version


def act(client: Client, action: str, *keys: str, within: str = LIST) -> str:
    sent = {"action": action, "_selected_action": keys}
    return client.post(within, sent, follow=True).content.decode()


def change(client: Client, page: str, **fields: Any) -> str:
    given = {"display_name": "", "enabled": "on", "groups": []} | fields
    return client.post(
        page, {key: value for key, value in given.items() if value is not None}
    ).content.decode()


def test_the_list_says_what_each_can_do_and_costs(keeper: Client) -> None:
    page = keeper.get(LIST).content.decode()
    for words in ("Gemma 4 26B A4B", GEMMA, "131,072", "0.10 / 0.30", "reasoning, tools", "everyone"):
        assert words in page
    assert "reasoning, tools, vision" in page
    assert "Workers Paid only" in page
    assert "hasn’t been fetched yet" in page


def defaults(client: Client) -> list[str]:
    """The models whose row says that they are the default."""
    shown = client.get(LIST).content.decode().split("<tr>")
    return [key for key in (GLM, GEMMA) for row in shown if key in row and 'is_default_">yes' in row]


def test_the_list_shows_the_default_that_nobody_chose(keeper: Client) -> None:
    assert defaults(keeper) == [GLM]
    act(keeper, "make_default", GEMMA)
    assert defaults(keeper) == [GEMMA]


def test_hidden_ones_are_offered_to_nobody_and_shown_ones_again(keeper: Client) -> None:
    before = version()
    assert "1 model was changed." in act(keeper, "hide", GEMMA)
    assert GEMMA not in [model.id for model in now()]
    assert version() > before
    act(keeper, "show", GEMMA)
    assert now().get(GEMMA)


def test_the_default_is_made_here_and_cannot_be_hidden(keeper: Client) -> None:
    act(keeper, "make_default", GEMMA)
    assert now().default.id == GEMMA
    assert "Make another one the default first" in act(keeper, "hide", GEMMA, GLM)
    assert rows.filter(enabled=False).count() == 0
    assert "Make another one the default first" in change(keeper, GEMMAS_PAGE, enabled=None)
    assert rows.get(pk=GEMMA).enabled


def test_the_default_of_the_settings_cannot_be_hidden_either(keeper: Client) -> None:
    assert "Make another one the default first" in act(keeper, "hide", GLM)
    assert "Make another one the default first" in change(keeper, GLMS_PAGE, enabled=None)
    assert rows.get(pk=GLM).enabled


def test_the_default_is_for_everybody(keeper: Client) -> None:
    few = Group.objects.create(name="few")
    assert "must be available to everyone" in change(keeper, GLMS_PAGE, groups=[few.pk])
    rows.get(pk=GEMMA).groups.add(few)
    assert "must be available to everyone" in act(keeper, "make_default", GEMMA)
    assert now().default.id == GLM


@pytest.mark.parametrize("columns", [{"enabled": False}, {"delisted_at": "2026-11-01T00:00:00Z"}])
def test_a_model_that_is_not_offered_is_no_default(keeper: Client, columns: dict[str, Any]) -> None:
    rows.filter(pk=GEMMA).update(**columns)
    where = f"{LIST}?ended=yes" if "delisted_at" in columns else LIST
    assert "Only a model that is shown" in act(keeper, "make_default", GEMMA, within=where)
    rows.update(delisted_at=None)
    assert "Choose one model." in act(keeper, "make_default", GEMMA, GLM)
    assert not rows.filter(is_default=True).exists()


def test_a_name_and_groups_are_given_on_its_page(keeper: Client) -> None:
    few, before = Group.objects.create(name="few"), version()
    assert change(keeper, GEMMAS_PAGE, display_name="For us", groups=[few.pk]) == ""
    model = now().for_groups(lambda: {few.pk}).get(GEMMA)
    assert model.name == "For us"
    assert GEMMA not in [each.id for each in now().for_groups(set)]
    assert version() > before
    assert "<bdi>For us</bdi>" in keeper.get(GEMMAS_PAGE).content.decode()


def order() -> list[str]:
    return [model.id for model in now()]


def test_the_order_is_changed_by_buttons(keeper: Client) -> None:
    first, second, third = order()[:3]
    page = keeper.get(LIST).content.decode()
    assert 'aria-label="Move GLM 4.7 Flash down"' in page
    assert 'type="number"' not in page
    before = version()
    moved = keeper.post(LIST, {"up": second})
    assert (moved.status_code, unquote(moved["Location"])) == (303, f"{LIST}#up-{second}")
    assert f'id="up-{second}"' in keeper.get(LIST).content.decode()  # the next Tab begins there
    assert order()[:3] == [second, first, third]
    assert version() > before
    keeper.post(LIST, {"down": second})
    assert order()[:3] == [first, second, third]
    for sent in ({"up": first}, {"down": "nothing"}, {"down": order()[-1]}):
        keeper.post(LIST, sent)
    assert order()[:3] == [first, second, third]


def test_the_order_is_that_of_the_shown_list(keeper: Client) -> None:
    rows.update(position=5)  # none has a place of its own
    ids = sorted(order())
    assert order() == ids
    rows.filter(pk=ids[1]).update(enabled=False)
    keeper.post(f"{LIST}?enabled__exact=1", {"up": ids[2]})
    assert order()[:2] == [ids[2], ids[0]]


KINDS = ("everyday", "careful", "pictures", "code")


def door(number: int, **fields: str) -> dict[str, str]:
    return {f"form-{number}-{name}": value for name, value in {"shown": "on", **fields}.items() if value}


def sent(*doors: dict[str, str], **more: str) -> dict[str, str]:
    fields = {"form-TOTAL_FORMS": str(len(doors)), "form-INITIAL_FORMS": "0"} | more
    for each in doors:
        fields |= each
    return fields


def save(client: Client, *doors: dict[str, str]) -> str:
    return client.post(DOORS, sent(*doors), follow=True).content.decode()


def found() -> list[tuple[str, str, str]]:
    return [(each.kind, each.name, each.model) for each in now().doors]


def test_the_page_of_the_doors_shows_what_is_chosen_by_itself(keeper: Client) -> None:
    page = keeper.get(DOORS).content.decode()
    for words in (
        'placeholder="Everyday"',
        'placeholder="Name"',
        "Untick a door to hide it.",
        "Automatic (GPT OSS 120B)",
        "Automatic (Gemma 4 26B A4B)",
        'aria-label="Model of Pictures"',
        'aria-label="Move Careful up"',
    ):
        assert words in page
    assert page.count('type="checkbox"') == 6
    assert 'aria-label="Move Code down"' not in page  # below it are empty rows only
    assert DOORS in keeper.get(LIST).content.decode()


def test_doors_are_named_mapped_and_added(keeper: Client) -> None:
    before = version()
    kinds = [door(n, kind=kind) for n, kind in enumerate(KINDS)]
    own = door(4, name="Letters", about="For letters.", model=GLM)
    page = save(keeper, kinds[0], door(1, kind="careful", name="Slow", model=GEMMA), *kinds[2:], own, door(5))
    assert "The doors were saved." in page
    assert found()[1] == ("careful", "Slow", GEMMA)
    assert found()[4] == ("", "Letters", GLM)
    assert version() > before
    assert 'value="Letters"' in keeper.get(DOORS).content.decode()


def test_a_button_moves_a_door_and_an_unticked_one_goes(keeper: Client) -> None:
    kinds = [door(n, kind=kind) for n, kind in enumerate(KINDS)]
    kinds[1] = door(1, kind="careful", shown="")
    moved = keeper.post(DOORS, sent(*kinds, up="3"))
    assert (moved.status_code, moved["Location"]) == (303, f"{DOORS}#door-1")
    assert 'id="door-1"' in keeper.get(DOORS).content.decode()  # the next Tab begins there
    assert [kind for kind, *_ in found()] == ["everyday", "code", "pictures"]
    assert 'value="careful"' in keeper.get(DOORS).content.decode()  # to be shown again


@pytest.mark.parametrize(
    ("doors", "words"),
    [
        ([door(0, kind="everyday"), door(1, kind="code", shown="")], "Show at least 2 doors"),
        ([door(n, name=f"Door {n}", model=GLM) for n in range(7)], "at most 6"),
        ([door(n, kind="code") for n in range(2)], "of the same kind"),
        ([door(0, name="Letters")], "needs a name and a model"),
        ([door(0, kind="pictures", model=GLM)], "Select a valid choice"),  # it cannot see
        ([door(0, kind="everyday", model="@cf/of/nobody")], "Select a valid choice"),
        ([door(0, kind="everyday", name="x" * 31)], "at most 30"),
        ([door(0, kind="no such kind")], "Select a valid choice"),
    ],
)
def test_wrong_doors_are_refused_in_words(keeper: Client, doors: list[dict[str, str]], words: str) -> None:
    before = found()
    assert words in save(keeper, *doors)
    assert found() == before


def test_cloudflares_facts_are_read_only(keeper: Client) -> None:
    before = (
        rows.filter(pk=GEMMA)
        .values("id", "source", "metadata", "observed_context_window", "delisted_at", "is_default")
        .get()
    )
    change(
        keeper,
        GEMMAS_PAGE,
        id="@cf/a/b",
        metadata="{}",
        observed_context_window="9",
        is_default="on",
        delisted_at="x",
    )
    assert rows.filter(pk=GEMMA).values(*before).get() == before


def test_retired_models_are_listed_apart(keeper: Client) -> None:
    rows.filter(pk=GEMMA).update(delisted_at="2026-11-01T00:00:00Z")
    assert GEMMA not in keeper.get(LIST).content.decode()
    page = keeper.get(f"{LIST}?ended=yes").content.decode()
    assert "gone since 1 Nov 2026" in page
    assert GLM not in page


def test_when_the_list_was_fetched_or_why_not_is_said(keeper: Client) -> None:
    CatalogState.objects.update(error="Authentication error <b>")
    assert "couldn’t be fetched (Authentication error &lt;b&gt;)" in keeper.get(LIST).content.decode()
    CatalogState.objects.update(fetched="2026-11-01T10:00:00Z")
    told = "last updated on 1 Nov 2026, 10:00 UTC. The latest attempt failed"
    assert told in keeper.get(LIST).content.decode()


def test_an_own_name_is_text_and_nothing_else(keeper: Client) -> None:
    rows.filter(pk=GEMMA).update(display_name="<script>alert(1)</script>")
    for page in (LIST, GEMMAS_PAGE):
        assert "<script>alert(1)" not in keeper.get(page).content.decode()


def test_the_right_to_view_changes_nothing() -> None:
    looker = staff("looker", "view_sitemodel")
    assert "Gemma 4 26B A4B" in looker.get(LIST).content.decode()
    assert looker.get(GEMMAS_PAGE).status_code == 200
    before = list(rows.values())
    for action in ("hide", "show", "make_default"):
        act(looker, action, GEMMA)
    assert looker.post(GEMMAS_PAGE, {"display_name": "x"}).status_code == 403
    assert looker.post(LIST, {"up": GEMMA}).status_code == 403
    assert looker.get(DOORS).status_code == looker.post(DOORS, {}).status_code == 403
    page = looker.get(LIST).content.decode()
    assert DOORS not in page
    assert "Move " not in page
    assert list(rows.values()) == before


def test_without_the_right_there_is_nothing() -> None:
    nobody = staff("nobody")
    before = list(rows.values())
    for page in (
        LIST,
        DOORS,
        GEMMAS_PAGE,
        GEMMAS_PAGE.replace("change", "history"),
        f"{LIST}nothing/history/",
    ):
        assert nobody.get(page).status_code == nobody.post(page, {"enabled": ""}).status_code == 403
    assert list(rows.values()) == before
    assert LIST not in nobody.get("/admin/").content.decode()


def test_nobody_adds_or_deletes_one(administrator: Client) -> None:
    for page in (f"{LIST}add/", GEMMAS_PAGE.replace("change", "delete")):
        assert (
            administrator.get(page).status_code
            == administrator.post(page, {"post": "yes"}).status_code
            == 403
        )
    act(administrator, "delete_selected", GEMMA)
    assert rows.filter(pk=GEMMA).exists()


def test_the_former_address_leads_to_the_same_page(keeper: Client) -> None:
    former = GEMMAS_PAGE.replace("sitemodel", "offeredmodel")
    assert keeper.get(f"{former}?ended=yes")["Location"] == f"{GEMMAS_PAGE}?ended=yes"
    assert keeper.post(former).status_code == 308  # the form is sent again as it is
    assert keeper.get(former, follow=True).status_code == 200
    assert keeper.get("/admin/chat/offeredmodel/a%3Fb%23c/")["Location"] == f"{LIST}a%3Fb%23c/"
