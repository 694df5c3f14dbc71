"""Whose key a call bears. No cookie counts here, so no other site can make a browser call."""

from django.http import HttpRequest
from django.utils.translation import gettext as _

from chat.models import ApiKey

from .errors import InvalidApiKey

SCHEME = "bearer "


def authenticate(request: HttpRequest) -> ApiKey:
    """Raises InvalidApiKey, the same for a wrong, a revoked, an expired key and a disabled person's."""
    given = request.headers.get("Authorization", "")
    key = None
    if given[: len(SCHEME)].lower() == SCHEME:
        key = ApiKey.objects.by_secret(given[len(SCHEME) :].strip())
    if key is None:
        raise InvalidApiKey(_("This API key is not valid. Make one on this site’s page of API keys."))
    return key
