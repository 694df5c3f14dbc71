"""The models of this site, for whoever has a key that may list them."""

from django.http import HttpRequest
from django.utils.translation import gettext as _

from chat.engine.engine import Engine
from chat.engine.offering import theirs
from chat.upstream.catalogue import Model

from .bearer import key_of
from .naming import LONGEST_QUOTED
from .problems import NotAllowed, UnknownModel


def listed(here: Engine, request: HttpRequest) -> list[Model]:
    """Raises BadKey and NotAllowed."""
    key = key_of(request)
    if not key.may_list:
        raise NotAllowed(_("This key may not list models."))
    return list(theirs(here.catalogue, key.user))


def found(here: Engine, request: HttpRequest, name: str) -> Model:
    """The one of that name. Raises UnknownModel, and what `listed` does."""
    for model in listed(here, request):
        if model.id == name:
            return model
    raise UnknownModel(_("There is no model “%(name)s” here.") % {"name": name[:LONGEST_QUOTED]})
