"""The text of mail: decoded once, with its headers in words, and attachments by their names."""

import base64
import quopri
import random

import pytest

from chat.files.confined.documents import cleaned
from chat.files.confined.mail import ENCRYPTED, mail_pages
from chat.files.confined.mail_text import calendar_text, plain_text

PLAIN = "Content-Type: text/plain; charset=utf-8\n"
HTML = "Content-Type: text/html; charset=utf-8\n"
HEAD = "From: a@e.org\nMIME-Version: 1.0\n"


def pages(content: str | bytes) -> list[str]:
    content = content.encode() if isinstance(content, str) else content
    return [cleaned(page) for page in mail_pages(content)]


def body(content: str | bytes) -> str:
    (page,) = pages(content)
    return page.partition("\n\n")[2]


def part(kind: str, *parts: str, head: str = "") -> str:
    """A message or a part of others. `parts`: each with its head."""
    edge = f"edge{len(''.join(parts))}"
    inside = "".join(f"--{edge}\n{each}\n" for each in parts)
    return f"{head}Content-Type: multipart/{kind}; boundary={edge}\n\n{inside}--{edge}--\n"


def encoded(text: bytes, charset: str, transfer: str) -> bytes:
    made = {"base64": base64.encodebytes, "quoted-printable": quopri.encodestring, "8bit": bytes}[transfer](
        text
    )
    kind = f"text/plain; charset={charset}"
    return f"From: a\nContent-Type: {kind}\nContent-Transfer-Encoding: {transfer}\n\n".encode() + made


BASE64_MESSAGE = "Content-Type: message/rfc822\nContent-Transfer-Encoding: base64\n\nU3ViamVjdDogT2xkCgpUZXh0"
PICTURE = "Content-Type: image/png; name=a.png\nContent-Transfer-Encoding: base64\n\nAAAA"


TABLE = "<table><tr><th>Item<th>Price<tr><td>Bread<td>4.80<tr><td>Milk<td>1.20</table>"
MARKDOWN = "| Item | Price |\n| --- | --- |\n| Bread | 4.80 |\n| Milk | 1.20 |"
INTRODUCTION = "Dear Sir, thank you for your order. This is what you ordered."


def der(tag: int, inside: bytes) -> bytes:
    return bytes([tag, 0x82]) + len(inside).to_bytes(2) + inside


def signed(octets: bytes, kind: int = 2) -> str:
    """A message of S/MIME: signed data with these octets. `kind`: 3 for encrypted."""
    data, whole = (bytes.fromhex(f"06092a864886f70d01070{each}") for each in (1, kind))
    inner = b"\x02\x01\x01" + der(0x31, b"") + der(0x30, data + octets) + der(0xA0, der(0x30, b"x" * 300))
    content = der(0x30, whole + der(0xA0, der(0x30, inner)))
    head = "Content-Type: application/pkcs7-mime; name=smime.p7m\nContent-Transfer-Encoding: base64\n\n"
    return head + base64.encodebytes(content).decode()


SIGNED = (PLAIN + "\n" + "Hello " * 30).encode()
PIECES = b"".join(der(0x04, SIGNED[at : at + 100]) for at in range(0, len(SIGNED), 100))


@pytest.mark.parametrize("transfer", ["base64", "quoted-printable", "8bit"])
@pytest.mark.parametrize(
    ("text", "charset", "encoding"),
    [
        ("Grüße – €", "utf-8", "utf-8"),
        ("Grüße – €", "iso-8859-1", "cp1252"),
        ("Grüße – €", '"windows-1252"', "cp1252"),
        ("Привет", "koi8-r", "koi8-r"),
        ("今日は", "iso-2022-jp", "iso-2022-jp"),
        ("今日は①", "shift_jis", "cp932"),
        ("你好，朱镕基", "gb2312", "gb18030"),
        ("안녕 똠", "ks_c_5601-1987", "cp949"),
        ("שלום", "iso-8859-8-i", "iso-8859-8"),
        ("Grüße", "x-unknown", "utf-8"),
        ("Grüße", "us-ascii", "utf-8"),
        ("Grüße", "rot13", "utf-8"),
        ("plain", "", "ascii"),
    ],
)
def test_a_text_in_any_encoding(transfer: str, text: str, charset: str, encoding: str) -> None:
    assert body(encoded(text.encode(encoding), charset, transfer)) == text


def test_the_headers_that_people_see() -> None:
    head = "X-A: x\nDate: Thu, 05 Mar 2026 10:00:00 +0100\nTo: b@e.org\nTo: c@e.org\nX: no\nSubject: Hi\n"
    assert pages(f"{head}From: a@e.org\nCc:\n\nText") == [
        "Subject: Hi\nFrom: a@e.org\nTo: b@e.org, c@e.org\nCc:\nDate: Thu, 05 Mar 2026 10:00:00 +0100\n\nText"
    ]


def named(disposition: str, kind: str = "application/pdf") -> str:
    return f"Content-Type: {kind}\nContent-Disposition: attachment; {disposition}\n\nx"


def alternative(plain: str, html: str) -> str:
    return part("alternative", f"{PLAIN}\n{plain}", f"{HTML}\n{html}")


@pytest.mark.parametrize(
    ("content", "wanted"),
    [
        (part("mixed", PLAIN + "\nHello", PICTURE), "Hello\n\n\n[Attachment: a.png, 3 bytes]"),
        (part("alternative", PLAIN + "\nHello", HTML + "\n<p>Hello"), "Hello"),
        (part("alternative", HTML + "\n<p>Hello <b>you</b>"), "Hello you"),
        (part("alternative", PLAIN + "\n", HTML + "\n<p>Hello"), "Hello"),
        (part("alternative", PLAIN + "\nNo HTML?", HTML + "\n<p>" + "word " * 9), "word " * 8 + "word"),
        (
            part("alternative", PLAIN + "\nHi", part("related", HTML + "\n<p>Hi", PICTURE)),
            "Hi\n\n[Attachment: a.png, 3 bytes]",
        ),
        (part("related", HTML + "\n<p>See<img src=cid:x>", PICTURE), "See\n\n[Attachment: a.png, 3 bytes]"),
        (
            part("signed", PLAIN + "\nHello", "Content-Type: application/pgp-signature; name=s.asc\n\nx"),
            "Hello\n\n[Attachment: s.asc, 1 bytes]",
        ),
        (part("mixed", PLAIN + "\na", PLAIN + "\nb"), "a\n\nb"),
        (
            part("mixed", PLAIN + "\na", named("filename*=utf-8''Pr%C3%BCfung.pdf")),
            "a\n\n[Attachment: Prüfung.pdf, 1 bytes]",
        ),
        (part("mixed", named("filename*0=long; filename*1=er.pdf")), "[Attachment: longer.pdf, 1 bytes]"),
        (part("mixed", named('filename="=?utf-8?q?=C3=BC.pdf?="')), "[Attachment: ü.pdf, 1 bytes]"),
        (part("mixed", named("filename=a.csv", "text/csv")), "[Attachment: a.csv, 1 bytes]"),
        (part("mixed", "Content-Type: text/plain; name=body.txt\n\nHello"), "Hello"),
        (part("mixed", "Content-Type: text/html; name=a.htm\nContent-Disposition: inline\n\n<p>Hi"), "Hi"),
        (part("mixed", named("filename=a.txt", "text/plain")), "[Attachment: a.txt, 1 bytes]"),
        (
            part("alternative", HTML + "\n<p>Hello", "Content-Type: application/ics; name=a.ics\n\nx"),
            "Hello\n\n[Attachment: a.ics, 1 bytes]",
        ),
        (part("alternative", HTML + "\n<p>Hello", "Content-Type: text/x-amp-html\n\n<p>{{x}}"), "Hello"),
        ("Content-Type: text/plain; charset=iso-8859-1\n\nGrüße – 5 €", "Grüße – 5 €"),
        (
            part("mixed", "Content-Type: application/pdf\n\n" + "x" * 1_999),
            "[Attachment: application/pdf, 2 kB]",
        ),
        (
            part("mixed", "Content-Type: message/rfc822\n\nSubject: Old\nFrom: b\n\nText"),
            "[Forwarded message]\nSubject: Old\nFrom: b\n\nText",
        ),
        (part("mixed", BASE64_MESSAGE), "[Forwarded message]\nSubject: Old\n\nText"),
        (
            part(
                "report",
                PLAIN + "\nBounced",
                "Content-Type: message/delivery-status\n\nA: b\n\nAction: failed",
            ),
            "Bounced\n\nA: b\nAction: failed",
        ),
        (part("encrypted", "Content-Type: application/octet-stream\n\nx"), ENCRYPTED),
        ("Content-Type: application/pkcs7-mime; name=smime.p7m\n\nMIAG", ENCRYPTED),
        (signed(der(0xA0, der(0x04, SIGNED)), kind=3), ENCRYPTED),
        (signed(der(0xA0, der(0x04, SIGNED))), ("Hello " * 30).strip()),
        (signed(der(0xA0, der(0x24, PIECES))), ("Hello " * 30).strip()),
        (signed(b"\xa0\x80\x24\x80" + PIECES + bytes(4)), ("Hello " * 30).strip()),
        (signed(b""), "[Attachment: smime.p7m, 353 bytes]"),
        (signed(b"\xa0"), "[Attachment: smime.p7m, 354 bytes]"),
        (
            part("alternative", PLAIN + f"\n{INTRODUCTION}", HTML + f"\n<p>{INTRODUCTION}</p>{TABLE}"),
            f"{INTRODUCTION}\n\n{MARKDOWN}",
        ),
        (
            part("alternative", PLAIN + "\nItem: bread, price: 4.80\nMilk: 1.20", HTML + f"\n{TABLE}"),
            "Item: bread, price: 4.80\nMilk: 1.20",
        ),
        (alternative("It is 400 650 euros", "It is <s>400</s> 650 euros"), "It is ~~400~~ 650 euros"),
        (alternative("10 6 cells", "10<sup>6</sup> cells"), "10⁶ cells"),
        (alternative("10⁶ m²", "10<sup>6</sup> m<span style='vertical-align:super'>2</span>!"), "10⁶ m²"),
        (
            alternative("Pay here", "<a href='https://e.org/pay?id=7'>Pay here</a>"),
            "Pay here (https://e.org/pay?id=7)",
        ),
        (
            alternative("Pay at https://e.org/7", "<a href='https://e.org/1'>Pay</a> at"),
            "Pay at https://e.org/7",
        ),
        ("Content-Type: application/pdf; name=a.pdf\n\nx", "[Attachment: a.pdf, 1 bytes]"),
        (
            HTML + "\n<table role=presentation><tr><td>a<td><a href=https://e.org/x>b</a></table>",
            "a\n\nb (https://e.org/x)",
        ),
        ("Content-Type: multipart/mixed\n\nno boundary", "no boundary"),
        ("Content-Type: multipart/mixed; boundary=x\n\n--x\n\nnot closed", "not closed"),
        (PLAIN + "Content-Disposition: attachment; filename=a\n\nText", "Text"),
        (
            "Content-Type: text/plain; format=flowed\n\none \ntwo\n> a \n> b\n>> c\n-- \nme",
            "one two\n> a b\n>> c\n--\nme",
        ),
        ("Content-Type: text/plain; format=flowed; delsp=yes\n\nfore \nver\n from", "forever\nfrom"),
    ],
)
def test_the_text_of_a_message(content: str, wanted: str) -> None:
    assert body(HEAD + content).replace("\n\n\n", "\n\n") == wanted.replace("\n\n\n", "\n\n")


def test_plain_texts_are_for_people() -> None:
    armor = "-----BEGIN PGP {0}-----\nVersion: 1\n\nabc=\n-----END PGP {0}-----"
    assert plain_text(armor.format("MESSAGE")) == "[Encrypted with PGP]"
    assert plain_text("a\n" + armor.format("SIGNATURE")) == "a\n"
    assert plain_text("a\nbegin 644 b.txt\n#0V%T\n`\nend\nc\nbegin 1 now\nend") == (
        "a\n[Attachment: b.txt]\nc\nbegin 1 now\nend"
    )
    assert plain_text("-----BEGIN PGP MESSAGE-----\nkept") == "-----BEGIN PGP MESSAGE-----\nkept"


CALENDAR = r"""BEGIN:VCALENDAR
METHOD:REQUEST
BEGIN:VTIMEZONE
DTSTART:19700101T000000
END:VTIMEZONE
BEGIN:VEVENT
SUMMARY;LANGUAGE=de:Lunch\, long
DTSTART;TZID=Europe/Oslo:20260409T180000
DTEND:20260409T200000Z
LOCATION:Room
  4
RRULE:FREQ=WEEKLY
EXDATE;TZID=Europe/Oslo:20260416T180000,20260423T180000
RDATE;VALUE=DATE:20260501
ORGANIZER;CN="Ann: B":mailto:a@e.org
ATTENDEE;PARTSTAT=ACCEPTED:MAILTO:b@e.org
DESCRIPTION:one\ntwo
BEGIN:VALARM
DESCRIPTION:no
END:VALARM
END:VEVENT
BEGIN:VEVENT
RECURRENCE-ID:20260430T160000Z
DTSTART;VALUE=DATE:20260430
DTEND;VALUE=DATE:20260501
END:VEVENT
BEGIN:VTODO
DUE;VALUE=DATE:20260410
END:VTODO
END:VCALENDAR"""
EVENTS = """[Calendar: REQUEST]

Event: Lunch, long
Start: 2026-04-09 18:00 Europe/Oslo
End: 2026-04-09 20:00 UTC
Place: Room 4
Repeats: FREQ=WEEKLY
Except on: 2026-04-16 18:00 Europe/Oslo, 2026-04-23 18:00 Europe/Oslo
Also on: 2026-05-01
Organizer: Ann: B <a@e.org>
Attendee: b@e.org (ACCEPTED)
Description: one
two

In place of: 2026-04-30 16:00 UTC
Start: 2026-04-30
End: 2026-04-30

Due: 2026-04-10"""


def test_an_invitation_is_readable() -> None:
    assert calendar_text(CALENDAR) == EVENTS
    invitation = part("alternative", PLAIN + "\nPlease come", f"Content-Type: text/calendar\n\n{CALENDAR}")
    assert body(HEAD + invitation).startswith("Please come\n\n[Calendar: REQUEST]")


def test_the_messages_of_a_mailbox_are_pages() -> None:
    box = "From a@e.org Mon\nSubject: 1\n\n>From here\nFrom home: on\n\nFrom b@e.org Tue\nSubject: 2\n\nb"
    assert pages(box) == ["Subject: 1\n\nFrom here\nFrom home: on", "Subject: 2\n\nb"]


def test_the_file_of_a_message_begins_in_several_ways() -> None:
    message = "Subject: x\n\ny"
    for content in ("\ufeff" + message, "\n\n" + message, f"{len(message)}   \n{message}<plist/>"):
        assert pages(content) == [message]


def test_a_text_that_is_no_message_stays_as_it_is() -> None:
    assert pages("Just words.\n\nMore: words") == ["Just words.\n\nMore: words"]


FRAME = "Content-Type: text/html\nContent-Location: https://e.org/f\n\n<p>frame"


@pytest.mark.parametrize(
    ("content", "wanted"),
    [
        (
            part("related", HTML + "Content-Location: https://e.org/p/\n\n<h1>T</h1><a href=x>y</a>", FRAME),
            "# T\n\ny (https://e.org/p/x)",
        ),
        (
            part(
                "related",
                HTML + "Content-Location: https://e.org/\n\n<frameset><frame src=f></frameset>",
                FRAME,
            ),
            "frame",
        ),
        (
            part(
                "related",
                HTML + "Content-Location: https://e.org/\n\n<p>a<iframe src='cid:f-1@mhtml.blink'></iframe>b",
                "Content-ID: <f-1@mhtml.blink>\n"
                + FRAME
                + "<iframe src='cid:f-1@mhtml.blink' title=me></iframe>",
            ),
            "a\n\nframe\n[Frame: me]\n\nb",
        ),
        (
            part(
                "related",
                HTML + "Content-Location: https://e.org/\n\n<iframe src=f></iframe>",
                FRAME,
                FRAME + " 2",
            ),
            "frame 2",
        ),
        (
            part(
                "related", HTML + "Content-Location: https://e.org/\n\n<iframe title=x></iframe><p>a", FRAME
            ),
            "[Frame: x]\n\na",
        ),
        (
            "Snapshot-Content-Location: https://e.org/\n"
            + part("related", HTML + "\n<title>T</title>x", PICTURE),
            "T\n\nx",
        ),
        ("Content-Location: https://e.org/\n" + HTML + "\n<p>alone", "alone"),
        (part('related; start="<m>"', FRAME, "Content-ID: <m>\n" + HTML + "\n<p>main"), "main"),
    ],
)
def test_a_saved_page_is_its_text(content: str, wanted: str) -> None:
    assert pages(f"From: <Saved by a browser>\nSubject: T\nMIME-Version: 1.0\n{content}") == [wanted]


def test_deep_frames_end() -> None:
    frames = [
        f"Content-Type: text/html\nContent-Location: https://e.org/{at}\n\n<iframe src={at + 1}></iframe>{at}"
        for at in range(1_000)
    ]
    assert pages(f"From: <Saved>\nMIME-Version: 1.0\n{part('related', *frames)}")[0].endswith("0")


def test_deep_messages_end() -> None:
    deep = "Content-Type: message/rfc822\n\n" * 50 + "Subject: x\n\ndeep"
    assert "deep" in body(HEAD + deep)


@pytest.mark.parametrize("seed", range(30))
def test_damaged_messages_are_read(seed: int) -> None:
    chance = random.Random(seed)
    content = part(
        "mixed", part("alternative", PLAIN + "\nHello", HTML + "\n<p>Hi"), PICTURE, named("filename=x")
    )
    changed = bytearray((HEAD + "Subject: =?utf-8?b?w7w=?=\n" + content).encode())
    for _ in range(12):
        changed[chance.randrange(len(changed))] = chance.choice(b'\n:;="?\xff-a')
    assert all(isinstance(page, str) for page in pages(bytes(changed)))
