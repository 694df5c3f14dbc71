"""The JSON objects in an uploaded file: a JSON file, or a zip archive with JSON files.

Nothing is unpacked to the disk, and no name in the archive is used as a path.
"""

import re
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, cast

from . import records
from .json_items import Oversized, items
from .problems import FileProblem

# zipfile reads the central directory into memory, where it takes about ten times its size.
MAX_DIRECTORY_BYTES = 8 * 1_048_576
UNPACKED_FACTOR = 20  # limit of an archive's unpacked size, as a multiple of the limit for imports
ZIP_MAGIC = b"PK"
# The names in exports of ChatGPT, Claude and this chat, at the top of the archive or in one folder.
EXPORT = re.compile(
    r"(?:[^/]+/)?(?:conversations(?:[-_]\d+)?|(?:conversations|assistants)/[0-9a-f-]{36}|prompts|memory)\.json"
)
# What such exports have beside them that is about the account, or says what other files say.
ACCOUNT_FILES = {
    *("account", "users", "user", "user_settings", "message_feedback", "model_comparisons"),
    *("export_manifest", "conversation_asset_file_names"),
}
EMPTY_BYTES = 6  # of a file with an empty array or object, or null
IGNORED_FOLDER = "__MACOSX/"
ZIP_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
ENCRYPTED = 0x1
END_RECORD = b"PK\x05\x06"
END_RECORD_BYTES, COMMENT_BYTES = 22, 65_535
# Of a Zip64 archive, before the end record: zipfile believes it, whatever that says.
LOCATOR, LOCATOR_BYTES, ZIP64_BYTES, DIRECTORY_IN_ZIP64 = b"PK\x06\x07", 20, 76, 40
ZIP64_RECORD, PLACE_IN_ZIP64 = b"PK\x06\x06", 64  # newer versions of Python look where the locator says
LOCAL_HEADER_BYTES, LENGTHS_IN_HEADER = 30, 26  # before each file; the lengths of its name and extra field
# In ChatGPT's archives: file-AbC123-cat.png, user-x/file_00ab-1234.png, file-AbC123.dat.
CHATGPT_NAME = re.compile(r"(?:[^/]+/)*(file[-_][A-Za-z0-9]+)[-.]")
UNZIP_ERRORS = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    struct.error,
    OSError,
    OverflowError,
    RuntimeError,
    ValueError,
)


def objects_in(
    file: IO[bytes], archive: zipfile.ZipFile | None, max_bytes: int
) -> Iterator[bytes | Oversized | records.OtherFiles]:
    """Yield the JSON of each object in the file, last the files that are not read.

    `archive`: the file's, None if it is none. `max_bytes`: the limit for imports. Raises FileProblem.
    """
    if archive is None:
        file.seek(0)
        yield from items(file)
    else:
        yield from _in_archive(archive, UNPACKED_FACTOR * max_bytes)


def open_archive(file: IO[bytes]) -> zipfile.ZipFile | None:
    """Return the zip archive in the file; None if it is another file. Raises FileProblem."""
    file.seek(0)
    if file.read(len(ZIP_MAGIC)) != ZIP_MAGIC:
        return None
    with _damage_as_problem():
        _check_directory(file)
        return zipfile.ZipFile(file)


def _in_archive(archive: zipfile.ZipFile, most: int) -> Iterator[bytes | Oversized | records.OtherFiles]:
    left, problem = most, None
    read = set()
    try:
        entries = _conversation_files(archive.infolist())
        if sum(entry.file_size for entry in entries) > most:
            raise FileProblem("too_big")
        for entry in entries:
            with _damage_as_problem(), archive.open(entry) as member:
                limited = _LimitedReader(member, left)
                yield from items(cast(IO[bytes], limited))
                left = limited.left
            read.add(entry.filename)
    except FileProblem as found:
        problem = found
    others = [entry for entry in _real_files(archive.infolist()) if entry.filename not in read]
    # A refused archive without any JSON is no known export: all of its files say what it is.
    named = [entry for entry in others if _has_content(entry)] or (others if problem else [])
    if named:
        yield records.OtherFiles([entry.filename for entry in named])
    if problem:
        raise problem


@contextmanager
def _damage_as_problem() -> Iterator[None]:
    try:
        yield
    except UNZIP_ERRORS as error:
        raise FileProblem("damaged") from error


def _check_directory(file: IO[bytes]) -> None:
    """Raise FileProblem if the archive's central directory is too large to be read into memory."""
    size = file.seek(0, 2)
    file.seek(max(0, size - ZIP64_BYTES - END_RECORD_BYTES - COMMENT_BYTES))
    tail = file.read()
    at = tail.rfind(END_RECORD)
    if at < 0 or len(tail) - at < END_RECORD_BYTES:
        raise FileProblem("damaged")
    (directory_bytes,) = struct.unpack_from("<L", tail, at + 12)
    zip64 = tail[max(0, at - ZIP64_BYTES) : at]
    if zip64[-LOCATOR_BYTES:].startswith(LOCATOR):
        if len(zip64) < ZIP64_BYTES:
            raise FileProblem("damaged")
        file.seek(min(size, struct.unpack_from("<Q", zip64, PLACE_IN_ZIP64)[0]))
        for record in (zip64, file.read(ZIP64_BYTES)):
            if record is zip64 or record.startswith(ZIP64_RECORD):
                [found] = struct.unpack_from("<Q", record, DIRECTORY_IN_ZIP64)
                directory_bytes = max(directory_bytes, found)
    # A Zip64 archive mostly has 0xFFFFFFFF in the end record, which is too large as well.
    if directory_bytes > MAX_DIRECTORY_BYTES:
        raise FileProblem("too_many_files")
    file.seek(0)


def _conversation_files(entries: list[zipfile.ZipInfo]) -> list[zipfile.ZipInfo]:
    """Return the files with a known name; if there are none, all JSON files. Raises FileProblem."""
    if any(_is_unsafe(entry.filename) for entry in entries):
        raise FileProblem("names")
    files = _real_files(entries)
    found = [entry for entry in files if EXPORT.fullmatch(entry.filename)]
    found = found or [entry for entry in files if entry.filename.endswith(".json")]
    if not found:
        raise FileProblem("no_conversations")
    if any(entry.flag_bits & ENCRYPTED for entry in found):
        raise FileProblem("encrypted")
    if any(entry.compress_type not in ZIP_METHODS for entry in found):
        raise FileProblem("compression")
    return found


def _real_files(entries: list[zipfile.ZipInfo]) -> list[zipfile.ZipInfo]:
    named = [entry for entry in entries if entry.filename]
    return [each for each in named if not each.is_dir() and not each.filename.startswith(IGNORED_FOLDER)]


def _has_content(entry: zipfile.ZipInfo) -> bool:
    """Return True for a JSON file that is neither of the account, nor empty, nor an attachment."""
    name = entry.filename
    stem, _, suffix = name.rpartition("/")[2].lower().rpartition(".")
    if suffix not in ("json", "jsonl") or stem in ACCOUNT_FILES:
        return False
    is_attachment = records.ATTACHMENT_FILE.fullmatch(name) or records.CHATGPT_FILE.match(stem)
    return entry.file_size > EMPTY_BYTES and not is_attachment


def _is_unsafe(name: str) -> bool:
    return name.startswith("/") or "\\" in name or ":" in name.split("/")[0] or ".." in name.split("/")


class PackedFiles:
    """The files of attachments in the archive, by their names, and in ChatGPT's archives by their ids."""

    def __init__(self, file: IO[bytes], archive: zipfile.ZipFile | None) -> None:
        self._file = file
        entries = archive.infolist() if archive else []
        named = ((CHATGPT_NAME.match(each.filename), each) for each in entries)
        self._entries = {found[1]: each for found, each in named if found}
        self._entries |= archive.NameToInfo if archive else {}

    def locate(self, attachment: records.ImportedAttachment) -> None:
        """Set where the file of the attachment is, if it can be unpacked."""
        entry = self._entries.get(attachment.file)
        if entry is None or entry.compress_type not in ZIP_METHODS or entry.flag_bits & ENCRYPTED:
            return
        self._file.seek(entry.header_offset)
        header = self._file.read(LOCAL_HEADER_BYTES)
        if len(header) < LOCAL_HEADER_BYTES or len(entry.filename) > records.MAX_PARAMETER_CHARS:
            return
        begin = entry.header_offset + len(header) + sum(struct.unpack_from("<2H", header, LENGTHS_IN_HEADER))
        place = (begin, entry.compress_size, entry.compress_type, entry.CRC)
        attachment.size, attachment.packed = entry.file_size, records.PackedFile(entry.filename, *place)


class _LimitedReader:
    """A file that raises FileProblem after `left` bytes, whatever size the archive declares."""

    def __init__(self, file: IO[bytes], left: int) -> None:
        self._file, self.left = file, left

    def read(self, size: int) -> bytes:
        data = self._file.read(size)
        self.left -= len(data)
        if self.left < 0:
            raise FileProblem("too_big")
        return data
