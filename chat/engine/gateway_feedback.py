"""What people think of replies, passed on to the log of the AI Gateway that these went through."""

import asyncio
import logging

from chat.background import BackgroundTasks
from chat.upstream.client import Client
from chat.upstream.errors import UpstreamError
from chat.upstream.gateway_log import GatewayLogRef

WAITING = 100  # thumbs to be passed on; with so many nobody listens there
FAREWELL = 2.0  # seconds for the last ones when the server ends

logger = logging.getLogger(__name__)


class GatewayFeedback:
    """In the background, one after the other: a thumb that is turned round at once must end as here.

    Ours is the truth, and theirs a copy: what cannot be passed on is told to the log when that begins, and to
    nobody who rates.
    """

    def __init__(self, client: Client) -> None:
        self._client = client
        self._tasks = BackgroundTasks()
        self._turn = asyncio.Lock()
        self._failing = False

    def send(self, passages: list[GatewayLogRef], up: bool | None) -> None:
        """A reply that was continued has an entry for each of its parts."""
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
