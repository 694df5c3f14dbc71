"""Forward users' ratings of replies to the log of the AI Gateway that the replies went through."""

import asyncio
import logging

from chat.background import BackgroundTasks
from chat.upstream.client import Client
from chat.upstream.errors import UpstreamError
from chat.upstream.gateway_log import GatewayLogRef

WAITING = 100  # limit of pending ratings; beyond it the gateway does not answer, and ratings are dropped
FAREWELL = 2.0  # seconds, longest wait for the pending ratings at shutdown

logger = logging.getLogger(__name__)


class GatewayFeedback:
    """Send ratings in the background, one at a time, so that a rating changed at once arrives last.

    The site's database is authoritative, the gateway has a copy. So the first of a series of errors is
    logged, and the user who rates is never told.
    """

    def __init__(self, client: Client) -> None:
        self._client = client
        self._tasks = BackgroundTasks()
        self._turn = asyncio.Lock()
        self._failing = False

    def send(self, passages: list[GatewayLogRef], up: bool | None) -> None:
        """Queue a rating for each log entry in `passages`: a reply that was continued has one per part."""
        for passage in passages:
            if len(self._tasks) >= WAITING:
                return
            self._tasks.start(self._send(passage, up))

    async def stop(self) -> None:
        await self._tasks.wait(FAREWELL)
        await self._tasks.cancel()

    async def _send(self, passage: GatewayLogRef, up: bool | None) -> None:
        async with self._turn:
            try:
                await self._client.send_feedback(passage, up)
            except UpstreamError as error:
                if not self._failing:
                    logger.warning("the gateway takes no thumbs: %s (%s)", error, error.status)
                self._failing = True
            else:
                self._failing = False
