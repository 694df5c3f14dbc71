"""Authentication by API key. Cookies do not count, so no other site can make a browser call the API."""

from django.http import HttpRequest
from django.utils.translation import gettext as _

from chat.db import requester
from chat.models import ApiKey

from .errors import InvalidApiKey

SCHEME = "bearer "


def authenticate(request: HttpRequest) -> ApiKey:
    """Return the key in the Authorization header.

    Raises InvalidApiKey, the same for a wrong, a revoked, an expired key and the key of a disabled user.
    """
    given = request.META.get("HTTP_AUTHORIZATION", "")
    secret = secret_of(given)
    key = ApiKey.objects.by_secret(secret) if secret else None
    if key is None:
        raise InvalidApiKey(_("This API key isn’t valid. Create one in Settings under API keys."))
    requester.remember(given, key.user_id)
    return key


def secret_of(authorization: str) -> str:
    """Return the secret in an Authorization header; "" if it has none."""
    return authorization[len(SCHEME) :].strip() if authorization[: len(SCHEME)].lower() == SCHEME else ""
