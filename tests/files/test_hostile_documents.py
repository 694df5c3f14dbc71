"""Documents made to harm: each ends in a text or a refusal, within the limits."""

import random
import zlib
from contextlib import suppress

import pytest

from chat.exceptions import RequestError
from chat.files.document_types import DOCX
from tests.files import documents, pdfs
from tests.files.extracting import extracted, refused

DEEP = 100_000
ENTITIES = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 12))
LAUGHS = f'<!DOCTYPE x [<!ENTITY l0 "lol">{ENTITIES}]>'
EXTERNAL = '<!DOCTYPE x [<!ENTITY l11 SYSTEM "file:///etc/passwd">]>'


FORM = pdfs.page(
    (50, 700, "Name"),
    (300, 700, "Card"),
    annotations=[
        pdfs.text_field("150 695 250 712", "(Ingrid)"),
        "/Subtype /Widget /Rect [280 698 294 712] /FT /Btn /T (b) /V /Yes /AS /Yes",
        "/Subtype /Highlight /Rect [50 698 80 710] /Contents (why?)",
        pdfs.link("50 698 80 710", "https://e.org/"),
    ],
)


def outcome(content: bytes, name: str) -> str:
    """The text, or the code of the refusal. A child that was killed for its memory counts as broken."""
    try:
        return "\n".join(extracted(content, name).pages)
    except RequestError as error:
        return error.code


def test_an_archive_that_unpacks_to_too_much_is_refused() -> None:
    bomb = documents.docx("x", word__media__a=bytes(301_000_000))
    assert len(bomb) < 400_000
    assert refused(bomb, "a.docx") == "422 document_too_long"


def test_an_archive_that_lies_about_its_size_is_bounded() -> None:
    body = f"<w:p><w:r><w:t>{'x' * 100_000_000}</w:t></w:r></w:p>"
    bomb = documents.understated(documents.docx(body=body), "word/document.xml", 1_000)
    assert outcome(bomb, "a.docx") in ("broken_document", "document_too_long", "document_took_too_long")


def test_an_archive_of_too_many_parts_is_refused() -> None:
    bomb = documents.package({"word/document.xml": "x"} | {f"word/{n}": "" for n in range(20_001)})
    assert refused(bomb, "a.docx") == "422 document_too_long"


@pytest.mark.parametrize("doctype", [LAUGHS, EXTERNAL], ids=["laughs", "external"])
def test_entities_are_not_followed(doctype: str) -> None:
    found = outcome(documents.docx("before &l11; after", doctype=doctype), "a.docx")
    assert len(found) < 1_000
    assert "root:" not in found
    found = outcome(f"<?xml version='1.0'?>{doctype}<x>&l11;</x>".encode(), "a.xml")
    assert found.endswith("<x>&l11;</x>")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.docx", documents.docx(body="<w:tbl><w:tr><w:tc>" * DEEP)),
        ("a.docx", documents.docx(body="<w:sdt><w:sdtContent>" * DEEP + "</w:sdtContent></w:sdt>" * DEEP)),
        ("a.html", b"<html>" + b"<div>" * 9_000 + b"deep"),
        ("a.html", b"<html>" + b"<svg>" * DEEP + b"deep"),
        ("a.html", b"<html><" * DEEP),
        ("a.html", b"<?xml ?>" + b"<![CDATA[" * (DEEP // 9)),
        ("a.html", b"<?xml ?><a " + b" '" * DEEP),
        ("a.html", b"<style>" + b"/*" * DEEP),
        ("a.html", b"<style>" + b"@a{b{}" * DEEP),
        ("a.json", b"[" * DEEP),
        ("a.pdf", documents.pdf_of([b"<< /Type /Catalog /Pages " + b"[" * DEEP])),
    ],
    ids=range(11),
)
def test_deep_nesting_ends(name: str, content: bytes) -> None:
    assert len(outcome(content, name)) <= 2 * DEEP


def test_a_long_line_of_an_unknown_encoding_ends() -> None:
    found = outcome(b"x" * 300_000 + b"\n\xe9\x81", "a.txt")
    assert found not in ("document_took_too_long", "broken_document")


def test_a_pdf_whose_pages_are_in_a_loop_ends() -> None:
    loop = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R 3 0 R] /Count 4 >>",
        b"<< /Type /Pages /Kids [2 0 R 2 0 R] /Count 4 /Parent 2 0 R >>",
    ]
    assert outcome(documents.pdf_of(loop), "a.pdf") in ("broken_document", "no_text")


def test_a_pdf_that_draws_itself_ends() -> None:
    form = b"/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /X 4 0 R >> >>"
    loop = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents 4 0 R"
        b" /Resources << /XObject << /X 4 0 R >> >> >>",
        documents.stream(b"/X Do /X Do", form),
    ]
    assert outcome(documents.pdf_of(loop), "a.pdf") in ("broken_document", "no_text")


def test_a_pdf_of_huge_pages_and_streams_ends() -> None:
    def page(content: bytes) -> bytes:
        font = b"/Resources << /Font << /F << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >>"
        return documents.pdf_of(
            [
                b"<< /Type /Catalog /Pages 2 0 R >>",
                b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
                b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 1e30 1e30] /Contents 4 0 R %s >>" % font,
                documents.stream(zlib.compress(content, 9), b"/Filter /FlateDecode"),
            ]
        )

    assert outcome(page(b"BT /F 12 Tf 9 9 Td (huge) Tj ET"), "a.pdf") in ("huge", "no_text")
    bomb = page(b"BT /F 12 Tf (bomb) Tj ET" + b" " * 300_000_000)
    assert outcome(bomb, "a.pdf") in ("broken_document", "no_text", "document_took_too_long", "bomb")


def test_a_pdf_that_claims_too_many_pages_is_refused() -> None:
    claim = [b"<< /Type /Catalog /Pages 2 0 R >>", b"<< /Type /Pages /Kids [] /Count 100000 >>"]
    assert outcome(documents.pdf_of(claim), "a.pdf") in ("too_many_pages", "no_text", "broken_document")


def test_a_pdf_with_a_password_is_refused_as_such() -> None:
    keys = b"/Filter /Standard /V 1 /R 2 /P -4 /O <%s> /U <%s>" % (b"11" * 32, b"22" * 32)
    content = documents.pdf_of(
        [b"<< /Type /Catalog /Pages 2 0 R >>", b"<< /Type /Pages /Kids [] /Count 0 >>"],
        trailer=b"/Encrypt << %s >> /ID [<00> <00>]" % keys,
    )
    assert refused(content, "a.pdf") == "422 encrypted_document"


def test_scripts_and_embedded_files_are_left_alone() -> None:
    script = b"/OpenAction << /S /JavaScript /JS (app.alert\\(1\\)) >> /AA << /O << /S /Launch /F (sh) >> >>"
    assert extracted(documents.pdf("text", catalog=script), "a.pdf").pages == ("text",)
    macros = documents.docx("text", word__vbaProject=documents.OLE + b"Shell", word__embeddings__a=b"MZ")
    found = extracted(macros, "a.docm")
    assert (found.media_type, found.pages) == (DOCX, ("text",))
    assert extracted(b"<html><script>x()</script><body onload=y()>text", "a.html").pages == ("text",)


def test_a_file_of_two_types_is_read_as_one() -> None:
    both = documents.pdf("the pdf") + documents.docx("the docx")
    assert extracted(both, "a.docx").pages == ("the pdf",)
    assert "the pdf" not in outcome(documents.docx("the docx") + documents.pdf("the pdf"), "a.docx")


@pytest.mark.parametrize(
    "name", ["../../etc/passwd.docx", "a\\b.docx", "\0.docx", "x" * 9_000 + ".docx", ".docx"]
)
def test_a_name_opens_no_file(name: str) -> None:
    assert extracted(documents.docx("text"), name).pages == ("text",)


def test_parts_with_paths_open_no_file() -> None:
    content = documents.docx("text", **{"..__..__..__etc__passwd": b"x", "__etc__shadow": b"x"})
    assert extracted(content, "a.docx").pages == ("text",)


def test_a_font_that_is_rubbish_does_no_harm() -> None:
    font = b"<< /Type /Font /Subtype /TrueType /BaseFont /X /FontDescriptor 6 0 R >>"
    chance = random.Random(1)
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 99 99] /Contents 4 0 R"
        b" /Resources << /Font << /F 5 0 R >> >> >>",
        documents.stream(b"BT /F 12 Tf 9 9 Td (text) Tj ET"),
        font,
        b"<< /Type /FontDescriptor /FontName /X /Flags 4 /FontFile2 7 0 R >>",
        documents.stream(b"\0\1\0\0\0\x0a" + chance.randbytes(5_000)),
    ]
    assert outcome(documents.pdf_of(objects), "a.pdf") in ("text", "no_text", "broken_document")


@pytest.mark.parametrize("seed", range(20))
def test_damaged_bytes_end_in_a_text_or_a_refusal(seed: int) -> None:
    chance = random.Random(seed)
    made = [
        ("a.pdf", documents.pdf("one", "two")),
        ("a.docx", documents.docx("one", "two")),
        ("a.xlsx", documents.xlsx(One=[["a", "b"]])),
        ("a.pptx", documents.pptx("one", "two")),
        ("form.pdf", FORM),
    ]
    name, content = made[seed % len(made)]
    changed = bytearray(content)
    for _ in range(8):
        changed[chance.randrange(len(changed))] = chance.randrange(256)
    with suppress(RequestError):
        assert extracted(bytes(changed), name).pages
