"""The models of this site, for API keys that may list them."""

from django.http import HttpRequest
from django.utils.translation import gettext as _

from chat.engine.engine import Engine
from chat.model_catalog.catalog import catalog_for_user
from chat.upstream.catalogue import Catalogue, LlmModel

from .auth import authenticate
from .errors import PermissionDenied
from .model_names import resolve_model


def listed(here: Engine, request: HttpRequest) -> list[LlmModel]:
    """Return the models that the key's user may use. Raises InvalidApiKey and PermissionDenied."""
    return list(_offered(here, request))


def found(here: Engine, request: HttpRequest, name: str | None) -> LlmModel:
    """Return the model that `name` resolves to.

    Raises BadRequest, UnknownModel, InvalidApiKey and PermissionDenied.
    """
    return resolve_model(_offered(here, request), name)


def _offered(here: Engine, request: HttpRequest) -> Catalogue:
    key = authenticate(request)
    if not key.may_list:
        raise PermissionDenied(_("This key may not list models."))
    return catalog_for_user(here.catalogue, key.user)
