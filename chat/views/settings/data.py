"""The section of the settings that exports and imports a person's conversations, and the views of imports."""

import asyncio
import uuid
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

from django.db import IntegrityError, transaction
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.template.defaultfilters import filesizeformat
from django.urls import reverse
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from chat.db.executor import run_in_db, write_lock
from chat.db.fair_executor import RENDER_POOL
from chat.exceptions import (
    BadRequest,
    Conflict,
    Forbidden,
    NotFound,
    RequestError,
    ServiceOverloaded,
    UnsupportedMediaType,
)
from chat.files.problems import StorageUnavailable
from chat.files.receiving import ReceivedFile, empty_file, unwritable
from chat.limits import MEBIBYTE
from chat.models import ImportJob, User
from chat.models.import_job import MAX_IMPORT_NAME_CHARS
from chat.transfer import import_files, jobs, problems
from chat.transfer.import_files import EmptyFile, receive, too_large
from chat.transfer.importing import wake
from chat.wire.text import sanitize

from ..requests import access, request_fields
from ..requests.request_fields import is_form
from ..requests.responses import HttpResponseSeeOther
from .settings_shell import render_section

MAX_IMPORTS_PER_DAY = 20  # per user
DAY = timedelta(days=1)
JobState = ImportJob.State
# Refusals of an upload after which the form is shown again, and their names in its query.
PROBLEM_OF_REFUSAL: dict[type[RequestError], str] = {
    EmptyFile: "empty",
    Forbidden: "expired",
    Conflict: "open",
    ServiceOverloaded: "many",
    StorageUnavailable: "full",
}


@access.require_methods("POST")
async def upload(request: HttpRequest) -> HttpResponseBase:
    """Receive a file and queue its check. The permit in the URL's query replaces the CSRF token.

    A browser is led back to the page with the form, whose query names the reason for a refusal.
    """
    is_page = "text/html" in request.headers.get("Accept", "")
    key = uuid.uuid4()
    try:
        user = await run_in_db(_uploader, request)
        # Shielded from cancellation: a received file must get its row, even if the client disconnects.
        await asyncio.shield(_receive_and_store(request, user, key))
    except tuple(PROBLEM_OF_REFUSAL) as refusal:
        if not is_page:
            raise
        return HttpResponseSeeOther(f"{reverse('chat:data')}?problem={PROBLEM_OF_REFUSAL[type(refusal)]}")
    wake()
    if is_page:
        return HttpResponseSeeOther(_section())
    return JsonResponse({"id": str(key), "state": JobState.CHECKING}, status=201)


upload.csrf_exempt = True  # type: ignore[attr-defined]  # as the decorator `csrf_exempt` sets it


async def _receive_and_store(request: HttpRequest, user: User, key: uuid.UUID) -> None:
    # A large form takes seconds to parse, so neither the event loop nor a database thread may do it.
    received = await RENDER_POOL.run(user.pk, receive, request, key)
    await run_in_db(_create, user, key, received)


@access.require_methods("POST")
async def start(request: HttpRequest) -> HttpResponseBase:
    """Begin to store what the preview showed."""
    job = await run_in_db(_start, request)
    wake()
    return _changed(request, job)


@access.require_methods("POST")
def stop(request: HttpRequest) -> HttpResponseBase:
    """Stop the import; what was stored stays."""
    job = _job_of_form(request)
    if not jobs.finish(job, JobState.STOPPED):
        job.refresh_from_db()
        jobs.finish(job, JobState.STOPPED)  # it went on meanwhile, or has ended
    job.refresh_from_db()
    return _changed(request, job)


@access.require_methods("GET", "HEAD")
def progress(request: HttpRequest) -> HttpResponseBase:
    """Return the state of the person's newest import as JSON; null if there is none."""
    job = newest(access.get_user(request))
    return JsonResponse({"import": job and _progress(job)})


def _progress(job: ImportJob) -> dict[str, Any]:
    return {"state": job.state, "total": job.total, "done": job.processed, "stored": job.stored}


def newest(user: User) -> ImportJob | None:
    return ImportJob.objects.owned_by(user).order_by("-created").first()


def _uploader(request: HttpRequest) -> User:
    """Return the person who may upload a file now. Raises a RequestError otherwise."""
    user = access.get_user(request)
    if import_files.permitted(request.GET.get("permit", "")) != user.pk:
        raise Forbidden(gettext("This page has expired. Reload it, then choose the file again."))
    if not import_files.max_file_bytes():
        raise NotFound(gettext("This site doesn’t import chats."))
    if request.content_type != "multipart/form-data":
        raise UnsupportedMediaType(gettext("Send the file in a form (multipart/form-data)."))
    _check_room(user)
    return user


def another_is_open() -> str:
    return gettext("Another import is open. Finish or cancel it first.")


def too_many_today() -> str:
    words = gettext("You have started %(most)s imports today. Try again tomorrow.")
    return words % {"most": MAX_IMPORTS_PER_DAY}


def _check_room(user: User) -> None:
    own = ImportJob.objects.owned_by(user)
    if own.open().exists():
        raise Conflict(another_is_open())
    if own.filter(created__gt=timezone.now() - DAY).count() >= MAX_IMPORTS_PER_DAY:
        raise ServiceOverloaded(too_many_today(), retry_after=3_600)


def _create(user: User, key: uuid.UUID, received: ReceivedFile) -> None:
    """Store the import of a received file. Raises Conflict if another one is open by now."""
    try:
        with write_lock(), transaction.atomic():
            _check_room(user)
            old = ImportJob.objects.owned_by(user).filter(created__lt=timezone.now() - DAY)
            old.exclude(pk__in=ImportJob.objects.open()).delete()
            name = sanitize(received.name)[:MAX_IMPORT_NAME_CHARS]
            ImportJob.objects.create(id=key, user=user, file_name=name, size=received.size)
    except BaseException as error:
        import_files.discard(key)
        if isinstance(error, IntegrityError):
            raise Conflict(another_is_open()) from error
        raise


def _job_of_form(request: HttpRequest) -> ImportJob:
    """Return the person's import with the id in the field `job`, as it was shown to them."""
    user = access.get_user(request)
    key = request_fields.parse_uuid(request_fields.parse(request, "job"), "job")
    if key is None:
        raise BadRequest(gettext("“%(name)s” can’t be empty.") % {"name": "job"})
    job = ImportJob.objects.owned_by(user).filter(pk=key).first()
    if job is None:
        raise NotFound(gettext("This import doesn’t exist."))
    return job


def _start(request: HttpRequest) -> ImportJob:
    job = _job_of_form(request)
    ready = ImportJob.objects.filter(pk=job.pk, state=JobState.READY)
    with write_lock():
        started = ready.update(state=JobState.IMPORTING, claim=None, beat=None, processed=0)
    if not started and job.state != JobState.IMPORTING:
        raise Conflict(gettext("This import can’t be started any more. Choose the file again."))
    job.refresh_from_db()
    return job


def _changed(request: HttpRequest, job: ImportJob) -> HttpResponseBase:
    if is_form(request):
        return HttpResponseSeeOther(_section())
    return JsonResponse({"id": str(job.pk), "state": job.state})


def _section() -> str:
    """Return the address of the import on its page, which may be below the end of a small window."""
    return f"{reverse('chat:data')}#import"


BUSY = _("Another upload of yours is still arriving. Wait for it, or close its page.")
EXPIRED = _("This page had expired. Choose the file again.")
# The reasons for a refusal of an upload, by their names in the query of this page: those of the server
# (chatsite/server/large_bodies.py), and those of `upload` (PROBLEM_OF_REFUSAL).
PROBLEM_SENTENCES: dict[str, Callable[[], str | Promise]] = {
    "large": too_large,
    "busy": lambda: BUSY,
    "full": unwritable,
    "empty": empty_file,
    "expired": lambda: EXPIRED,
    "open": another_is_open,
    "many": too_many_today,
}


@access.require_methods("GET", "HEAD", page=True)
def data(request: HttpRequest) -> HttpResponse:
    """Show what can be exported, and the person's import: its form, its preview, its progress or its end."""
    user = access.get_user(request)
    context: dict[str, Any] = {
        "problem": _problem(request),
        "limit": import_files.max_file_bytes() // MEBIBYTE,
    }
    if context["limit"]:
        context |= _import(newest(user))
        context["permit"] = import_files.permit(user.pk)
    response = render_section(request, "data", "settings/data.html", context)
    response["Cache-Control"] = "no-store"
    return response


def _problem(request: HttpRequest) -> str | Promise:
    """Return the reason for which the server has just refused an upload and redirected to this page."""
    found = PROBLEM_SENTENCES.get(request.GET.get("problem", ""))
    return found() if found else ""


def _import(job: ImportJob | None) -> dict[str, Any]:
    if job is None:
        return {"job": None}
    preview = job.preview
    skipped = preview.get("skipped", {})
    left_out = preview.get("lost", preview.get("without", {}))
    sources = preview.get("sources", ())
    reasons = problems.CONVERSATION_PROBLEMS
    return {
        "job": job,
        "size": filesizeformat(job.size),
        "preview": preview,
        "sources": ", ".join(problems.FORMAT_NAMES.get(source, source) for source in sources),
        "skipped": [(gettext(reasons[code]), number) for code, number in skipped.items()],
        "left_out": list(_by_kind(left_out)),
        "refused": job.problem and gettext(problems.FILE_PROBLEMS[job.problem]),
    }


def _by_kind(left_out: dict[str, Any]) -> Iterator[tuple[str, int, list[str], int]]:
    """Yield of each kind of content its label, how many there are, some names, and how many more."""
    for kind, label in problems.LEFT_OUT.items():
        if found := left_out.get(kind):
            yield gettext(label), found["count"], found["names"], found["count"] - len(found["names"])
