"""Imports of made files, step by step."""

import io
import json
import zipfile
from typing import Any

from chat.models import ImportJob, User
from chat.transfer import jobs, step, uploads
from chat.transfer.attachments import ConvertDocument, refuse_conversion
from chat.transfer.jobs import Stop


def zipped(files: dict[str, Any], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", method) as archive:
        for name, value in files.items():
            archive.writestr(name, value if isinstance(value, str | bytes) else json.dumps(value))
    return made.getvalue()


def uploaded(user: User, value: Any) -> ImportJob:
    data = value if isinstance(value, bytes) else json.dumps(value).encode()
    job = ImportJob.objects.create(user=user, file_name="export.json", size=len(data))
    uploads.path_of(job.pk).write_bytes(data)
    return job


def never() -> bool:
    return False


def work(stop: Stop = never, convert: ConvertDocument = refuse_conversion) -> bool:
    """Do one step of an import; False if none waits."""
    job = jobs.claim()
    if job:
        step.work(job, stop, convert)
    return job is not None


def start(job: ImportJob) -> None:
    ImportJob.objects.filter(pk=job.pk).update(
        state=ImportJob.State.IMPORTING, claim=None, beat=None, processed=0
    )


def imported(user: User, value: Any, convert: ConvertDocument = refuse_conversion) -> ImportJob:
    job = uploaded(user, value)
    work()
    start(job)
    work(convert=convert)
    job.refresh_from_db()
    return job
