"""Signed-in clients, and the admin's pages about people."""

from django.test import Client

from chat.models import User


def as_(user: User) -> Client:
    """Return a client that is signed in as `user`."""
    client = Client()
    client.force_login(user)
    return client


def address(user: User, page: str = "change") -> str:
    return f"/admin/chat/user/{user.pk}/{page}/"
