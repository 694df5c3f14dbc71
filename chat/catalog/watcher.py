"""Keeping this process's catalog in step with the database, and the database with Cloudflare's list."""

import logging
import random
import time
from collections.abc import Sequence
from datetime import timedelta

from chat.db.background import BackgroundTasks, log_failure
from chat.db.executor import run_in_db
from chat.models import CatalogState
from chat.upstream.catalog import LlmModel
from chat.upstream.client import Client
from chat.upstream.errors import UpstreamError

from . import catalog, sync
from .catalog import CurrentCatalog

VERSION_POLL_SECONDS = 2.5  # between two queries of the list's version
RELOAD_SECONDS = 600.0  # for what ends by itself: refusals and limits that were learned a day ago
MAX_MET = 1_000  # refusals that are remembered until a second person meets them
LIST_NAME = "the list of models"

logger = logging.getLogger(__name__)


class CatalogWatcher:
    """A background task that reloads the catalog when it changes, and fetches Cloudflare's list when due.

    Everything but the queries runs on the event loop.
    """

    def __init__(self, given: Sequence[LlmModel], current: CurrentCatalog, client: Client | None) -> None:
        """`given`: the models of the site's settings. `client` None: no account with a list to fetch."""
        self._given = given
        self._client = client
        self._catalog = current
        self._version = 0
        self._loaded = 0.0
        self._met: dict[tuple[str, catalog.Lesson], str] = {}
        self._tasks = BackgroundTasks()

    async def start(self) -> None:
        """Load the catalog before the first request is served, and start polling for changes."""
        await run_in_db(catalog.register_models, self._given)
        await self._poll()
        if self._client:
            await run_in_db(CatalogState.objects.expedite, timedelta(0), older=catalog.FRESH_LIST_AGE)
        self._tasks.repeat(self._poll, lambda: VERSION_POLL_SECONDS * random.uniform(0.8, 1.2), LIST_NAME)

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

    async def _poll(self) -> None:
        state = await run_in_db(CatalogState.objects.status)
        if state.version != self._version or time.monotonic() - self._loaded > RELOAD_SECONDS:
            self._loaded = time.monotonic()
            self._catalog.replace(await run_in_db(catalog.load_catalog, self._given))
            # A change made between the two queries has a later version, so the next poll loads it.
            self._version = state.version
        if state.is_due and self._client and await run_in_db(CatalogState.objects.claim_refresh):
            self._tasks.start(log_failure(self._fetch(self._client), LIST_NAME))

    async def _fetch(self, client: Client) -> None:
        """Fetch and store Cloudflare's list, as a background task of the one process that claimed it."""
        try:
            changes = await run_in_db(sync.store, await sync.fetch(client))
        except UpstreamError as error:
            why = error.detail or error.message
            logger.warning("Cloudflare's list of models could not be fetched: %s", why)
            await run_in_db(CatalogState.objects.postpone, sync.RETRY_INTERVAL, why)
            return
        if changes:
            logger.info("Cloudflare's list of models has changed: %s", changes)
