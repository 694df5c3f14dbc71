"""Django's handler, and a shorter way through it for views that do their database work elsewhere."""

import asyncio
from typing import Any

from django.core.exceptions import RequestAborted
from django.core.handlers.asgi import ASGIHandler, get_script_prefix
from django.http.response import HttpResponseBase
from django.urls import set_script_prefix


class Handler(ASGIHandler):
    """`without_threads` spares two hops into a thread and a task a request.

    Those hops close old connections of a thread that has none: the signals `request_started` and
    `request_finished` are not sent from a thread of the request's own there.
    """

    async def without_threads(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        """The same answers, for views that use no connection of their request's thread."""
        try:
            body = await self.read_body(receive)
        except RequestAborted:
            return
        set_script_prefix(get_script_prefix(scope))
        request, refusal = self.create_request(scope, body)
        gone = asyncio.ensure_future(receive())
        gone.add_done_callback(_cancelling(asyncio.current_task()))
        response: HttpResponseBase | None = refusal
        try:
            if request is not None:
                response = await self.run_get_response(request)
            assert response is not None
            await self.send_response(response, send)
        except asyncio.CancelledError:
            if not gone.done():
                raise
        finally:
            gone.cancel()
            body.close()
            if response is not None:
                response.close()


def _cancelling(task: Any) -> Any:
    """Whoever closes the connection ends what is being answered."""

    def end(message: "asyncio.Future[Any]") -> None:
        if not message.cancelled():
            task.cancel()

    return end
