"""Forms that bring files beside their other fields, from a page without scripts."""

from typing import Any

from django.core.exceptions import RequestDataTooBig, TooManyFilesSent
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.translation import gettext as _

from chat.accounts.backends import client_address
from chat.db.fair_executor import RENDER_POOL
from chat.files.problems import StorageUnavailable
from chat.files.receiving import (
    FILE_INPUT,
    UPLOAD_ERRORS,
    AttachmentUploadHandler,
    file_fields,
    is_form_with_files,
)
from chat.views.files import attachments
from chat.views.requests.errors import refuse
from chatsite.async_middleware import SyncAndAsyncMiddleware


class AttachmentFormMiddleware(SyncAndAsyncMiddleware):
    """Read such a form in a thread, and keep its files for the view.

    The middleware for CSRF would read it on the event loop, and refuse its files.
    """

    def __call__(self, request: HttpRequest) -> Any:
        if self.is_async:
            return self._acall(request)
        if (handler := _handler_of(request)) is None:
            return self.get_response(request)
        try:
            return _read(request) or self.get_response(request)
        finally:
            handler.close()

    async def _acall(self, request: HttpRequest) -> HttpResponseBase:
        if (handler := _handler_of(request)) is None:
            return await self.get_response(request)
        try:
            refused = await RENDER_POOL.run(client_address(request), _read, request)
            return refused or await self.get_response(request)
        finally:
            handler.close()


def _handler_of(request: HttpRequest) -> AttachmentUploadHandler | None:
    """Return the handler that collects the form's files, if it is such a form."""
    if not is_form_with_files(request.method or "", request.path, request.content_type or ""):
        return None
    handler = AttachmentUploadHandler(file_fields(request.path))
    request.upload_handlers = [handler]
    request.attachment_form = handler  # type: ignore[attr-defined]
    return handler


def _read(request: HttpRequest) -> HttpResponse | None:
    """Let Django read the form. Return the refusal of one that cannot be read."""
    try:
        request.POST.dict()
    except RequestDataTooBig:
        return refuse(request, 413, attachments.too_large(), code="attachment_too_large")
    except TooManyFilesSent:
        return refuse(request, 400, _too_many(request.attachment_form))  # type: ignore[attr-defined]
    except UPLOAD_ERRORS:
        return refuse(request, 400)
    except StorageUnavailable as error:
        return refuse(request, error.status, error.message, code=error.code, retry_after=error.retry_after)
    return None


def _too_many(handler: AttachmentUploadHandler) -> str:
    """Return what to say of a form with too many files; "" of other ones, which no browser sends."""
    most = handler.most[FILE_INPUT]
    if len(handler.of(FILE_INPUT)) < most:
        return ""
    return _("At most %(most)s files can be added at once. Go back and remove some.") % {"most": most}
