"""Static files, served by WhiteNoise under async."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from asgiref.sync import iscoroutinefunction, markcoroutinefunction, sync_to_async
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from whitenoise.middleware import WhiteNoiseMiddleware

from chatsite.storage import StaticStorage

MANIFEST = f"{settings.STATIC_URL}{StaticStorage.manifest_name}"  # lists every file; no browser needs it


class StaticMiddleware(WhiteNoiseMiddleware):
    """WhiteNoise, but a path that is no static file takes one dictionary look-up instead of a thread."""

    sync_capable = True
    async_capable = True

    def __init__(self, get_response: Callable[[HttpRequest], Any]) -> None:
        Path(settings.STATIC_ROOT).mkdir(
            parents=True, exist_ok=True
        )  # else WhiteNoise warns on a first start
        super().__init__(get_response)
        if iscoroutinefunction(get_response):
            markcoroutinefunction(self)

    def add_file_to_dictionary(self, url: str, path: str, stat_cache: Any = None) -> None:
        if url != MANIFEST:
            super().add_file_to_dictionary(url, path, stat_cache)

    def find_file(self, url: str) -> Any:
        return None if url == MANIFEST else super().find_file(url)

    def __call__(self, request: HttpRequest) -> Any:
        return self._acall(request) if iscoroutinefunction(self) else super().__call__(request)

    async def _acall(self, request: HttpRequest) -> HttpResponseBase:
        file = self.files.get(request.path_info)
        if file is None and self.autorefresh and request.path_info.startswith(self.static_prefix):
            file = await sync_to_async(self.find_file)(request.path_info)
        if file is None:
            return await self.get_response(request)
        return await sync_to_async(self._read, thread_sensitive=False)(file, request)

    def _read(self, file: Any, request: HttpRequest) -> HttpResponse:
        """Return the whole file at once: the handler would read all of an iterator at once as well."""
        streamed = self.serve(file, request)
        try:
            return HttpResponse(streamed.getvalue(), status=streamed.status_code, headers=streamed.headers)
        finally:
            streamed.close()
