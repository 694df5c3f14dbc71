"""The right to let a key set AI Gateway options: only administrators have it."""

from typing import Any

import pytest
from django.contrib.auth.models import Permission

from chat.models import ApiKey, User
from tests.admin.people import ORDER_LINK
from tests.support.clients import as_
from tests.support.people import PASSWORD

pytestmark = pytest.mark.django_db
PAGE = "/admin/chat/apikey/"


@pytest.mark.parametrize("action", ["allow_gateway", "forbid_gateway"])
@pytest.mark.parametrize("superuser", [True, False])
def test_only_an_administrator_changes_it(action: str, superuser: bool) -> None:
    dora = User.objects.create_user("dora", password=PASSWORD, is_staff=True, is_superuser=superuser)
    dora.user_permissions.add(*Permission.objects.filter(codename__in=["view_apikey", "change_apikey"]))
    before = action == "forbid_gateway"
    key = ApiKey(user=dora, name="a program", may_set_gateway=before)
    key.generate_secret()
    key.save()
    sent: dict[str, Any] = {"action": action, "_selected_action": str(key.pk), "confirmed": "1"}
    sent |= ORDER_LINK
    as_(dora).post(PAGE, sent)
    key.refresh_from_db()
    assert (key.may_set_gateway is not before) is superuser
