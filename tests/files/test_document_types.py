"""The type of a document: its content tells it, and its name only where the content leaves a choice."""

import io
import struct
import tempfile
import time
import zipfile

import pytest

from chat.files.document_types import DOC, DOCUMENT_TYPES, DOCX, PPTX, XLS, XLSX, guess
from chat.files.extraction import extract
from chat.files.problems import Unreadable
from tests.files import documents, pictures
from tests.files.extracting import extracted

MAIL = b"Received: by e.org\n for b\nMIME-Version: 1.0\nFrom: a@e.org\n\nHello"
NUMBER = documents.record(0x203, struct.pack("<HHHd", 0, 0, 0, 1.5))
ODT = "application/vnd.oasis.opendocument.text"


def stored(parts: dict[str, str]) -> bytes:
    """An archive that is not compressed."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return target.getvalue()


@pytest.mark.parametrize(
    ("name", "head", "wanted"),
    [
        ("report.pdf", documents.pdf("x"), "application/pdf"),
        ("report.docx", documents.pdf("x"), "application/pdf"),
        ("report", documents.pdf("x"), "application/pdf"),
        ("old.pdf", b"\x00junk" + documents.pdf("x"), "application/pdf"),
        ("a.DOCX", documents.docx("x"), DOCX),
        ("macros.docm", documents.docx("x"), DOCX),
        ("new.doc", documents.docx("x"), DOC),
        ("a.xlsx", documents.xlsx(One=[["x"]]), XLSX),
        ("a.xls", documents.OLE, "application/vnd.ms-excel"),
        ("with-password.docx", documents.OLE, DOCX),
        ("a.odt", documents.package({"mimetype": ODT}), ODT),
        ("a", stored({"mimetype": ODT, "content.xml": "x"}), ODT),
        ("a.docx", stored({"mimetype": ODT, "content.xml": "x"}), ODT),
        ("report", documents.docx("x"), DOCX),
        ("v1.2 (final)", documents.docx("x"), DOCX),
        ("a.zip", documents.docx("x"), DOCX),
        ("report", documents.OLE, DOC),
        ("a.html", b"<p>x", "text/html"),
        ("page", b"<!-- saved -->\n<!DOCTYPE html><p>x", "text/html"),
        ("page", b"\xef\xbb\xbf<!DOCTYPE html><p>x", "text/html"),
        ("a.md", b"# x", "text/markdown"),
        ("a.csv", b"a,b", "text/csv"),
        ("a.json", b"{}", "application/json"),
        ("a.py", b'PDF = "%PDF-"', "text/plain"),
        ("Makefile", b"all:\n\techo", "text/plain"),
        ("a.pdf", b"not a PDF", "text/plain"),
        ("a.txt", "Grüße".encode("latin-1"), "text/plain"),
        ("a.txt", "Grüße".encode("utf-16"), "text/plain"),
        ("a.txt", "Greetings".encode("utf-16-le"), "text/plain"),
        ("a.eml", b"anything", "message/rfc822"),
        ("a.mht", MAIL, "multipart/related"),
        ("mail", MAIL, "message/rfc822"),
        ("mail.txt", MAIL, "message/rfc822"),
        ("mailbox", b"From a@e.org Mon Jan  1 00:00:00 2026\n" + MAIL, "message/rfc822"),
        ("page.doc", b"MIME-Version: 1.0\nContent-Type: multipart/related; boundary=x\n\n", "message/rfc822"),
        ("table.xls", b"<html><table>", "text/html"),
        ("a.txt", b"Subject: x\nFrom: y\n\nA note.", "text/plain"),
        ("a.yaml", MAIL, "application/yaml"),
        ("a.txt", b"Name: x\n" * 400 + b"\nMIME-Version: 1\nFrom: x", "text/plain"),
        ("a.ipynb", b"{}", "application/x-ipynb+json"),
        ("session.log", b"\x1b[31mred\x1b[0m", "text/plain"),
    ],
)
def test_the_content_tells_the_type(name: str, head: bytes, wanted: str) -> None:
    assert guess(name, head[:4_096]) == wanted
    assert wanted in DOCUMENT_TYPES


@pytest.mark.parametrize(
    ("name", "head"),
    [
        ("empty.txt", b""),
        ("a.zip", documents.package({"a": "x"})),
        ("a.txt", documents.package({"a": "x"})),
        ("a.epub", documents.package({"mimetype": "application/epub+zip"})),
        ("a.exe", b"MZ\x90\x00\x03"),
        ("a.txt", b"\x7fELF\x02\x01"),
        ("a.rtf", b"{\\rtf1 x}"),
        ("a.pdf", pictures.jpeg()),
        ("a.txt", pictures.png()),
        ("a.txt", bytes(100)),
        ("a.heic", b"\0\0\0\x18ftypheic"),
    ],
)
def test_other_content_is_no_document(name: str, head: bytes) -> None:
    assert guess(name, head[:4_096]) is None


@pytest.mark.parametrize(
    ("name", "head", "savable"),
    [
        ("a.rtf", b"{\\rtf1 x}", True),
        ("letter", b"{\\rtf1 x}", True),
        ("a.ps", b"%!PS-Adobe-3.0", True),
        ("a.epub", documents.package({"mimetype": "application/epub+zip"}), True),
        ("a.odp", documents.package({"mimetype": "application/vnd.oasis.opendocument.presentation"}), True),
        ("report", documents.package({"[Content_Types].xml": "<Types/>"}), True),
        ("a.key", documents.package({"Index/Document.iwa": "x"}), True),
        ("a.vsd", documents.OLE, True),
        ("a.zip", documents.package({"a": "x"}), False),
        ("a.zip", documents.package({"word/list.txt": "x"}), False),
        ("a.mp3", b"ID3\x04\x00\x00", False),
        ("a.rtf", b"ID3\x04\x00\x00", False),
        ("a.tiff", b"II*\x00\x08\x00", False),
    ],
)
def test_only_documents_are_advised_to_be_saved_as_another_type(
    name: str, head: bytes, savable: bool
) -> None:
    with tempfile.TemporaryFile() as file:
        file.write(head)
        with pytest.raises(Unreadable) as refused:
            extract(file, name)
    assert ("Save it as PDF or DOCX" in refused.value.message) is savable
    assert ("JPEG" in refused.value.message) is not savable


@pytest.mark.parametrize("name", ["a.msg", "a", "a.doc"])
def test_a_message_of_outlook_has_to_be_saved_as_another_type(name: str) -> None:
    with tempfile.TemporaryFile() as file:
        file.write(documents.ole("__properties_version1.0", bytes(600)))
        with pytest.raises(Unreadable, match="EML"):
            extract(file, name)


@pytest.mark.parametrize("name", ["a", "a.txt", "a.zip", "a.docx", "a.xls"])
def test_an_office_file_is_told_by_its_content(name: str) -> None:
    made = (documents.docx("x"), DOCX), (documents.xlsx(One=[["x"]]), XLSX), (documents.pptx("x"), PPTX)
    for content, wanted in made:
        assert extracted(content, name).media_type == wanted
    assert extracted(documents.xls(b"", NUMBER), name).media_type == XLS


def test_a_head_of_comments_takes_no_time() -> None:
    before = time.process_time()
    assert guess("page", b"<!---->" * 585) == "text/plain"
    assert time.process_time() - before < 1
