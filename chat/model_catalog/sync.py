"""Cloudflare's list of models and the account's finetunes, fetched and stored, and what that changed."""

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone

from chat.db import writing
from chat.models import ModelList, OfferedModel
from chat.models.offered_model import LAST
from chat.upstream.catalogue import NOT_FOR_CHAT, Model, record_of
from chat.upstream.client import Client
from chat.upstream.errors import UpstreamError

from .catalog import Source, known, places

AGAIN = timedelta(hours=6)
AFTER_A_FAILURE = timedelta(minutes=20)
JITTER = 0.1  # so that not everybody who began at the same hour asks at the same hour


@dataclass(frozen=True, slots=True)
class Found:
    """`finetunes` None: they could not be had, which says nothing about them."""

    models: list[Model]
    finetunes: list[Model] | None


@dataclass(slots=True)
class Changes:
    """The ids of models that are new, gone or back; and of those that stay, what is declared otherwise."""

    added: list[str] = field(default_factory=list)
    gone: list[str] = field(default_factory=list)
    back: list[str] = field(default_factory=list)
    changed: dict[str, list[str]] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.added or self.gone or self.back or self.changed)


async def fetch(client: Client) -> Found:
    """Raises UpstreamError where there is no list of models."""
    models = await client.models()
    try:
        return Found(models, await client.finetunes(models))
    except UpstreamError:
        return Found(models, None)


def store(found: Found) -> Changes:
    """All or nothing. The administrator's decisions stay as they are."""
    with writing(), transaction.atomic():
        ModelList.objects.get_or_create(pk=ModelList.ONLY)
        ModelList.objects.select_for_update().get(pk=ModelList.ONLY)
        changes = _store(found)
        ModelList.objects.filter(pk=ModelList.ONLY).update(fetched=timezone.now())
        ModelList.objects.put_off(AGAIN * random.uniform(1 - JITTER, 1 + JITTER))
        ModelList.objects.touch()
    return changes


def _store(found: Found) -> Changes:
    rows = OfferedModel.objects.in_bulk()
    changes, place = Changes(), places()
    for model in [*found.models, *(found.finetunes or ())]:
        row = rows.get(model.id)
        if row is None:
            changes.added.append(model.id)
            _add(model, place.get(model.address, LAST))
        elif row.source != Source.SITE:
            _renew(row, model, changes)
    _take_leave(rows.values(), found, changes)
    return changes


def _add(model: Model, position: int) -> None:
    OfferedModel.objects.create(
        id=model.id,
        source=_source(model),
        declared=record_of(model),
        position=position,
        shown=model.id not in NOT_FOR_CHAT,
    )


def _source(model: Model) -> str:
    return Source.FINETUNE if model.finetune else Source.SEARCH


def _renew(row: OfferedModel, model: Model, changes: Changes) -> None:
    """What was learnt holds until something else is declared."""
    before = known(row)
    if row.gone:
        changes.back.append(row.pk)
    if before and (other := _differences(before, model)):
        changes.changed[row.pk] = other
    if before and before.window != model.window:
        row.learnt_window = None
    if before and before.max_output != model.max_output:
        row.learnt_output = None
    heard = (_source(model), record_of(model), None)
    if (row.source, row.declared, row.gone) == heard:
        return  # as nearly always; the others wait while this writes
    row.source, row.declared, row.gone = heard
    row.save(update_fields=["source", "declared", "gone", "learnt_window", "learnt_output"])


def _differences(before: Model, after: Model) -> list[str]:
    """Such as `window 24000, now 32000`."""
    old, new = record_of(before), record_of(after)
    return [f"{name} {_said(old[name])}, now {_said(new[name])}" for name in old if old[name] != new[name]]


def _said(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return " ".join(map(str, value)) or "none"
    return "none" if value in (None, "") else str(value)


def _take_leave(rows: Iterable[OfferedModel], found: Found, changes: Changes) -> None:
    there = {model.id for model in [*found.models, *(found.finetunes or ())]}
    listed = {Source.BUNDLED, Source.SEARCH} | ({Source.FINETUNE} if found.finetunes is not None else set())
    gone = [row.pk for row in rows if row.source in listed and row.pk not in there and row.gone is None]
    changes.gone += sorted(gone)
    OfferedModel.objects.filter(pk__in=gone).update(gone=timezone.now())
