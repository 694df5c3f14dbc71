"""Imports of made files, step by step."""

import json
from typing import Any

from chat.models import ImportJob, User
from chat.transfer import jobs, uploads
from chat.transfer.attachments import ConvertDocument, refuse_conversion


def uploaded(user: User, value: Any) -> ImportJob:
    data = value if isinstance(value, bytes) else json.dumps(value).encode()
    job = ImportJob.objects.create(user=user, file_name="export.json", size=len(data))
    uploads.path_of(job.pk).write_bytes(data)
    return job


def never() -> bool:
    return False


def start(job: ImportJob) -> None:
    ImportJob.objects.filter(pk=job.pk).update(
        state=ImportJob.State.IMPORTING, claim=None, beat=None, processed=0
    )


def imported(user: User, value: Any, convert: ConvertDocument = refuse_conversion) -> ImportJob:
    job = uploaded(user, value)
    jobs.work(never)
    start(job)
    jobs.work(never, convert)
    job.refresh_from_db()
    return job
