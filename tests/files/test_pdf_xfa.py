"""Forms in XFA: their words and values stand in packets of XML, not on the pages."""

import pytest

from chat.files.confined.pdf import pdf_pages
from tests.files.documents import pdf_of, stream

HEAD = b'<xdp:xdp xmlns:xdp="http://ns.adobe.com/xdp/">'
TEMPLATE = (
    b'<template xmlns="http://www.xfa.org/schema/xfa-template/3.0/"><subform name="form">'
    b"<draw><value><text>Application</text></value></draw>"
    b'<field name="name"><caption><value><text>Your name</text></value></caption></field>'
    b'<field name="city"><caption><value><exData><p>Your <b>city</b></p></exData></value></caption></field>'
    b'<field name="none"><caption><value><text>Left empty</text></value></caption></field>'
    b"</subform></template>"
)
DATA = (
    b'<xfa:datasets xmlns:xfa="http://www.xfa.org/schema/xfa-data/1.0/"><xfa:data><form>'
    b"<name>Ingrid</name><city>Holmby</city><other>kept</other></form></xfa:data></xfa:datasets>"
)
SHOWN = "Application\nYour name: Ingrid\nYour city: Holmby\nLeft empty\nother: kept"


def form(packets: tuple[bytes, ...], catalog: bytes = b"/NeedsRendering true") -> bytes:
    references = b"".join(b"(%d) %d 0 R " % (at, at) for at in range(5, 5 + len(packets)))
    named = b"5 0 R" if len(packets) == 1 else b"[%s]" % references
    return pdf_of(
        (
            b"<< /Type /Catalog /Pages 2 0 R %s /AcroForm << /Fields [] /XFA %s >> >>" % (catalog, named),
            b"<< /Type /Pages /Kids [3 0 R] /Count 1 /MediaBox [0 0 595 842] >>",
            b"<< /Type /Page /Parent 2 0 R /Contents 4 0 R /Resources << /Font << /F << /Type /Font "
            b"/Subtype /Type1 /BaseFont /Helvetica >> >> >> >>",
            stream(b"BT /F 12 Tf 50 700 Td (Please wait...) Tj ET"),
            *map(stream, packets),
        )
    )


@pytest.mark.parametrize(
    "packets", [(HEAD + TEMPLATE + DATA + b"</xdp:xdp>",), (HEAD, TEMPLATE, DATA, b"</xdp:xdp>")]
)
def test_a_form_in_xfa_has_its_words_and_values(packets: tuple[bytes, ...]) -> None:
    assert list(pdf_pages(form(packets), 9)) == [f"Please wait...\n\n{SHOWN}"]


@pytest.mark.parametrize(
    ("packets", "catalog"),
    [((b"<no xml",), b"/NeedsRendering true"), ((HEAD + DATA + b"</xdp:xdp>",), b"")],
    ids=["damaged", "drawn on the pages"],
)
def test_other_forms_are_their_pages(packets: tuple[bytes, ...], catalog: bytes) -> None:
    assert list(pdf_pages(form(packets, catalog), 9)) == ["Please wait..."]
