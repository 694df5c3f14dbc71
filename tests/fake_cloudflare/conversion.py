"""Cloudflare's conversion of documents to Markdown: what is converted, what fails alone, what is refused.

A document that holds `fake: error 3040` is answered with that error, `fake: not JSON` with a page of HTML.
https://developers.cloudflare.com/workers-ai/features/markdown-conversion/supported-formats/
"""

import email.policy
import io
import re
import uuid
import zipfile
from email.message import EmailMessage
from email.parser import BytesParser
from typing import Any

from tests.fake_cloudflare.errors import HTML, error
from tests.fake_cloudflare.http_server import Request
from tests.fake_cloudflare.models import envelope

OPEN, OFFICE = "application/vnd.oasis.opendocument", "application/vnd.openxmlformats-officedocument"
TYPES = {
    ".pdf": "application/pdf",
    ".jpeg": "image/jpeg",
    ".jpg": "image/jpeg",
    ".png": "image/png",
    ".webp": "image/webp",
    ".svg": "image/svg+xml",
    ".html": "text/html",
    ".htm": "text/html",
    ".xml": "application/xml",
    ".xlsx": f"{OFFICE}.spreadsheetml.sheet",
    ".xlsm": "application/vnd.ms-excel.sheet.macroenabled.12",
    ".xlsb": "application/vnd.ms-excel.sheet.binary.macroenabled.12",
    ".xls": "application/vnd.ms-excel",
    ".et": "application/vnd.ms-excel",
    ".docx": f"{OFFICE}.wordprocessingml.document",
    ".ods": f"{OPEN}.spreadsheet",
    ".odt": f"{OPEN}.text",
    ".csv": "text/csv",
    ".numbers": "application/vnd.apple.numbers",
}
SUPPORTED = [{"extension": extension, "mimeType": kind} for extension, kind in TYPES.items()]
LARGEST_FORM = 20_000_000  # bytes; Cloudflare publishes no number
WANTED_ERROR = re.compile(rb"fake: error (\d+)")


def conversion(request: Request) -> tuple[int, object]:
    """Return the status and the body of the response."""
    if len(request.body) > LARGEST_FORM:
        return error(3006)
    files = _files(request)
    if not files:
        return error(8001, message="AiError: Invalid input: files are required")
    for _name, _kind, content in files:
        if found := WANTED_ERROR.search(content):
            return error(int(found[1]))
        if b"fake: not JSON" in content:
            return 200, HTML
    return 200, envelope([_result(*file) for file in files])


def _files(request: Request) -> list[tuple[str, str, bytes]]:
    """Return name, type and content of the files in the form; none if it is malformed."""
    head = f"Content-Type: {request.headers.get('content-type', '')}\r\n\r\n".encode()
    form = BytesParser(policy=email.policy.HTTP).parsebytes(head + request.body)
    if form.get_content_type() != "multipart/form-data" or form.defects:
        return []
    parts = [part for part in form.iter_parts() if isinstance(part, EmailMessage)]
    found = [part for part in parts if part.get_param("name", header="content-disposition") == "files"]
    return [(str(part.get_filename()), part.get_content_type(), _bytes(part)) for part in found]


def _bytes(part: EmailMessage) -> bytes:
    content = part.get_payload(decode=True)
    return content if isinstance(content, bytes) else b""


def _result(name: str, kind: str, content: bytes) -> dict[str, Any]:
    told = {"id": str(uuid.uuid4()), "name": name, "mimeType": kind}
    if kind not in TYPES.values() or f".{name.rpartition('.')[2]}" not in TYPES:
        return told | {"format": "error", "error": f"Unsupported file type: {kind}"}
    try:
        text = _text(content)
    except (zipfile.BadZipFile, KeyError):
        return told | {"format": "error", "error": "The file could not be converted"}
    return told | {"format": "markdown", "tokens": len(text) // 4, "data": f"# {name}\n\n{text}"}


def _text(content: bytes) -> str:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return re.sub("<[^>]*>", "", archive.read("content.xml").decode())
