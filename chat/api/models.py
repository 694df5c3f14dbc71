"""Resolution of the names of models and LoRA adapters."""

import re
from dataclasses import replace

from django.http import HttpRequest
from django.utils.translation import gettext as _

from chat.catalog.catalog import catalog_for_user
from chat.engine.engine import Engine
from chat.upstream.catalog import Catalog, LlmModel, UnknownModel

from .auth import authenticate
from .errors import ModelNotFound, PermissionDenied
from .refusals import MAX_QUOTED_CHARS, InvalidField

PROVIDER_PREFIX = re.compile(r"^(?:workers-ai|cloudflare)/(?=@)")
# Public adapters of Cloudflare, for all accounts.
# https://developers.cloudflare.com/workers-ai/features/fine-tunes/public-loras/
PUBLIC_ADAPTER = re.compile(r"cf-public-[a-z0-9-]{1,80}")


def plain_name(name: object) -> object:
    """Return the name without the prefix by which AI Gateway's own address and LiteLLM name the provider."""
    return PROVIDER_PREFIX.sub("", name) if isinstance(name, str) else name


def resolve_model(offered: Catalog, name: object) -> LlmModel:
    """Return the model of that name, for a retired one its successor. Raises BadRequest and ModelNotFound."""
    if not isinstance(name, str) or not name:
        code = "missing_required_parameter" if name is None else "invalid_type"
        raise InvalidField(_("“%(name)s” must be a string.") % {"name": "model"}, "model", code)
    try:
        return offered.resolve(str(plain_name(name)))
    except UnknownModel as error:
        words = _("The model “%(name)s” isn’t available here.")
        raise ModelNotFound(words % {"name": name[:MAX_QUOTED_CHARS]}) from error


def with_adapter(offered: Catalog, model: LlmModel, lora: str) -> LlmModel:
    """Return the model with the LoRA adapter `lora`; without one the model itself.

    `lora` is the id or name of a finetune of the account, or the name of a public adapter. Raises BadRequest
    when the model has no such adapter.
    """
    if not lora:
        return model
    mine = [each for each in offered if each.base == model.address and each.finetune]
    for each in mine:
        if lora in (each.finetune, each.adapter_name):
            return each
    if model.lora and PUBLIC_ADAPTER.fullmatch(lora):
        return replace(model, base=model.id, finetune=lora)
    words = _("“lora”: the model “%(model)s” has no adapter “%(name)s” here.")
    raise InvalidField(words % {"model": model.id, "name": lora[:MAX_QUOTED_CHARS]}, "lora")


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
