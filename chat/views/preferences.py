"""What a person chose for this browser: in cookies, so the server renders it and nothing flashes."""

from collections.abc import Mapping

from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase

# The allowed values of each; the first is the default. A cookie bears the name of its choice.
CHOICES = {
    "theme": ("system", "light", "dark"),
    "announce": ("finished", "blocks", "off"),
    "enter": ("sends", "line"),
}
KEPT = 365 * 24 * 60 * 60  # seconds


def read(request: HttpRequest) -> dict[str, str]:
    """Each choice with its value; a cookie that nobody of ours wrote counts as none."""
    return {name: _known(name, request.COOKIES.get(name)) for name in CHOICES}


def _known(name: str, value: str | None) -> str:
    allowed = CHOICES[name]
    return value if value in allowed else allowed[0]


def context(request: HttpRequest) -> dict[str, dict[str, str]]:
    """A context processor: every page is drawn as the person likes it."""
    return {"preferences": read(request)}


def keep(response: HttpResponseBase, chosen: Mapping[str, str]) -> None:
    """Only the server reads these, so no script gets them."""
    for name, value in chosen.items():
        response.set_cookie(
            name, value, max_age=KEPT, secure=settings.SESSION_COOKIE_SECURE, httponly=True, samesite="Lax"
        )
