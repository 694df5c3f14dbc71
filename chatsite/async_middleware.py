"""Base classes of middleware that needs no thread under async.

Patch: `MiddlewareMixin.__acall__`, which runs each hook of each middleware in a thread: with Django's seven
defaults that is thirteen hops a request. Most of these hooks only look at headers or set an attribute.
Buys: without it, a send costs 1.3 to 1.4 times the CPU time.
Upstream: https://github.com/django/new-features/issues/102.
Can go: `AsyncHooksMixin`, when Django's own middleware is async.
"""

from collections.abc import Callable
from typing import Any

from asgiref.sync import iscoroutinefunction, markcoroutinefunction, sync_to_async
from django.http import HttpRequest
from django.http.response import HttpResponseBase


class AsyncHooksMixin:
    """Mixin before one of Django's middleware classes: under async, its hooks run without a thread each.

    Without an event loop, as under the test client, the class behaves as Django's.
    """

    async_mode: bool
    get_response: Any

    def __init__(self, get_response: Callable[[HttpRequest], Any]) -> None:
        super().__init__(get_response)  # type: ignore[call-arg]
        if self.async_mode and (hook := getattr(self, "process_view", None)):
            vars(self)["process_view"] = _as_coroutine(hook)

    def needs_thread(self, request: HttpRequest) -> bool:
        """Return True if `process_response` may block, because it accesses the database."""
        return False

    async def __acall__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.process_request(request) if hasattr(self, "process_request") else None
        if response is None:
            response = await self.get_response(request)
        if not hasattr(self, "process_response"):
            return response
        if self.needs_thread(request):
            return await sync_to_async(self.process_response, thread_sensitive=True)(request, response)
        return self.process_response(request, response)


def _as_coroutine(hook: Callable[..., Any]) -> Callable[..., Any]:
    async def process_view(*args: Any) -> Any:
        return hook(*args)

    return process_view


class SyncAndAsyncMiddleware:
    """Base of middleware that is a coroutine function if `get_response` is one, and else a plain function."""

    sync_capable = True
    async_capable = True

    def __init__(self, get_response: Callable[[HttpRequest], Any]) -> None:
        self.get_response = get_response
        self.is_async = iscoroutinefunction(get_response)
        if self.is_async:
            markcoroutinefunction(self)

    def __call__(self, request: HttpRequest) -> Any:
        """Return a response, or an awaitable of one if `get_response` is a coroutine function."""
        return self.get_response(request)
