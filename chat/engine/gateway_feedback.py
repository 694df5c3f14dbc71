"""Forward users' ratings of replies to the log of the AI Gateway that the replies went through."""

import asyncio
import logging

from chat.db.background import BackgroundTasks
from chat.upstream.client import Client
from chat.upstream.errors import UpstreamError
from chat.upstream.providers.ai_gateway import GatewayLogRef

MAX_PENDING = 100  # ratings; further ones are dropped, as the gateway does not answer
SHUTDOWN_SECONDS = 2.0  # longest wait for the pending ratings at shutdown

logger = logging.getLogger(__name__)


class GatewayFeedback:
    """Send ratings in the background, one at a time, so that a rating changed at once arrives last.

    The site's database is authoritative, the gateway has a copy. So the first of a series of errors is
    logged, and the user who rates is never told.
    """

    def __init__(self, client: Client) -> None:
        self._client = client
        self._tasks = BackgroundTasks()
        self._one_at_a_time = asyncio.Lock()
        self._failing = False

    def send(self, log_refs: list[GatewayLogRef], up: bool | None) -> None:
        """Queue a rating for each log entry in `log_refs`: a reply that was continued has one per part."""
        for log_ref in log_refs:
            if len(self._tasks) >= MAX_PENDING:
                return
            self._tasks.start(self._send(log_ref, up))

    async def stop(self) -> None:
        await self._tasks.wait(SHUTDOWN_SECONDS)
        await self._tasks.cancel()

    async def _send(self, log_ref: GatewayLogRef, up: bool | None) -> None:
        async with self._one_at_a_time:
            try:
                if cloudflare := self._client.cloudflare:
                    await cloudflare.send_feedback(log_ref, up)
            except UpstreamError as error:
                if not self._failing:
                    logger.warning("the gateway does not accept ratings: %s (%s)", error, error.status)
                self._failing = True
            else:
                self._failing = False
