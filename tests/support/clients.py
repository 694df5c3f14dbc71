"""Django's test client for somebody."""

from django.test import Client

from chat.models import User


def as_(user: User) -> Client:
    """Return a client that is signed in as `user`."""
    client = Client()
    client.force_login(user)
    return client
