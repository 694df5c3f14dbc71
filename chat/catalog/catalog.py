"""Building the catalog from the database, what failed requests reveal about models, and their costs."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Protocol

from django.conf import settings
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext

from chat.db.executor import write_lock
from chat.models import CatalogState, SiteDoor, SiteModel, User
from chat.models.message import BY_HAND
from chat.models.site_model import DEFAULT_POSITION, POSITION_STEP
from chat.upstream import doors
from chat.upstream.catalog import (
    DEFAULT_MODEL,
    Catalog,
    Door,
    LlmModel,
    RetiredModel,
    UnknownModel,
    bundled,
    from_record,
    retired,
    to_record,
)
from chat.upstream.error_bodies import ModelLimits, parse_limits
from chat.upstream.errors import ErrorKind, UpstreamError

from . import account

SITE_POSITION = 2 * DEFAULT_POSITION  # the position of the models of the site's settings
FRESH_LIST_AGE = timedelta(minutes=10)  # a list younger than this is not fetched ahead of schedule
DEPRECATED_CODE = "5028"  # Cloudflare's error code for a deprecated model
Source = SiteModel.Source
Lesson = tuple[str, ModelLimits]
LOCAL_ID_PREFIX = "local/"  # the ids of models that run on the site's own machine begin with it


def catalog_for_user(offered: Catalog, user: User) -> Catalog:
    """Return the catalog that this user may use; costs a query only if a model is restricted."""
    return offered.for_groups(lambda: user.groups.values_list("pk", flat=True))


def register_models(given: Sequence[LlmModel]) -> None:
    """Create the missing rows of the models that are known without a request to Cloudflare.

    These are the models of the site's settings (`given`) and, until Cloudflare's list has been fetched, the
    bundled ones. The rows of the former hold their description, so that the admin need not read the settings;
    models that left the settings are marked as gone.
    """
    rows = SiteModel.objects.in_bulk()
    site = {model.id: to_record(model) for model in given}
    settled = {
        row.pk: row.metadata for row in rows.values() if row.source == Source.SITE and not row.delisted_at
    }
    unlisted = account.current() and not CatalogState.objects.exclude(fetched=None).exists()
    missing = [row for row in (bundled_rows() if unlisted else ()) if row.pk not in rows]
    if not missing and settled == site and rows:
        return
    with write_lock(), transaction.atomic():
        CatalogState.objects.bump_version()
        SiteModel.objects.bulk_create(missing, ignore_conflicts=True)
        SiteModel.objects.filter(source=Source.SITE).exclude(pk__in=site).update(delisted_at=timezone.now())
        for key, declared in site.items():
            known = {"source": Source.SITE, "metadata": declared, "delisted_at": None}
            SiteModel.objects.update_or_create(
                pk=key, defaults=known, create_defaults=known | {"position": SITE_POSITION}
            )


def bundled_rows() -> list[SiteModel]:
    """Return unsaved rows of the bundled models, for the time before Cloudflare's list is fetched."""
    return [
        SiteModel(id=key, source=Source.BUNDLED, position=place) for key, place in default_positions().items()
    ]


def default_positions() -> dict[str, int]:
    """Return the positions of the bundled models by id: the recommended ones come first."""
    return {model.id: POSITION_STEP * place for place, model in enumerate(bundled(), 1)}


def load_catalog(given: Sequence[LlmModel]) -> Catalog:
    """Load the current catalog from the database, in three queries.

    `given`: the models of the site's settings. Cloudflare's are included if the site has an account.
    """
    rows = list(SiteModel.objects.all())
    groups: dict[str, frozenset[int]] = {}
    for key, group in SiteModel.groups.through.objects.values_list("sitemodel_id", "group_id"):
        groups[key] = groups.get(key, frozenset()) | {group}
    chosen = list(SiteDoor.objects.all())
    return _catalog(rows, groups, given, chosen)


def site_models() -> list[LlmModel]:
    """Return the models of the settings of the running processes, as stored by `register_models`."""
    rows = SiteModel.objects.filter(source=Source.SITE, delisted_at=None)
    return [from_record(row.metadata) for row in rows]


def _catalog(
    rows: Sequence[SiteModel],
    groups: dict[str, frozenset[int]],
    given: Sequence[LlmModel],
    chosen_doors: Sequence[SiteDoor] = (),
) -> Catalog:
    site = {model.id: model for model in given}
    models = {row.pk: model for row in rows if (model := model_of(row, site))}
    alive = {
        row.pk: models[row.pk] for row in rows if row.pk in models and not has_ended(row, models[row.pk])
    }
    offered = {row.pk: alive[row.pk] for row in rows if row.pk in alive and row.enabled}
    offered |= {key: model for key, model in site.items() if key not in models}  # the row does not exist yet
    replacements = {each.id: each.replacement for each in retired()}
    ended = [
        RetiredModel(key, model.name, model.base or replacements.get(key, ""))
        for key, model in models.items()
        if key not in alive
    ]
    chosen = [row.pk for row in rows if row.is_default]
    default = _default(chosen, offered, alive, groups)
    offered |= {default.id: default}
    return Catalog(
        offered.values(),
        default.id,
        groups={key: those for key, those in groups.items() if key in offered and key != default.id},
        # Even without an account: old conversations and API clients name these models, and get the default.
        retired=[*retired(), *ended],
        known=models.values(),
        doors=_doors(chosen_doors, offered, suited_models(offered, groups, default)),
    )


def suited_models(
    offered: Mapping[str, LlmModel], restricted: Collection[str], default: LlmModel
) -> Mapping[str, str]:
    """Return the id of the model for each kind of door, of those that are for everybody."""
    return doors.choose([model for key, model in offered.items() if key not in restricted], default)


def _doors(chosen: Sequence[SiteDoor], offered: Collection[str], suited: Mapping[str, str]) -> list[Door]:
    """Return the doors, each with its model: the chosen one if it is offered, else what suits its kind."""
    rows = chosen or [SiteDoor(kind=kind) for kind in doors.KINDS]
    models = [row.model if row.model in offered else suited.get(row.kind, "") for row in rows]
    return [
        Door(row.kind, model, row.name, row.about) for row, model in zip(rows, models, strict=True) if model
    ]


def model_of(row: SiteModel, site: dict[str, LlmModel]) -> LlmModel | None:
    """Return the model of a row with the administrator's overrides; None if this site cannot use it now."""
    if row.source == Source.SITE:
        model = site.get(row.pk)
    elif account.current() is None:
        model = None
    else:
        model = declared_model(row)
    return apply_overrides(row, model) if model else None


def apply_overrides(row: SiteModel, model: LlmModel) -> LlmModel:
    """Return the model with the administrator's name for it and the limits learned from its errors."""
    window, output = row.observed_limits
    return replace(
        model,
        name=row.display_name or model.name,
        window=window or model.window,
        max_output=output or model.max_output,
    )


def declared_model(row: SiteModel) -> LlmModel | None:
    """Return the model as Cloudflare declares it, else as bundled; None if neither knows it."""
    if row.metadata:
        return from_record(row.metadata)
    return _bundled_by_id().get(row.pk)


def has_ended(row: SiteModel, model: LlmModel) -> bool:
    """Return True if the model is no longer available, or has reached its retirement date."""
    return row.has_ended or (model.retires is not None and model.retires <= datetime.now(UTC).date())


def _default(
    chosen: Iterable[str],
    offered: dict[str, LlmModel],
    alive: dict[str, LlmModel],
    groups: dict[str, frozenset[int]],
) -> LlmModel:
    """Return the default model: the administrator's choice, else that of the settings, else the first.

    It is always a model without a restriction to groups.
    """
    unrestricted = {key: model for key, model in offered.items() if key not in groups}
    # If all shown models have ended, a hidden one is better than none.
    unrestricted = unrestricted or {key: model for key, model in alive.items() if key not in groups}
    if not unrestricted:
        return bundled()[0]
    preferred = [*chosen, settings.DEFAULT_MODEL, DEFAULT_MODEL]
    first = next(iter(unrestricted))
    choice = Catalog(unrestricted.values(), first, retired=retired())
    for name in filter(None, preferred):
        try:
            return choice.resolve(name)
        except UnknownModel:
            continue
    return choice.default


def record_rejection(key: str, error: UpstreamError, confirmed: bool) -> None:
    """Store the information in an error about the model itself: its limits, or that it is deprecated.

    `confirmed`: more than one person's requests say so. Else it is stored only where nobody else is.
    """
    if not confirmed and User.objects.filter(is_active=True).count() > 1:
        return
    limits = _limits(error)
    with write_lock(), transaction.atomic():
        if SiteModel.objects.note_limits(key, limits.window, limits.output):
            CatalogState.objects.bump_version()
        if error.code == DEPRECATED_CODE:
            SiteModel.objects.count_rejection(key)
            CatalogState.objects.bump_version()
            # Fetch Cloudflare's list ahead of schedule, to learn if the model has really ended.
            CatalogState.objects.expedite(timedelta(0), older=FRESH_LIST_AGE)


def is_informative(error: UpstreamError) -> bool:
    """Return True if `record_rejection` may have something to store, and so is worth its queries."""
    return error.code == DEPRECATED_CODE or _limits(error) != ModelLimits()


def lesson(error: UpstreamError) -> Lesson:
    """Return what an error says of the model, which is the same for all who meet it."""
    return error.code if error.code == DEPRECATED_CODE else "", _limits(error)


def _limits(error: UpstreamError) -> ModelLimits:
    is_about_request = error.kind in (ErrorKind.TOO_LONG, ErrorKind.INVALID)
    return parse_limits(error.detail) if is_about_request else ModelLimits()


def initial_catalog(given: Sequence[LlmModel]) -> Catalog:
    """Return the catalog of a process that has not read the database yet."""
    return _catalog(bundled_rows(), {}, given)


class CurrentCatalog:
    """The catalog in use. It may be replaced at any moment, so call `get` once per operation."""

    def __init__(self, offered: Catalog) -> None:
        self._offered = offered

    def get(self) -> Catalog:
        return self._offered

    def replace(self, offered: Catalog) -> None:
        self._offered = offered


current = CurrentCatalog(Catalog(bundled(), DEFAULT_MODEL, retired=retired()))
"""The catalog of this process, which the engine keeps up to date."""


def dollars(used: Iterable[tuple[str, int, int]]) -> float | None:
    """Return the cost of (model, tokens in, tokens out); None if the price of a model used is unknown.

    Local models cost nothing, also former ones.
    """
    total = 0.0
    for name, prompt_tokens, completion_tokens in used:
        if name.startswith(LOCAL_ID_PREFIX):
            continue
        model = _known(name)
        if model is None or model.price_in is None or model.price_out is None:
            if prompt_tokens or completion_tokens:
                return None
            continue
        total += (prompt_tokens * model.price_in + completion_tokens * model.price_out) / 1_000_000
    return total


class Used(Protocol):
    """The usage of a model, or of a tool: the calls of that cost `charged` dollars."""

    @property
    def model(self) -> str: ...
    @property
    def prompt_tokens(self) -> int: ...
    @property
    def completion_tokens(self) -> int: ...
    @property
    def charged(self) -> float: ...


def cost_of(used: Used) -> float | None:
    """Return the cost in dollars; None if the price of the model is unknown."""
    tokens = dollars([(used.model, used.prompt_tokens, used.completion_tokens)])
    return None if tokens is None else tokens + used.charged


def model_name(key: str) -> str:
    """Return the model's display name; the id of an unknown model."""
    model = _known(key)
    return model.name if model else writer_name(current.get(), key)


def writer_name(catalog: Catalog, key: str) -> str:
    """Return the name of what wrote a reply, as the catalog has it; of the owner's own versions, that."""
    return gettext("Edited by hand") if key == BY_HAND else catalog.name_of(key)


def _known(key: str) -> LlmModel | None:
    """Return the model from the catalog, else from this software's own list, else None."""
    return current.get().get_known(key) or _bundled_by_id().get(key)


@cache
def _bundled_by_id() -> dict[str, LlmModel]:
    return {model.id: model for model in bundled()}
