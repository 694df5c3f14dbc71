"""Authentication by API key. Cookies do not count, so no other site can make a browser call the API."""

from django.http import HttpRequest
from django.utils.translation import gettext as _

from chat.models import ApiKey

from .errors import InvalidApiKey

SCHEME = "bearer "


def authenticate(request: HttpRequest) -> ApiKey:
    """Return the key in the Authorization header.

    Raises InvalidApiKey, the same for a wrong, a revoked, an expired key and the key of a disabled user.
    """
    given = request.headers.get("Authorization", "")
    key = None
    if given[: len(SCHEME)].lower() == SCHEME:
        key = ApiKey.objects.by_secret(given[len(SCHEME) :].strip())
    if key is None:
        raise InvalidApiKey(_("This API key is not valid. Make one on this site’s page of API keys."))
    return key
