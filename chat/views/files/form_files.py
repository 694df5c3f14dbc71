"""Pictures and documents that come with the other fields of a form, from a page without scripts."""

import asyncio
import uuid
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from functools import wraps
from typing import Any

from django.conf import settings
from django.core.exceptions import RequestDataTooBig, TooManyFilesSent
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.translation import gettext as _
from django.views.decorators.csrf import csrf_exempt, csrf_protect

from chat.accounts.proxies import client_address
from chat.db.executor import run_in_db, write_lock
from chat.db.fair_executor import RENDER_POOL
from chat.exceptions import BadRequest, RequestError
from chat.files import files, uploads
from chat.files.decoding import EncodedPicture, decode
from chat.files.deletion import discard
from chat.files.problems import StorageUnavailable
from chat.files.reading import READERS
from chat.files.receiving import (
    FILE_INPUT,
    IMAGE_INPUT,
    UPLOAD_ERRORS,
    FormFiles,
    ReceivedFile,
    empty_file,
)
from chat.files.uploads import clean
from chat.limits import IMAGE_SIDE, MAX_ATTACHMENTS
from chat.models import Attachment, User

from ..requests import access
from ..requests.errors import refuse, refuse_error
from . import attachments


def receives(*images: str) -> Callable[[access.AsyncView], access.AsyncView]:
    """Let a view have the files of its form's field FILE_INPUT, and one file of each field of `images`.

    The form is read in a thread, and its CSRF token compared after that: Django's middleware would read the
    form on the event loop, and refuse its files.
    """
    most = {FILE_INPUT: MAX_ATTACHMENTS, **dict.fromkeys(images, 1)}

    def decorate(view: access.AsyncView) -> access.AsyncView:
        protected = csrf_protect(view)

        @csrf_exempt
        @wraps(view)
        async def received(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            is_multipart = request.method == "POST" and request.content_type == "multipart/form-data"
            if not (is_multipart and settings.ATTACHMENTS):
                return await protected(request, *args, **kwargs)
            handler = FormFiles(most)
            request.upload_handlers = [handler]
            request.attachment_form = handler  # type: ignore[attr-defined]
            try:
                refused = await RENDER_POOL.run(client_address(request), _parse_form, request, handler)
                return refused or await protected(request, *args, **kwargs)
            finally:
                handler.close()

        return received

    return decorate


def _parse_form(request: HttpRequest, handler: FormFiles) -> HttpResponse | None:
    """Let Django read the form. Return the refusal of one that cannot be read."""
    try:
        request.POST.dict()
    except RequestDataTooBig:
        return refuse(request, 413, attachments.too_large(), code="attachment_too_large")
    except TooManyFilesSent:
        return refuse(request, 400, _too_many(handler))
    except UPLOAD_ERRORS:
        return refuse(request, 400)
    except StorageUnavailable as error:
        return refuse_error(request, error)
    return None


def _too_many(handler: FormFiles) -> str:
    """Return what to say of a form with too many files; "" of other ones, which no browser sends."""
    if len(handler.of(FILE_INPUT)) < MAX_ATTACHMENTS:
        return ""
    return _("At most %(most)s files can be added at once. Go back and remove some.") % {
        "most": MAX_ATTACHMENTS
    }


@asynccontextmanager
async def from_form(request: HttpRequest, *, documents_only: bool = False) -> AsyncIterator[list[uuid.UUID]]:
    """Store the files of a form. Yield their ids in their order.

    A form with a `client_key` that is sent again has the same ids again, also when its files were sent. If
    the block raises a refusal, what is new is deleted: the page that shows it cannot name it. Raises the same
    refusals as an upload, and Unreadable for a picture among `documents_only`.
    """
    ids: list[uuid.UUID] = []
    new: list[uuid.UUID] = []
    try:
        if several := _received(request, FILE_INPUT):
            user = await run_in_db(access.get_user, request)
            ids, earlier = await _ids(request, user, several)
            if earlier != set(ids):
                await run_in_db(attachments.get_uploader, request)
            for received, key in zip(several, ids, strict=True):
                if key in earlier:
                    continue
                with _named(received):
                    await attachments.store_upload(user, received, documents_only=documents_only, key=key)
                new.append(key)
        yield ids
    except RequestError:
        if new:
            await run_in_db(_discard, new)
        raise


async def image_from_form(request: HttpRequest) -> uuid.UUID | None:
    """Store the picture of an assistant's form as a small square. Return its id, None if there is none.

    Raises the same refusals as an upload.
    """
    several = _received(request, IMAGE_INPUT)
    if not several:
        return None
    user = await run_in_db(attachments.get_uploader, request)
    file, name = several[0].file, several[0].name
    found = await READERS.run(user.pk, decode, file, IMAGE_SIDE)
    storing = files.STORAGE_POOL.submit(user.pk, uploads.store_picture, user, name, found)
    return (await asyncio.shield(asyncio.wrap_future(storing))).pk


async def squares_from_form(request: HttpRequest, *sides: int) -> list[EncodedPicture]:
    """Return the picture of a form as squares with these sides in pixels; none if there is no picture.

    Raises the same refusals as an upload.
    """
    several = _received(request, IMAGE_INPUT)
    if not several:
        return []
    user, file = await run_in_db(access.get_user, request), several[0].file
    return [await READERS.run(user.pk, decode, file, side) for side in sides]


def _received(request: HttpRequest, field: str) -> list[ReceivedFile]:
    """Return the files of one field that `receives` has received."""
    handler: FormFiles | None = getattr(request, "attachment_form", None)
    return handler.of(field) if handler else []


async def _ids(
    request: HttpRequest, user: User, several: Sequence[ReceivedFile]
) -> tuple[list[uuid.UUID], set[uuid.UUID]]:
    """Return the ids of the form's files, and those among them that an earlier sending has stored."""
    try:
        form = uuid.UUID(request.POST.get("client_key", ""))
    except ValueError:  # none: each sending is another; a wrong one is refused when it is parsed
        return [uuid.uuid4() for _each in several], set()

    def named() -> list[uuid.UUID]:
        return [uploads.key_in_form(form, user, at, each.file) for at, each in enumerate(several)]

    ids = await RENDER_POOL.run(user.pk, named)
    return ids, await run_in_db(_stored, ids)


def _stored(ids: Sequence[uuid.UUID]) -> set[uuid.UUID]:
    return set(Attachment.objects.filter(pk__in=ids).values_list("pk", flat=True))


@contextmanager
def _named(received: ReceivedFile) -> Iterator[None]:
    """Let a refusal say which of several files it concerns."""
    try:
        if not received.size:
            raise BadRequest(empty_file())
        yield
    except RequestError as refusal:
        name = clean(received.name, "")
        if name not in refusal.message:
            refusal.message = f"{name}: {refusal.message}"
        raise


def _discard(stored: list[uuid.UUID]) -> None:
    with write_lock(), transaction.atomic():
        discard(stored)
