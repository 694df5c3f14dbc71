"""The types of documents whose text is read: by which reader, and how their content tells them."""

import codecs
import re
import struct
from dataclasses import dataclass
from typing import Literal

from .confined.text_encoding import is_binary, mark_of, wide_encoding

Reader = Literal["pdf", "office", "html", "mail", "notebook", "text", "cloudflare"]
TYPE_HEAD_BYTES = 4_096  # what `guess` needs to see of a file
MAX_PDF_OFFSET = 1_024  # of its signature, as other readers allow
SPACE = codecs.BOM_UTF8 + b" \t\r\n"

PDF_SIGNATURE, ZIP_SIGNATURE, OLE_SIGNATURE = b"%PDF-", b"PK\x03\x04", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
# Formats that look like text and are not: RTF, PostScript.
MARKED_TEXT = (b"{\\rtf", b"%!PS")
HTML = re.compile(
    rb"\s*+(?>(?>(?><!--.*?-->)|<\?xml[^>]*+>)\s*+)*+<(?:!doctype\s+html|html)\b", re.IGNORECASE | re.DOTALL
)
# The head of mail (RFC 5322), or of a page saved as such (MHTML). Other texts may have "Subject:" as well.
FIELD = rb"[A-Za-z][A-Za-z0-9-]*:[^\r\n]*\r?\n(?:[ \t][^\r\n]*\r?\n)*"
MAIL = re.compile(
    rb"(?:From [^\r\n]*\r?\n)?(?=(?:%s)*?(?:MIME-Version|Message-ID|Received):)(?:%s)*?"
    rb"(?:From:|Content-Type:\s*multipart/)" % (FIELD, FIELD),
    re.IGNORECASE,
)
# Of an archive: the header of its first file, up to that name (APPNOTE 4.3.7).
FIRST_IN_ZIP = struct.Struct("<4s14xI4xHH")
# That is the type in OpenDocument and EPUB. Office files hold one of the others, and begin with any of them.
MIMETYPE = b"mimetype"
FIRST_IN_OFFICE = re.compile(rb"\[Content_Types\]\.xml|_rels/|docProps/|customXml/|word/|xl/|ppt/")
# Extensions of other documents in such archives: Apple's, Microsoft's.
SAVABLE = ("pages", "key", "pub", "vsd", "wps", "xps")


@dataclass(frozen=True, slots=True)
class DocumentType:
    """`extensions`: without dots, the usual one first. `reader`: what takes the text."""

    media_type: str
    extensions: tuple[str, ...]
    reader: Reader

    @property
    def is_converted(self) -> bool:
        """Return True if Cloudflare takes the text, see `extraction.convert`."""
        return self.reader == "cloudflare"

    @property
    def is_text(self) -> bool:
        return self.reader not in ("cloudflare", "office", "pdf")


OFFICE = "application/vnd.openxmlformats-officedocument"
DOCX, XLSX, PPTX = (
    f"{OFFICE}.{name}"
    for name in ("wordprocessingml.document", "spreadsheetml.sheet", "presentationml.presentation")
)
DOC, XLS, PPT = "application/msword", "application/vnd.ms-excel", "application/vnd.ms-powerpoint"
PDF_TYPE, MAIL_TYPE, PLAIN = "application/pdf", "message/rfc822", "text/plain"

KNOWN_DOCUMENT_TYPES = (
    DocumentType(PDF_TYPE, ("pdf",), "pdf"),
    DocumentType(DOCX, ("docx", "docm", "dotx", "dotm"), "office"),
    DocumentType(XLSX, ("xlsx", "xlsm", "xltx", "xltm"), "office"),
    DocumentType(PPTX, ("pptx", "pptm", "ppsx", "ppsm", "potx"), "office"),
    DocumentType(DOC, ("doc", "dot"), "office"),
    DocumentType(XLS, ("xls", "xlt"), "office"),
    DocumentType(PPT, ("ppt", "pps"), "office"),
    DocumentType("text/html", ("html", "htm", "xhtml"), "html"),
    DocumentType(MAIL_TYPE, ("eml", "emlx", "mbox"), "mail"),
    DocumentType("multipart/related", ("mhtml", "mht"), "mail"),
    DocumentType("application/x-ipynb+json", ("ipynb",), "notebook"),
    DocumentType("text/markdown", ("md", "markdown"), "text"),
    DocumentType("text/csv", ("csv",), "text"),
    DocumentType("text/tab-separated-values", ("tsv",), "text"),
    DocumentType("application/json", ("json", "jsonl", "ndjson"), "text"),
    DocumentType("application/yaml", ("yaml", "yml"), "text"),
    DocumentType("application/xml", ("xml",), "text"),
    DocumentType("application/toml", ("toml",), "text"),
    DocumentType(PLAIN, ("txt", "text", "log"), "text"),
    # Cloudflare's list, https://developers.cloudflare.com/workers-ai/features/markdown-conversion/supported-formats/
    DocumentType("application/vnd.oasis.opendocument.text", ("odt",), "cloudflare"),
    DocumentType("application/vnd.oasis.opendocument.spreadsheet", ("ods",), "cloudflare"),
    DocumentType("application/vnd.ms-excel.sheet.binary.macroenabled.12", ("xlsb",), "cloudflare"),
    DocumentType("application/vnd.apple.numbers", ("numbers",), "cloudflare"),
)
DOCUMENT_TYPES = {each.media_type: each for each in KNOWN_DOCUMENT_TYPES}
BY_EXTENSION = {extension: each for each in KNOWN_DOCUMENT_TYPES for extension in each.extensions}
IN_ZIP = {each.media_type for each in KNOWN_DOCUMENT_TYPES if each.reader == "cloudflare"} | {
    DOCX,
    XLSX,
    PPTX,
}
IN_OLE = {DOC, XLS, PPT, DOCX, XLSX, PPTX}  # the latter three when they are encrypted


def guess(name: str, head: bytes) -> str | None:
    """Return the media type of a document by its first `TYPE_HEAD_BYTES` bytes and its extension.

    None if no reader takes its text. The client's content type is ignored, and the extension decides only
    between types that the content allows. Any other text is plain text, such as source code. Which type an
    Office file has is found by its reader, which sees all of it.
    """
    extension = name.rpartition(".")[2].lower()
    kind = BY_EXTENSION.get(extension)
    named = kind.media_type if kind else ""
    if head.startswith(ZIP_SIGNATURE):
        if (stated := _mimetype(head)) in IN_ZIP:
            return stated
        is_office = FIRST_IN_OFFICE.match(head, FIRST_IN_ZIP.size) and extension not in SAVABLE
        return named if named in IN_ZIP | IN_OLE else DOCX if is_office else None
    if head.startswith(OLE_SIGNATURE):
        return named if named in IN_OLE else None if extension in SAVABLE else DOC
    if head.lstrip(SPACE).startswith(PDF_SIGNATURE) or (
        named == PDF_TYPE and PDF_SIGNATURE in head[: MAX_PDF_OFFSET + len(PDF_SIGNATURE)]
    ):
        return PDF_TYPE
    if not head or head.startswith(MARKED_TEXT) or not is_text(head):
        return None
    if kind and kind.is_text and named != PLAIN:
        return named
    if MAIL.match(head.lstrip(SPACE)):
        return MAIL_TYPE
    return "text/html" if named != PLAIN and HTML.match(head.lstrip(SPACE)) else PLAIN


def refusal(name: str, head: bytes) -> str:
    """Return why no reader takes the text, by the beginning of the file and its extension.

    "savable": a document that its own program can save as PDF. "type": anything else.
    """
    is_contained = head.startswith((OLE_SIGNATURE, ZIP_SIGNATURE))
    is_savable = is_contained and name.rpartition(".")[2].lower() in SAVABLE
    return "savable" if is_savable or _mimetype(head) or head.startswith(MARKED_TEXT) else "type"


def _mimetype(head: bytes) -> str:
    """Return the type that an archive states at its beginning, as OpenDocument does; "" if it does not.

    Careless programs compress it, then what is returned is no type.
    """
    if not head.startswith(ZIP_SIGNATURE) or len(head) < FIRST_IN_ZIP.size:
        return ""
    _signature, size, name_size, extra_size = FIRST_IN_ZIP.unpack_from(head)
    start = FIRST_IN_ZIP.size + name_size
    if head[FIRST_IN_ZIP.size : start] != MIMETYPE:
        return ""
    return head[start + extra_size :][:size].decode("latin-1").strip()


def is_text(head: bytes) -> bool:
    return mark_of(head) is not None or wide_encoding(head) is not None or not is_binary(head)
