"""The preferences of a request: from the user's row, or from cookies if there is none.

The server renders them, so a page never appears in the wrong colors first. The cookies repeat the row, so
that the login page already has the person's appearance and language.
"""

from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils import translation

from chat.accounts.timezones import CHOSEN_COOKIE, chosen_zone, timezone_of
from chat.models.preferences import PREFERENCE_CHOICES, Preferences

from ..requests.responses import set_cookie

PREFERENCE_COOKIE_SECONDS = 365 * 24 * 60 * 60
# The cookie of each preference that is kept in one.
COOKIES = {name: name for name in PREFERENCE_CHOICES} | {
    "language": settings.LANGUAGE_COOKIE_NAME,
    "time_zone": CHOSEN_COOKIE,
}


def read(request: HttpRequest) -> dict[str, str]:
    """Return the value of each preference that has a cookie; an unknown value counts as missing."""
    row = getattr(request, "preferences", None)
    sent = {name: request.COOKIES.get(cookie, "") for name, cookie in COOKIES.items()}
    values = {name: getattr(row, name) for name in COOKIES} if row else sent
    return {name: _known(name, value) for name, value in values.items()} | {"time_zone": chosen_zone(request)}


def _known(name: str, value: str) -> str:
    if name == "language":
        return value if value in dict(settings.LANGUAGES) else ""
    allowed = PREFERENCE_CHOICES.get(name)
    return value if allowed is None or value in allowed else allowed[0]


def context(request: HttpRequest) -> dict[str, Any]:
    """Context processor: make the preferences available to every template.

    `zone`: the one that the page's script told, or UTC; None if the person chose one.
    """
    values = read(request)
    zone = None if values["time_zone"] else str(timezone_of(request))
    return {"preferences": values, "zone": zone}


def activate(request: HttpRequest, user: Any) -> None:
    """Apply the preferences of the user to the rest of the request. The row takes precedence over cookies."""
    request.preferences = row = Preferences.of(user)  # type: ignore[attr-defined]
    if row is None:
        return
    language = _known("language", row.language)
    if not language and COOKIES["language"] in request.COOKIES:
        language = _language_of_browser(request)
    if language and language != translation.get_language():
        translation.activate(language)


def _language_of_browser(request: HttpRequest) -> str:
    """Return the language in the browser's Accept-Language header, ignoring the cookie."""
    without_cookies = HttpRequest()
    without_cookies.META = request.META
    return translation.get_language_from_request(without_cookies)


def synchronise(request: HttpRequest, response: HttpResponseBase) -> None:
    """Set the cookies that differ from the row of the request's user."""
    if getattr(request, "preferences", None) is None:
        return
    defaults = {name: allowed[0] for name, allowed in PREFERENCE_CHOICES.items()}
    for name, value in read(request).items():
        cookie, default = COOKIES[name], defaults.get(name, "")
        if request.COOKIES.get(cookie, default) == value:
            continue
        if not value:
            response.delete_cookie(cookie)
            continue
        set_cookie(response, cookie, value, PREFERENCE_COOKIE_SECONDS)
