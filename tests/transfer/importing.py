"""Imports of made files, step by step."""

import io
import json
import zipfile
from collections.abc import Callable
from typing import IO, Any, NoReturn

from chat.db.batches import Stop
from chat.files.extraction import NeedsConversion
from chat.models import ImportJob, User
from chat.transfer import import_files, importing, jobs
from chat.transfer.attachments import ConvertDocument


def zipped(files: dict[str, Any], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", method) as archive:
        for name, value in files.items():
            archive.writestr(name, value if isinstance(value, str | bytes) else json.dumps(value))
    return made.getvalue()


def changed(data: bytes, change: Callable[[str, bytes], bytes | None]) -> bytes:
    """The archive with each entry's bytes replaced by `change(name, bytes)`; None leaves it out."""
    target = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(target, "w") as new:
        for name in old.namelist():
            content = change(name, old.read(name))
            if content is not None:
                new.writestr(name, content)
    return target.getvalue()


def with_attachments(data: bytes, content: bytes) -> bytes:
    """The archive with this content of each attachment."""
    return changed(data, lambda name, old: content if name.startswith("attachments/") else old)


def uploaded(user: User, value: Any) -> ImportJob:
    data = value if isinstance(value, bytes) else json.dumps(value).encode()
    job = ImportJob.objects.create(user=user, file_name="export.json", size=len(data))
    import_files.path_of(job.pk).write_bytes(data)
    return job


def never() -> bool:
    return False


def refuse_conversion(person: int, file: IO[bytes], needed: NeedsConversion) -> NoReturn:
    """Stand for the conversion of documents where no server runs."""
    raise needed


def work(stop: Stop = never, convert: ConvertDocument = refuse_conversion) -> bool:
    """Do one step of an import; False if none waits."""
    job = jobs.claim()
    if job:
        importing.work(job, stop, convert)
    return job is not None


def start(job: ImportJob) -> None:
    ImportJob.objects.filter(pk=job.pk).update(
        state=ImportJob.State.IMPORTING, claim=None, beat=None, processed=0
    )


def checked(user: User, value: Any) -> ImportJob:
    job = uploaded(user, value)
    work()
    job.refresh_from_db()
    return job


def started(user: User, value: Any) -> ImportJob:
    """Upload and check a file, and start its import."""
    job = uploaded(user, value)
    work()
    start(job)
    return job


def imported(user: User, value: Any, convert: ConvertDocument = refuse_conversion) -> ImportJob:
    job = started(user, value)
    work(convert=convert)
    job.refresh_from_db()
    return job
