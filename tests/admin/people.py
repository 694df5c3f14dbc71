"""Signed-in clients, and the admin's pages about people."""

from django.test import Client

from chat.models import User
from tests.support.people import PASSWORD
from tests.views.accounts import NEW_PASSWORD

# What the pages for a new password of somebody else take, from an administrator whose own is PASSWORD.
ORDER_LINK = {"current": PASSWORD}
SET_PASSWORD = {"password1": NEW_PASSWORD, "password2": NEW_PASSWORD, "current": PASSWORD}


def as_(user: User) -> Client:
    """Return a client that is signed in as `user`."""
    client = Client()
    client.force_login(user)
    return client


def address(user: User, page: str = "change") -> str:
    return f"/admin/chat/user/{user.pk}/{page}/"
