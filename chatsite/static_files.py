"""Static files, served by WhiteNoise under async."""

from collections.abc import Callable
from typing import Any

from asgiref.sync import iscoroutinefunction, markcoroutinefunction, sync_to_async
from django.conf import settings
from django.core.exceptions import SuspiciousFileOperation
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils._os import safe_join
from whitenoise.base import MissingFileError
from whitenoise.middleware import WhiteNoiseMiddleware

from chatsite.storage import StaticStorage

MANIFEST_URL = f"{settings.STATIC_URL}{StaticStorage.manifest_name}"  # lists every file; no browser needs it


class StaticMiddleware(WhiteNoiseMiddleware):
    """WhiteNoise, but a path that is no static file takes one dictionary look-up instead of a thread."""

    sync_capable = True
    async_capable = True

    def __init__(self, get_response: Callable[[HttpRequest], Any]) -> None:
        super().__init__(get_response)
        self.is_async = iscoroutinefunction(get_response)
        if self.is_async:
            markcoroutinefunction(self)

    def add_files(self, root: str, prefix: str | None = None) -> None:
        """Look for no files at the start, except in DEBUG: `_find_collected` finds each at its first request.

        The table of all 450 files, most of them of the admin, takes 1 MB.
        """
        if self.autorefresh:
            super().add_files(root, prefix)

    def find_file(self, url: str) -> Any:
        return None if url == MANIFEST_URL else super().find_file(url) or self._find_collected(url)

    def _find_collected(self, url: str) -> Any:
        """Return a collected file, None if there is none.

        It may have been collected after this process started: while workers are replaced by those of another
        release, a page of a new one may load its files from here.
        """
        if self.autorefresh or not self.url_is_canonical(url) or url.endswith("/"):
            return None  # one file must not be kept under many names, nor the manifest be found under another
        try:
            path = safe_join(settings.STATIC_ROOT, url.removeprefix(self.static_prefix))
            found = self.find_file_at_path(path, url)
        except (MissingFileError, SuspiciousFileOperation, ValueError):
            return None
        self.files[url] = found
        return found

    def __call__(self, request: HttpRequest) -> Any:
        if self.is_async:
            return self._acall(request)
        if request.path_info.startswith(self.static_prefix) and request.path_info not in self.files:
            self.find_file(request.path_info)
        return super().__call__(request)

    async def _acall(self, request: HttpRequest) -> HttpResponseBase:
        file = self.files.get(request.path_info)
        if file is None and request.path_info.startswith(self.static_prefix):
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
