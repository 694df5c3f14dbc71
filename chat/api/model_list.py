"""The models of this site, for whoever has a key that may list them."""

from django.http import HttpRequest
from django.utils.translation import gettext as _

from chat.engine.engine import Engine
from chat.model_catalog.catalog import theirs
from chat.upstream.catalogue import Catalogue, Model

from .auth import key_of
from .errors import NotAllowed
from .model_names import answering


def listed(here: Engine, request: HttpRequest) -> list[Model]:
    """Raises BadKey and NotAllowed."""
    return list(_offered(here, request))


def found(here: Engine, request: HttpRequest, name: str | None) -> Model:
    """The model that a call of that name gets. Raises Malformed, UnknownModel, and what `listed` does."""
    return answering(_offered(here, request), name)


def _offered(here: Engine, request: HttpRequest) -> Catalogue:
    key = key_of(request)
    if not key.may_list:
        raise NotAllowed(_("This key may not list models."))
    return theirs(here.catalogue, key.user)
