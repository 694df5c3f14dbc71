"""The text of documents: page by page, clean, and in words where there is none."""

import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from chat.exceptions import RequestError
from chat.files import decoding, extraction, reading
from chat.files.confined import documents as confined
from chat.files.confined.text_encoding import decoded
from chat.files.document_types import DOCX, PPTX, XLSX
from chat.files.extraction import Extracted, NeedsConversion, converted
from tests.files import documents, pictures
from tests.files.extracting import extracted, refused

LEGACY = Path(__file__).with_name("legacy.xls")


def text(content: bytes) -> str:
    """Return a plain text as `extracted` reads it, without the child process."""
    return confined.cleaned(decoded(content))


WEB_PAGE = """<!doctype html><html><head><title>T</title><style>p{}</style><body onload="x()"><h1>Head</h1>
<p>One <b>bold</b>&nbsp;word<br>and &lt;more&gt;</p><script>alert(1)</script><ul><li>first<li>second</ul>
<table><tr><td>a<td>b</tr></table><noscript>off</noscript>end"""
CELLS = "".join(f"<w:tc>{documents.paragraph(cell)}</w:tc>" for cell in "ab")
BODY = f"{documents.paragraph('Grüße &amp; more')}<w:tbl><w:tr>{CELLS}</w:tr></w:tbl>"
SHEETS = {"Costs": [["name", "## price"], ["x", "1.5"]], "Second": [["far"]]}
NOTEBOOK = b'{"cells": [{"cell_type": "code", "source": "print(1)"}]}'


@pytest.mark.parametrize(
    ("name", "content", "media_type", "pages"),
    [
        ("a.txt", documents.pdf("The first page", "", r"Überschuß \(no 3\)"), "application/pdf",
         ["The first page", "", "Überschuß (no 3)"]),
        ("a.docx", documents.docx(body=BODY), DOCX, ["Grüße & more\n\n| a | b |\n| --- | --- |"]),
        ("a.xlsx", documents.xlsx(**SHEETS), XLSX,
         ["## Costs\n\n| name | ## price |\n| --- | --- |\n| x | 1.5 |", "## Second\n\n| far |\n| --- |"]),
        ("a.pptx", documents.pptx("## Slide 2", "", "the end"), PPTX,
         ["## Slide 1\n\n## Slide 2", "## Slide 2", "## Slide 3\n\nthe end"]),
        ("a.html", WEB_PAGE.encode(), "text/html",
         ["T\n\n# Head\n\nOne bold\xa0word\nand <more>\n\n- first\n- second\n\n"
          "| a | b |\n| --- | --- |\n\nend"]),
        ("a.eml", b"From: a@e.org\nMIME-Version: 1.0\n\n\nHello", "message/rfc822",
         ["From: a@e.org\n\nHello"]),
        ("a.ipynb", NOTEBOOK, "application/x-ipynb+json", ["```\nprint(1)\n```"]),
        ("a.ipynb", b'{"cells": [', "application/x-ipynb+json", ['{"cells": [']),
    ],
    ids=range(8),
)  # fmt: skip
def test_a_document_is_read_in_the_child(
    name: str, content: bytes, media_type: str, pages: list[str]
) -> None:
    assert extracted(content, name) == Extracted(media_type, tuple(pages))


def test_an_old_workbook() -> None:
    found = extracted(LEGACY.read_bytes(), "old.xls")
    assert (found.media_type, "| legacy |" in found.pages[0]) == ("application/vnd.ms-excel", True)


def test_a_text_is_clean() -> None:
    assert text("a\x1b[31mb\x1b[0m  \r\n\n\n\n\nc\ufeff\x0bd\u2028e\xadf\x08\n".encode()) == "ab\n\nc\nd\nef"
    assert confined.cleaned("exam\x02\r\nple\ufffes\ud800\x00\x85") == "examples"


@pytest.mark.parametrize(
    ("name", "content", "refusal"),
    [
        ("a.exe", b"MZ\x90\0", "415 not_a_document"),
        ("a.txt", b"text" * 2_000 + bytes(9_000), "415 not_a_document"),
        ("a.txt", "Привет".encode("koi8-r"), "422 uncertain_encoding"),
        ("a.docx", documents.package({"a": "x"}), "415 not_a_document"),
        ("a.doc", documents.OLE + bytes(600), "415 not_a_document"),
        ("a.docx", documents.docx("x")[:300], "422 broken_document"),
        ("a.docx", documents.docx(**{"word__document.xml": "<"}), "422 broken_document"),
        ("a.pdf", b"%PDF-1.7\nnothing", "422 broken_document"),
        ("a.docx", documents.encrypted_office(), "422 encrypted_document"),
        ("scan.pdf", documents.pdf("", ""), "422 no_text"),
        ("a.txt", b" \n\t", "422 no_text"),
        ("a.docx", documents.docx(""), "422 no_text"),
        ("long.pdf", documents.pdf(*["x"] * 2_001), "422 too_many_pages"),
        ("long.txt", b"x" * 4_000_001, "422 document_too_long"),
    ],
    ids=range(14),
)
def test_unreadable_files_are_refused(name: str, content: bytes, refusal: str) -> None:
    assert refused(content, name) == refusal


def test_a_type_that_cloudflare_reads() -> None:
    odt = documents.package({"mimetype": "application/vnd.oasis.opendocument.text"})
    with pytest.raises(NeedsConversion) as error:
        extracted(odt, "a.odt")
    assert error.value.media_type == "application/vnd.oasis.opendocument.text"


def test_converted_documents_have_the_same_limits() -> None:
    assert converted("text/x", "\r\na\0b\r\n").pages == ("ab",)
    for markdown, code in (("x" * 4_000_001, "document_too_long"), (" \0", "no_text")):
        with pytest.raises(RequestError) as error:
            converted("text/x", markdown)
        assert error.value.code == code


TAKEN = [
    *((b"x", "extraction.DOCUMENT_READER", "422 broken_document", written) for written in (
        b'{"form": "pdf", "pages": []}',
        b'{"form": "pdf", "pages": [""]}',
        b'{"form": "pdf", "pages": [1]}',
        b'{"form": "pdf", "pages": "x"}',
        b'{"form": 1, "pages": ["x"]}',
        b'{"form": "pdf", "pages": ["a\\u0000"]}',
        b'{"form": "pdf", "pages": ["\\ud800"]}',
        b'{"form": "pdf", "pages": [' + b'"x",' * 2_000 + b'"x"]}',
        b"[" * 100_000,
        b'{"x": ' + b"[" * 2_000,
        b"",
        b"\xff",
    )),
    *((pictures.jpeg(), "decoding.PICTURE_READER", "422 broken_picture", written) for written in (
        b'{"media_type": "text/html", "width": 9, "height": 9}\n<script>',
        b'{"media_type": "image/png", "width": 9, "height": 9}\n<script>',
        b'{"media_type": "image/jpeg", "width": -9, "height": 9}\n\xff\xd8\xff',
        b'{"media_type": "image/jpeg", "width": "9", "height": 9}\n\xff\xd8\xff\xff\xd9',
        b'{"media_type": "image/jpeg", "width": 9, "height": 9}\n\xff\xd8\xff',  # it has no end
        b'{"media_type": "image/jpeg"}\n\xff\xd8\xff',
        b"[1]\n\xff\xd8\xff",
        b"[" * 100_000,
    )),
]  # fmt: skip


@pytest.mark.parametrize(("content", "reader", "refusal", "written"), TAKEN, ids=range(len(TAKEN)))
def test_a_childs_output_is_not_trusted(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Any, content: bytes, reader: str, refusal: str, written: bytes
) -> None:
    (tmp_path / "taken.py").write_text(f"import sys\nsys.stdout.buffer.write({written!r})")
    monkeypatch.setattr(f"chat.files.{reader}", tmp_path / "taken.py")
    assert refused(content, read=reading.read) == refusal


@pytest.mark.parametrize(
    ("read", "written"),
    [
        (lambda written: extraction._checked(written, "application/pdf"),
         b'{"form": "pdf", "pages": [' + b"[]," * 1_000_000 + b"[]]}"),
        (decoding._checked, b"[" + b"{}," * 1_000_000 + b"{}]"),
    ],
    ids=["document", "picture"],
)  # fmt: skip
def test_tiny_values_of_a_child_take_no_memory(read: Callable[[bytes], object], written: bytes) -> None:
    tracemalloc.start()
    with pytest.raises(RequestError):
        read(written)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 2 * len(written)
