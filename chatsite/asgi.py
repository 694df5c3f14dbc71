"""The ASGI application: Django's, with few threads for many streams, and the `lifespan` protocol."""

import asyncio
import os
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

import django
from asgiref.sync import ThreadSensitiveContext
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured, RequestAborted, RequestDataTooBig
from django.core.handlers.asgi import ASGIHandler, get_script_prefix
from django.http.response import HttpResponseBase
from django.urls import set_script_prefix

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "chatsite.settings")
django.setup(set_prefix=False)

from chat.engine.engine import get_engine, is_begun, shut_down  # noqa: E402 - only after Django is set up
from chat.event_stream import TAKE_OVER, SourceResponse  # noqa: E402
from chat.files.confinement import warn_if_unconfined  # noqa: E402 - only after Django is set up
from chat.files.receiving import UPLOAD  # noqa: E402
from chat.health import start as start_check  # noqa: E402

# Django keeps a thread for each request until its response ends, which for a stream takes minutes: with it,
# 100 open streams had 102 threads; with these shared ones they have 6. Views that stream do their database
# work in the threads of `run_in_db`. The administration and the accounts, which may keep a thread busy, get
# a thread per request.
SHARED_THREADS = [ThreadPoolExecutor(1, thread_name_prefix=f"requests-{number}") for number in range(4)]
OWN_THREAD = ("/admin/", "/accounts/")


class Handler(ASGIHandler):
    """Django's handler, with a shorter path for views that use no connection of the request's thread.

    Patch: `without_threads` in place of `handle`, which sends `request_started` and `request_finished` from a
    thread each, to close old database connections of a thread that has none on this server, and creates two
    tasks. The patch also reads the request's body before the view runs: Django closes the body's file as soon
    as the client disconnects, while a send that is being stored (`asyncio.shield`) still needs it. After a
    whole response it empties the request: its user and its messages refer back to it, and such a cycle waits
    for the garbage collector, which comes after thousands of requests.
    Buys: without the emptied requests, a process holds some 10 MB more after 2,500 sends. Without the rest, a
    request costs 0.39 ms of CPU time more, 0.62 in place of 0.24 for an empty one: of 100 sends at once, half
    wait 20 ms longer, a tenth of what they may.
    Upstream: https://github.com/django/deps/pull/103 proposes signals whose receivers need no thread. The
    closed body and the cycles are not reported.
    Can go: when Django sends these two signals without a thread; the body would still be read and the
    request emptied here.
    """

    async def without_threads(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        """Send the same responses as `handle`, on the event loop."""
        try:
            body = await self.read_body(receive)
        except RequestAborted:
            return
        if upload := scope.get(UPLOAD):
            body.close()
            body = upload
            body.seek(0)
        set_script_prefix(get_script_prefix(scope))
        request, refusal = self.create_request(scope, body)
        gone = asyncio.ensure_future(receive())
        gone.add_done_callback(_cancelling(asyncio.current_task()))
        response: HttpResponseBase | None = refusal
        try:
            if request is not None:
                if not upload:
                    # A body that is too large raises again, and is answered, when a view parses it.
                    with suppress(RequestDataTooBig):
                        _ = request.body  # which the request keeps
                response = await self.run_get_response(request)
            assert response is not None
            if isinstance(response, SourceResponse):
                response.take_over = scope.get(TAKE_OVER)
            await self.send_response(response, send)
            if request is not None:
                vars(request).clear()
        except asyncio.CancelledError:
            if not gone.done():
                raise
        finally:
            gone.cancel()
            body.close()
            if response is not None:
                response.close()


def _cancelling(task: Any) -> Any:
    """Return a callback that cancels `task`, the response, when the client has disconnected."""

    def end(message: "asyncio.Future[Any]") -> None:
        if not message.cancelled():
            task.cancel()

    return end


handle = Handler()


async def application(scope: dict[str, Any], receive: Any, send: Any) -> None:
    if scope["type"] == "lifespan":
        await _lifespan(receive, send)
        return
    if scope["type"] != "http":
        raise ValueError(f"There is nothing here that speaks {scope['type']}.")
    if TAKE_OVER not in scope and not is_begun():  # another server, which does not speak `lifespan`
        await _start()
    if scope["path"].startswith(OWN_THREAD):
        await handle(scope, receive, send)
    else:
        idlest = min(SHARED_THREADS, key=lambda pool: pool._work_queue.qsize())
        async with ThreadSensitiveContext(executor=idlest):
            await handle.without_threads(scope, receive, send)


async def _lifespan(receive: Any, send: Any) -> None:
    """Start and stop the engine with the server. `manage.py serve` does both itself, without `lifespan`.

    A server that is told that the start failed logs the message and exits. An exception would mean to it that
    this application does not know `lifespan`.
    """
    while True:
        message = await receive()
        if message["type"] == "lifespan.startup":
            try:
                await _start()
            except ImproperlyConfigured as error:
                await send({"type": "lifespan.startup.failed", "message": str(error)})
                return
            await send({"type": "lifespan.startup.complete"})
        elif message["type"] == "lifespan.shutdown":
            await shut_down(settings.DRAIN_SECONDS)
            await send({"type": "lifespan.shutdown.complete"})
            return


async def _start() -> None:
    """Start the engine. Raises ImproperlyConfigured: where `manage.py serve` would refuse the database."""
    if problem := await asyncio.to_thread(start_check.problem):
        raise ImproperlyConfigured(problem)
    await asyncio.to_thread(warn_if_unconfined)
    await get_engine()
