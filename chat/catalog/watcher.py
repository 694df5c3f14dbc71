"""Keeping this process's catalog in step with the database, and the database with Cloudflare's list."""

import logging
import random
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone

from chat.db.background import BackgroundTasks, log_failure
from chat.db.executor import run_in_db, write_lock
from chat.models import CatalogState, Site, SiteModel
from chat.models.site_model import DEFAULT_POSITION
from chat.upstream.catalog import NOT_FOR_CHAT, LlmModel, to_record
from chat.upstream.client import Client
from chat.upstream.errors import UpstreamError
from chat.upstream.providers import model_search
from chat.upstream.providers.cloudflare_api import Cloudflare

from . import account, catalog
from .catalog import CurrentCatalog, Source, declared_model, default_positions

SYNC_INTERVAL = timedelta(hours=6)
RETRY_INTERVAL = timedelta(minutes=20)
# Share of the interval, so that sites started at the same time do not fetch at the same time.
INTERVAL_JITTER = 0.1
VERSION_POLL_SECONDS = 2.5  # between two queries of the list's version
RELOAD_SECONDS = 600.0  # for what ends by itself: refusals and limits that were learned a day ago
MAX_MET = 1_000  # refusals that are remembered until a second person meets them
LIST_NAME = "the list of models"

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class FetchedModels:
    """Fetched models. `finetunes` None: these could not be fetched, so the stored ones stay as they are."""

    models: list[LlmModel]
    finetunes: list[LlmModel] | None


@dataclass(slots=True)
class CatalogDiff:
    """Ids of the models that are new, delisted or listed again; `changed`: the new declarations in words."""

    added: list[str] = field(default_factory=list)
    delisted: list[str] = field(default_factory=list)
    relisted: list[str] = field(default_factory=list)
    changed: dict[str, list[str]] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.added or self.delisted or self.relisted or self.changed)


async def fetch(cloudflare: Cloudflare) -> FetchedModels:
    """Fetch models and finetunes. Raises UpstreamError if the list of models cannot be fetched."""
    models = await model_search.models(cloudflare)
    try:
        return FetchedModels(models, await model_search.finetunes(cloudflare, models))
    except UpstreamError:
        return FetchedModels(models, None)


def store_models(found: FetchedModels) -> CatalogDiff:
    """Store the models in one transaction and return the differences.

    The administrator's settings of the models are not changed.
    """
    with write_lock(), transaction.atomic():
        CatalogState.objects.get_or_create(pk=CatalogState.ONLY)
        CatalogState.objects.select_for_update().get(pk=CatalogState.ONLY)
        changes = _store(found)
        CatalogState.objects.filter(pk=CatalogState.ONLY).update(fetched=timezone.now())
        CatalogState.objects.postpone(
            SYNC_INTERVAL * random.uniform(1 - INTERVAL_JITTER, 1 + INTERVAL_JITTER)
        )
        CatalogState.objects.bump_version()
    return changes


def _store(found: FetchedModels) -> CatalogDiff:
    rows = SiteModel.objects.in_bulk()
    changes, place = CatalogDiff(), default_positions()
    for model in [*found.models, *(found.finetunes or ())]:
        row = rows.get(model.id)
        if row is None:
            changes.added.append(model.id)
            _add(model, place.get(model.address, DEFAULT_POSITION))
        elif row.source != Source.SITE:
            _update(row, model, changes)
    _mark_delisted(rows.values(), found, changes)
    return changes


def _add(model: LlmModel, position: int) -> None:
    SiteModel.objects.create(
        id=model.id,
        source=_source(model),
        metadata=to_record(model),
        position=position,
        enabled=model.id not in NOT_FOR_CHAT,
    )


def _source(model: LlmModel) -> str:
    return Source.FINETUNE if model.finetune else Source.SEARCH


def _update(row: SiteModel, model: LlmModel, changes: CatalogDiff) -> None:
    """Update a row. Learned limits stay until Cloudflare declares another value."""
    before = declared_model(row)
    if row.delisted_at:
        changes.relisted.append(row.pk)
    if before and (other := _differences(before, model)):
        changes.changed[row.pk] = other
    if before and before.window != model.window:
        row.observed_context_window = None
    if before and before.max_output != model.max_output:
        row.observed_max_output = None
    received = (_source(model), to_record(model), None)
    if (row.source, row.metadata, row.delisted_at) == received:
        return  # the usual case; a write would keep other writers waiting
    row.source, row.metadata, row.delisted_at = received
    row.save(
        update_fields=["source", "metadata", "delisted_at", "observed_context_window", "observed_max_output"]
    )


def _differences(before: LlmModel, after: LlmModel) -> list[str]:
    """Return descriptions such as `window 24000, now 32000`."""
    old, new = to_record(before), to_record(after)
    return [
        f"{name} {_formatted(old[name])}, now {_formatted(new[name])}"
        for name in old
        if old[name] != new[name]
    ]


def _formatted(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return " ".join(map(str, value)) or "none"
    return "none" if value in (None, "") else str(value)


def _mark_delisted(rows: Iterable[SiteModel], found: FetchedModels, changes: CatalogDiff) -> None:
    listed_ids = {model.id for model in [*found.models, *(found.finetunes or ())]}
    listed = {Source.BUNDLED, Source.SEARCH} | ({Source.FINETUNE} if found.finetunes is not None else set())
    missing = [
        row.pk
        for row in rows
        if row.source in listed and row.pk not in listed_ids and row.delisted_at is None
    ]
    changes.delisted += sorted(missing)
    SiteModel.objects.filter(pk__in=missing).update(delisted_at=timezone.now())


class CatalogWatcher:
    """A background task that reloads the catalog when it changes, and fetches Cloudflare's list when due.

    Everything but the queries runs on the event loop.
    """

    def __init__(
        self,
        given: Callable[[], Sequence[LlmModel]],
        current: CurrentCatalog,
        client: Client,
        account_changed: Callable[[], None],
    ) -> None:
        """`given` returns the models of the site's settings, which depend on whether there is an account.

        `account_changed` is called when the administration has connected another account, or none.
        """
        self._configured, self._given = given, given()
        self._client = client
        self._account_changed = account_changed
        self._connected = account.connected()
        self._catalog = current
        self._version = 0
        self._loaded = 0.0
        self._met: dict[tuple[str, catalog.Lesson], str] = {}
        self._tasks = BackgroundTasks()

    @property
    def version(self) -> int:
        """The version of the site's lists that this process has seen last."""
        return self._version

    async def start(self) -> None:
        """Load the catalog before the first request is served, and start polling for changes."""
        if not await self._follow_account():
            await run_in_db(catalog.register_models, self._given)
        if self._client.cloudflare:
            # Before the first look, which claims it: a second one would fetch again what is under way.
            await run_in_db(CatalogState.objects.expedite, timedelta(0), older=catalog.FRESH_LIST_AGE)
        await self.poll()
        self._tasks.repeat(self.poll, lambda: VERSION_POLL_SECONDS * random.uniform(0.8, 1.2), LIST_NAME)

    async def stop(self) -> None:
        await self._tasks.cancel()

    def learn(self, model: LlmModel, error: UpstreamError | None) -> None:
        """Store what an error reveals about the model's limits or its end, without delaying the run."""
        if error and not (model.local or error.quotes_request) and catalog.is_informative(error):
            confirmed = self._is_confirmed(model, error)
            storing = run_in_db(catalog.record_rejection, model.id, error, confirmed)
            self._tasks.start(log_failure(storing, LIST_NAME))

    def _is_confirmed(self, model: LlmModel, error: UpstreamError) -> bool:
        """Return True if the site itself met this refusal, or a second person in this process.

        Else one person could change a model for everybody: a server may repeat in its error what another
        one, named by the request, was made to say.
        """
        if len(self._met) >= MAX_MET:
            self._met.clear()
        first = self._met.setdefault((model.id, catalog.lesson(error)), error.person)
        return not error.person or first != error.person

    async def poll(self) -> None:
        """Follow what has changed in the database since the last time, and fetch the list when it is due."""
        state = await run_in_db(CatalogState.objects.status)
        if state.version != self._version or time.monotonic() - self._loaded > RELOAD_SECONDS:
            self._loaded = time.monotonic()
            await self._follow_account()
            self._catalog.replace(await run_in_db(catalog.load_catalog, self._given))
            # A change made between the two queries has a later version, so the next poll loads it.
            self._version = state.version
        has_list = self._client.cloudflare is not None
        if state.is_due and has_list and await run_in_db(CatalogState.objects.claim_refresh):
            self._tasks.start(log_failure(self._fetch(self._client.cloudflare), LIST_NAME))

    async def _follow_account(self) -> bool:
        """Read what the administration has set, and use the account. Return True if it is another one."""
        await run_in_db(Site.objects.load_identity)
        found = await run_in_db(account.load)
        if found == self._connected:
            return False
        self._connected = found
        self._account_changed()
        self._given = self._configured()
        await run_in_db(catalog.register_models, self._given)
        return True

    async def _fetch(self, cloudflare: Cloudflare | None) -> None:
        """Fetch and store Cloudflare's list, as a background task of the one process that claimed it."""
        assert cloudflare is not None
        try:
            found = await fetch(cloudflare)
            if cloudflare is not self._client.cloudflare:
                return  # another account's, since
            changes = await run_in_db(store_models, found)
        except UpstreamError as error:
            why = error.detail or error.message
            logger.warning("Cloudflare's list of models could not be fetched: %s", why)
            await run_in_db(CatalogState.objects.postpone, RETRY_INTERVAL, why)
            return
        if changes:
            logger.info("Cloudflare's list of models has changed: %s", changes)
