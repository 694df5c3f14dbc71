"""From the rows of the models to the catalogue that a process offers, and what runs teach about them."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from chat.db import write_lock
from chat.models import ModelList, OfferedModel, User
from chat.models.offered_model import LAST
from chat.upstream import catalogue
from chat.upstream.catalogue import Catalogue, LlmModel, RetiredModel, UnknownModel, to_record
from chat.upstream.error_limits import parse_limits
from chat.upstream.errors import ErrorKind, UpstreamError

POSITION_STEP = 10  # between the places of two models, so that others can go between
SITE_POSITION = 2 * LAST  # the place of a model of the site's settings
FRESH_LIST_AGE = timedelta(minutes=10)  # a list as young as this is not fetched again before its time
DEPRECATED_CODE = "5028"  # the code with which Cloudflare says that a model was deprecated
Source = OfferedModel.Source


def catalog_for_user(offered: Catalogue, user: User) -> Catalogue:
    """What this person may use; it costs a query only where a model is for some alone."""
    return offered.for_groups(lambda: user.groups.values_list("pk", flat=True))


def register_models(given: Sequence[LlmModel]) -> None:
    """Give a row to each model that is offered without asking anybody, if it has none.

    Those of the settings are described in their rows, so that the administration need not know the settings.
    """
    rows = OfferedModel.objects.in_bulk()
    site = {model.id: to_record(model) for model in given}
    settled = {row.pk: row.declared for row in rows.values() if row.source == Source.SITE and not row.gone}
    unlisted = settings.CLOUDFLARE_ACCOUNT_ID and not ModelList.objects.exclude(fetched=None).exists()
    bundled = [row for row in (bundled_rows() if unlisted else ()) if row.pk not in rows]
    if not bundled and settled == site and rows:
        return
    with write_lock(), transaction.atomic():
        ModelList.objects.bump_version()
        OfferedModel.objects.bulk_create(bundled, ignore_conflicts=True)
        OfferedModel.objects.filter(source=Source.SITE).exclude(pk__in=site).update(gone=timezone.now())
        for key, declared in site.items():
            known = {"source": Source.SITE, "declared": declared, "gone": None}
            OfferedModel.objects.update_or_create(
                pk=key, defaults=known, create_defaults=known | {"position": SITE_POSITION}
            )


def bundled_rows() -> list[OfferedModel]:
    """Rows of the models that are known before Cloudflare's list is."""
    return [
        OfferedModel(id=key, source=Source.BUNDLED, position=place)
        for key, place in default_positions().items()
    ]


def default_positions() -> dict[str, int]:
    """Where the models stand that are known by themselves: the recommended ones first."""
    return {model.id: POSITION_STEP * place for place, model in enumerate(catalogue.bundled(), 1)}


def load_catalog(given: Sequence[LlmModel]) -> Catalogue:
    """The catalogue as the database has it now, in two queries.

    `given` are the models of the site's settings; Cloudflare's are there where it has an account.
    """
    rows = list(OfferedModel.objects.all())
    groups: dict[str, frozenset[int]] = {}
    for key, group in OfferedModel.groups.through.objects.values_list("offeredmodel_id", "group_id"):
        groups[key] = groups.get(key, frozenset()) | {group}
    return _catalogue(rows, groups, given)


def site_models() -> list[LlmModel]:
    """The models of the settings of the processes that run, as they described them."""
    rows = OfferedModel.objects.filter(source=Source.SITE, gone=None)
    return [catalogue.from_record(row.declared) for row in rows]


def _catalogue(
    rows: Sequence[OfferedModel], groups: dict[str, frozenset[int]], given: Sequence[LlmModel]
) -> Catalogue:
    site = {model.id: model for model in given}
    models = {row.pk: model for row in rows if (model := model_of(row, site))}
    alive = {
        row.pk: models[row.pk] for row in rows if row.pk in models and not has_ended(row, models[row.pk])
    }
    offered = {row.pk: alive[row.pk] for row in rows if row.pk in alive and row.shown}
    offered |= {key: model for key, model in site.items() if key not in models}  # a row that is still to come
    replacements = {each.id: each.replacement for each in catalogue.retired()}
    ended = [
        RetiredModel(key, model.name, model.base or replacements.get(key, ""))
        for key, model in models.items()
        if key not in alive
    ]
    chosen = [row.pk for row in rows if row.is_default]
    default = _default(chosen, offered, alive, groups)
    return Catalogue(
        (offered | {default.id: default}).values(),
        default.id,
        groups={key: those for key, those in groups.items() if key in offered and key != default.id},
        # Also where there is no account: old conversations and programs name them, and the default answers.
        retired=[*catalogue.retired(), *ended],
        known=models.values(),
    )


def model_of(row: OfferedModel, site: dict[str, LlmModel]) -> LlmModel | None:
    """The model of a row as it is offered; None where this site cannot ask it now."""
    if row.source == Source.SITE:
        model = site.get(row.pk)
    elif not settings.CLOUDFLARE_ACCOUNT_ID:
        model = None
    else:
        model = declared_model(row)
    return apply_overrides(row, model) if model else None


def apply_overrides(row: OfferedModel, model: LlmModel) -> LlmModel:
    """With the administrator's name for it, and the limits that it was seen to have."""
    return replace(
        model,
        name=row.own_name or model.name,
        window=row.learnt_window or model.window,
        max_output=row.learnt_output or model.max_output,
    )


def declared_model(row: OfferedModel) -> LlmModel | None:
    """What Cloudflare or, where it says nothing, this software knows of a model."""
    if row.declared:
        return catalogue.from_record(row.declared)
    return next((model for model in catalogue.bundled() if model.id == row.pk), None)


def has_ended(row: OfferedModel, model: LlmModel) -> bool:
    """Its day has come, or it is not there any more."""
    return row.has_ended or (model.retires is not None and model.retires <= datetime.now(UTC).date())


def _default(
    chosen: Iterable[str],
    offered: dict[str, LlmModel],
    alive: dict[str, LlmModel],
    groups: dict[str, frozenset[int]],
) -> LlmModel:
    """The administrator's, else that of the settings, else the first. It is everybody's, always."""
    everybodys = {key: model for key, model in offered.items() if key not in groups}
    # Where each that was shown has ended, one that was hidden is better than none.
    everybodys = everybodys or {key: model for key, model in alive.items() if key not in groups}
    if not everybodys:
        return catalogue.bundled()[0]
    wished = [*chosen, settings.DEFAULT_MODEL, catalogue.DEFAULT_MODEL]
    first = next(iter(everybodys))
    there = Catalogue(everybodys.values(), first, retired=catalogue.retired())
    for name in filter(None, wished):
        try:
            return there.resolve(name)
        except UnknownModel:
            continue
    return there.default


def record_rejection(key: str, error: UpstreamError) -> None:
    """Keep what a refusal says about the model itself: its limits, or that it has ended."""
    limits = parse_limits(error.detail)
    learnt = {"learnt_window": limits.window, "learnt_output": limits.output}
    learnt = {name: value for name, value in learnt.items() if value}
    row = OfferedModel.objects.filter(pk=key)
    with write_lock(), transaction.atomic():
        if error.kind is ErrorKind.TOO_LONG and learnt and not row.filter(**learnt).exists():
            row.update(**learnt)
            ModelList.objects.bump_version()
        if error.code == DEPRECATED_CODE:
            OfferedModel.objects.count_refusal(key)
            ModelList.objects.bump_version()
            ModelList.objects.expedite(
                timedelta(0), older=FRESH_LIST_AGE
            )  # the list knows whether that is so


def is_informative(error: UpstreamError) -> bool:
    """Whether it says something that is worth a look at the database."""
    return error.code == DEPRECATED_CODE or (error.kind is ErrorKind.TOO_LONG and bool(error.detail))


def initial_catalog(given: Sequence[LlmModel]) -> Catalogue:
    """The catalogue of a process that has not looked into the database yet."""
    return _catalogue(bundled_rows(), {}, given)


class CurrentCatalogue:
    """The catalogue in use. It may be replaced at any moment: get it once for what has to agree."""

    def __init__(self, offered: Catalogue) -> None:
        self._offered = offered

    def get(self) -> Catalogue:
        return self._offered

    def replace(self, offered: Catalogue) -> None:
        self._offered = offered


current = CurrentCatalogue(
    Catalogue(catalogue.bundled(), catalogue.DEFAULT_MODEL, retired=catalogue.retired())
)
"""This process's own. Its engine keeps it up to date."""
