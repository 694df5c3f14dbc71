"""Preferences per browser, stored in cookies so that the server renders them and nothing flashes."""

from collections.abc import Mapping

from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase

# Allowed values of each preference, the default first. The cookie has the name of the preference.
CHOICES = {
    "theme": ("system", "light", "dark"),
    "announce": ("finished", "blocks", "off"),
    "enter": ("sends", "line"),
}
KEPT = 365 * 24 * 60 * 60  # seconds


def read(request: HttpRequest) -> dict[str, str]:
    """Return the value of each preference; a cookie with an unknown value counts as none."""
    return {name: _known(name, request.COOKIES.get(name)) for name in CHOICES}


def _known(name: str, value: str | None) -> str:
    allowed = CHOICES[name]
    return value if value in allowed else allowed[0]


def context(request: HttpRequest) -> dict[str, dict[str, str]]:
    """Context processor: make the preferences available to every template."""
    return {"preferences": read(request)}


def keep(response: HttpResponseBase, chosen: Mapping[str, str]) -> None:
    """Set the cookies, HttpOnly because only the server reads them."""
    for name, value in chosen.items():
        response.set_cookie(
            name, value, max_age=KEPT, secure=settings.SESSION_COOKIE_SECURE, httponly=True, samesite="Lax"
        )
