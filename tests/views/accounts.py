"""Requests that sign in or change one's own password."""

from typing import Any

from django.contrib.auth.hashers import PBKDF2PasswordHasher
from django.test import Client

from tests.support.people import PASSWORD

LOGIN = "/accounts/login/"
PASSWORD_CHANGE = "/accounts/password/"
NEW_PASSWORD = "a lighthouse by the sea"
PASSWORD_FORM = {"current": PASSWORD, "new_password1": NEW_PASSWORD}
OLDER_HASH = PBKDF2PasswordHasher().encode(PASSWORD, "salt", 1)  # as another version stored it


def log_in(client: Client, login: str = "alice", password: str = PASSWORD, **more: Any) -> Any:
    headers = {"x-forwarded-for": more.pop("forwarded")} if "forwarded" in more else {}
    address = {"REMOTE_ADDR": more.pop("address")} if "address" in more else {}
    return client.post(LOGIN, {"login": login, "password": password, **more}, headers=headers, **address)
