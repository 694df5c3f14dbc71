"""The child process that takes the text of one document of unknown origin, see `confined_process.py`.

    document_process.py READER MAX_PAGES MAX_CHARACTERS

READER is "pdf", "office", "html" or "text". It reads the file that is its standard input and writes one
object of JSON to its standard output: `form`, what the file was found to be ("pdf", "docx", …), and `pages`,
their texts; or `problem`: "type", "encrypted", "pages", "long", "empty" or "broken".
"""

import codecs
import io
import json
import re
import sys
import zipfile
from collections.abc import Iterable, Iterator
from html.parser import HTMLParser
from itertools import pairwise
from typing import Any, Literal

Form = Literal["docx", "xlsx", "pptx", "doc", "xls", "ppt"]
MAX_UNPACKED_BYTES = 300_000_000  # of all parts of an Office file together
MAX_PARTS = 20_000
OLE_SIGNATURE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
OOXML_FOLDERS: dict[str, Form] = {"word/": "docx", "xl/": "xlsx", "ppt/": "pptx"}
# The names of streams in the older, OLE container, in lower case.
OLE_STREAMS: dict[str, Form] = {"worddocument": "doc", "workbook": "xls", "powerpoint document": "ppt"}
ENCRYPTED_STREAM = "encryptedpackage"
WRONG_PASSWORD = 4  # FPDF_ERR_PASSWORD
CHARSET = re.compile(rb"<meta[^>]{1,200}?charset\s*=\s*[\"']?([A-Za-z0-9_-]{2,20})", re.IGNORECASE)
CHARSETS = re.compile(
    r"utf-8|iso-8859-\d+|windows-125\d|koi8-[ru]|shift_jis|euc-(jp|kr)|iso-2022-jp|gb(2312|k|18030)|big5"
)
TERMINAL_CODES = re.compile(r"\x1b(?:\[[0-9;?]*[A-Za-z]|\][^\x07\x1b]{0,200}\x07)")
BINARY_CHARACTER = re.compile(r"[\x00-\x07\x0e-\x1a\x1c-\x1f\x7f]")
# U+0002 and U+FFFE: written by PDFium where a word was divided at the end of a line.
SOFT_HYPHENS = re.compile("\xad|[\x02\ufffe]\r?\n?")
UNWANTED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufeff\ufffe\uffff]")
LINE_ENDS = re.compile("\r\n|[\r\x0b\x0c\x85\u2028\u2029]")
BLANK_LINES = re.compile(r"\n{3,}")
PAGE_HEADING = re.compile(r"^## .*", re.MULTILINE)
SKIPPED = {"script", "style", "template", "svg", "math", "iframe", "object", "noscript", "head"}
INLINE = re.compile(
    "a|abbr|acronym|b|bdi|bdo|big|cite|code|data|del|dfn|em|font|i|ins|kbd|label|mark|meter|output|q|rp|rt|ruby|"
    "s|samp|small|span|strike|strong|sub|sup|time|tt|u|var|wbr"
)


class Problem(Exception):
    """The reason why there is no text: the value of `problem`."""


def pages_of(reader: str, content: bytes, max_pages: int) -> tuple[str, Iterable[str]]:
    """Return the form of the document, and the texts of its pages. Raises Problem and what parsers raise."""
    if reader == "pdf":
        return "pdf", pdf_pages(content, max_pages)
    if reader == "office":
        form = office_form(content)
        return form, office_pages(content, form)
    text = decoded(content)
    return reader, [html_text(text) if reader == "html" else text]


def pdf_pages(content: bytes, max_pages: int) -> Iterator[str]:
    import pypdfium2

    try:
        document = pypdfium2.PdfDocument(content)
    except pypdfium2.PdfiumError as error:
        raise Problem(
            "encrypted" if getattr(error, "err_code", None) == WRONG_PASSWORD else "broken"
        ) from None
    if len(document) > max_pages:
        raise Problem("pages")
    for number in range(len(document)):
        yield pdf_page(document, number)


def pdf_page(document: Any, number: int) -> str:
    """Return the text of a page; "" if this page alone is damaged."""
    import pypdfium2

    try:
        page = document[number]
        text = page.get_textpage()
    except pypdfium2.PdfiumError:
        return ""
    try:
        found: str = text.get_text_range()
    finally:
        text.close()
        page.close()
    return found


def office_form(content: bytes) -> Form:
    """Return "docx", "xlsx", "pptx", "doc", "xls" or "ppt", by what the container holds."""
    if content.startswith(OLE_SIGNATURE):
        names = content.lower()
        if ENCRYPTED_STREAM.encode("utf-16-le") in names:
            raise Problem("encrypted")
        for name, form in OLE_STREAMS.items():
            if name.encode("utf-16-le") in names:
                return form
        raise Problem("type")
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        parts = archive.infolist()
    if len(parts) > MAX_PARTS or sum(part.file_size for part in parts) > MAX_UNPACKED_BYTES:
        raise Problem("long")
    for folder, form in OOXML_FOLDERS.items():
        if any(part.filename.startswith(folder) for part in parts):
            return form
    raise Problem("type")


def office_pages(content: bytes, form: Form) -> list[str]:
    """Return the Markdown of the sheets or the slides, or of the whole document."""
    import office_oxide

    with office_oxide.Document.from_bytes(content, form) as document:
        markdown = document.to_markdown()
        slides = document.to_ir()["sections"] if form in ("pptx", "ppt") else []
    if form in ("xlsx", "xls"):
        # Nothing else begins a line with this: cells stand in tables, comments in quotes.
        return parted(markdown, [found.start() for found in PAGE_HEADING.finditer(markdown)])
    return parted(markdown, list(slide_starts(markdown, slides)))


def slide_starts(markdown: str, slides: list[dict[str, Any]]) -> Iterator[int]:
    """Return where the slides begin: each with its title, or with its number if it has none."""
    position = 0
    for number, slide in enumerate(slides, 1):
        heading = f"## {slide.get('title') or f'Slide {number}'}"
        start = markdown.find(heading, position)
        if start >= 0:
            yield start
            position = start + len(heading)


def parted(text: str, starts: list[int]) -> list[str]:
    """Return the text in parts that begin at `starts`; what is before the first belongs to the first."""
    edges = [0, *starts[1:], len(text)]
    return [text[start:end] for start, end in pairwise(edges)]


class TextOfHtml(HTMLParser):
    """Collect the text of a page: a line for each block, without scripts and styles."""

    def __init__(self) -> None:
        super().__init__()
        self.parts: list[str] = []
        self._skipped: list[str] = []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        if tag == "body":
            self._skipped.clear()  # a head that was never closed
        if tag in SKIPPED:
            self._skipped.append(tag)
        elif tag in ("td", "th"):
            self.parts.append("\t")
        elif tag == "li":
            self.parts.append("\n- ")
        elif not INLINE.fullmatch(tag):
            self.parts.append("\n")

    def handle_startendtag(self, tag: str, attrs: Any) -> None:
        if not INLINE.fullmatch(tag) and tag not in SKIPPED:
            self.parts.append("\n")

    def handle_endtag(self, tag: str) -> None:
        if tag in self._skipped:
            del self._skipped[self._skipped.index(tag) :]
        elif tag in ("p", "h1", "h2", "h3", "h4", "h5", "h6", "table", "ul", "ol", "blockquote", "pre"):
            self.parts.append("\n\n")
        elif tag == "tr":
            self.parts.append("\n")

    def handle_data(self, data: str) -> None:
        if not self._skipped:
            self.parts.append(" ".join(re.split(r"[ \t\r\n\f]+", data)))


def html_text(text: str) -> str:
    parser = TextOfHtml()
    parser.feed(text)
    parser.close()
    return "\n".join(line.strip(" ") for line in "".join(parser.parts).split("\n"))


def decoded(content: bytes) -> str:
    """Return the text in its encoding: by its mark, else UTF-8, else UTF-16, else Windows-1252 or Latin-1."""
    for mark, encoding in (
        (codecs.BOM_UTF8, "utf-8"),
        (codecs.BOM_UTF16_LE, "utf-16"),
        (codecs.BOM_UTF16_BE, "utf-16"),
    ):
        if content.startswith(mark):
            return checked(content.decode(encoding, "replace"))
    declared = CHARSET.search(content[:2_048])
    named = declared[1].decode().lower() if declared else ""
    nulls = (content[::2].count(0), content[1::2].count(0))
    wide = "utf-16-be" if nulls[0] > nulls[1] else "utf-16-le"
    for encoding in ("utf-8", named if CHARSETS.fullmatch(named) else "utf-8", wide, "cp1252", "latin-1"):
        if encoding == wide and not any(nulls):
            continue
        try:
            return checked(content.decode(encoding))
        except (UnicodeDecodeError, LookupError, Problem):
            continue
    raise Problem("type")


def checked(text: str) -> str:
    """Return the text without the codes of terminals. Raises Problem if it is no text."""
    if BINARY_CHARACTER.search(text):
        raise Problem("type")
    return TERMINAL_CODES.sub("", text)


def cleaned(text: str) -> str:
    """Return the text with line feeds alone, without control characters and superfluous blank lines."""
    text = LINE_ENDS.sub("\n", SOFT_HYPHENS.sub("", text))
    lines = UNWANTED.sub("", text).split("\n")
    return BLANK_LINES.sub("\n\n", "\n".join(line.rstrip(" \t\xa0") for line in lines)).strip("\n")


def limited(pages: Iterable[str], max_pages: int, max_characters: int) -> list[str]:
    """Return the cleaned pages. Raises Problem if they are too many or too long, or hold no text."""
    found: list[str] = []
    for page in pages:
        found.append(cleaned(page))
        max_characters -= len(found[-1])
        if max_characters < 0:
            raise Problem("long")
        if len(found) > max_pages:
            raise Problem("pages")
    if not any(map(str.strip, found)):
        raise Problem("empty")
    return found


def main() -> None:
    reader, max_pages, max_characters = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    described: dict[str, Any]
    try:
        form, pages = pages_of(reader, sys.stdin.buffer.read(), max_pages)
        described = {"form": form, "pages": limited(pages, max_pages, max_characters)}
    except Problem as problem:
        described = {"problem": str(problem)}
    except Exception:  # whatever a parser raises for bytes that it did not expect
        described = {"problem": "broken"}
    sys.stdout.buffer.write(json.dumps(described, ensure_ascii=False).encode("utf-8", "replace"))
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
