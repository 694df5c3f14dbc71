"""The ASGI application: Django's, with few threads for many streams, and the `lifespan` protocol."""

import asyncio
import os
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import django
from asgiref.sync import ThreadSensitiveContext
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "chatsite.settings")
django.setup(set_prefix=False)

from chat.engine.engine import get_engine, is_begun, shut_down  # noqa: E402 - only after Django is set up
from chat.files.confinement import warn_if_unconfined  # noqa: E402 - only after Django is set up
from chat.health import start as start_check  # noqa: E402
from chatsite.server.asgi_handler import Handler  # noqa: E402

handle = Handler()

# Django keeps a thread for each request until its response ends, which for a stream takes minutes: with it,
# 100 open streams had 102 threads; with these shared ones they have 6. Views that stream do their database
# work in the engine's threads. The administration and the accounts, which may keep a thread busy, get a
# thread per request.
SHARED_THREADS = [ThreadPoolExecutor(1, thread_name_prefix=f"requests-{number}") for number in range(4)]
OWN_THREAD = ("/admin/", "/accounts/")


async def application(scope: dict[str, Any], receive: Any, send: Any) -> None:
    if scope["type"] == "lifespan":
        await _lifespan(receive, send)
        return
    if scope["type"] != "http":
        raise ValueError(f"There is nothing here that speaks {scope['type']}.")
    if not is_begun():  # the server does not speak `lifespan`
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
