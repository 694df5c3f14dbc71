"""The models of this site, for API keys that may list them."""

from django.http import HttpRequest
from django.utils.translation import gettext as _

from chat.catalog.catalog import catalog_for_user
from chat.engine.engine import Engine
from chat.upstream.catalog import Catalog, LlmModel

from .auth import authenticate
from .errors import PermissionDenied
from .model_names import resolve_model


def list_models(engine: Engine, request: HttpRequest) -> list[LlmModel]:
    """Return the models that the key's user may use. Raises InvalidApiKey and PermissionDenied."""
    return list(_offered(engine, request))


def get_model(engine: Engine, request: HttpRequest, name: str | None) -> LlmModel:
    """Return the model that `name` resolves to.

    Raises BadRequest, ModelNotFound, InvalidApiKey and PermissionDenied.
    """
    return resolve_model(_offered(engine, request), name)


def _offered(engine: Engine, request: HttpRequest) -> Catalog:
    key = authenticate(request)
    if not key.may_list:
        raise PermissionDenied(_("This API key isn’t allowed to list models."))
    return catalog_for_user(engine.catalog, key.user)
