"""The admin's pages about people."""

from chat.models import User
from tests.support.people import PASSWORD
from tests.views.accounts import NEW_PASSWORD

# What the pages for a new password of somebody else take, from an administrator whose own is PASSWORD.
ORDER_LINK = {"current": PASSWORD}
SET_PASSWORD = {"password1": NEW_PASSWORD, "password2": NEW_PASSWORD, "current": PASSWORD}


def address(user: User, page: str = "change") -> str:
    return f"/admin/chat/user/{user.pk}/{page}/"
