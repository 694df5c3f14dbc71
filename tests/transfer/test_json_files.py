"""Archives and files that are no export, or an attack, are refused in words."""

import io
import json
import struct
import zipfile
from collections.abc import Iterator
from typing import Any

import pytest

from chat.transfer import json_files
from chat.transfer.json_files import objects_in, open_archive
from chat.transfer.json_items import Oversized
from chat.transfer.problems import FILE_PROBLEMS, FileProblem
from chat.transfer.records import OtherFiles
from tests.transfer.importing import zipped

MB = 1_048_576
OBJECT = {"mapping": {}}
ID = "00000000-0000-4000-8000-000000000001"


def objects(data: bytes, most: int = MB) -> Iterator[Any]:
    file = io.BytesIO(data)
    yield from objects_in(file, open_archive(file), most)


def read(data: bytes, most: int = MB) -> list[Any]:
    return [
        each.code if isinstance(each, Oversized) else json.loads(each)
        for each in objects(data, most)
        if not isinstance(each, OtherFiles)
    ]


@pytest.mark.parametrize(
    "names",
    [
        ["conversations.json"],
        ["conversations-000.json", "conversations-001.json"],
        ["export/conversations.json"],
        ["account.json", f"conversations/{ID}.json", "markdown/x.md"],
        ["chat.json"],
        ["conversations.json", "__MACOSX/conversations.json", "user.json", "images/", "images/a.png"],
    ],
)
def test_the_conversations_of_an_archive_are_found(names: list[str]) -> None:
    wanted = [name for name in names if "conversations" in name or name == "chat.json"]
    wanted = [name for name in wanted if "MACOSX" not in name]
    files = {name: [OBJECT] if name in wanted else "other {" for name in names}
    assert read(zipped(files)) == [OBJECT] * len(wanted)


@pytest.mark.parametrize(
    ("name", "is_named"),
    [
        ("projects.json", True),
        (f"projects/{ID}.json", True),
        ("export/memories.json", True),
        ("shared_conversations.json", True),
        ("Chats.JSON", True),
        ("deep/er/conversations.json", True),
        ("history.jsonl", True),
        ("user.json", False),
        ("export/users.json", False),
        ("message_feedback.json", False),
        ("__MACOSX/projects.json", False),
        ("file-AbC123-notes.json", False),
        (f"attachments/{'0' * 64}.json", False),
        ("chat.html", False),
    ],
)
def test_the_files_that_are_not_read_come_last(name: str, is_named: bool) -> None:
    data = zipped({name: [OBJECT], "conversations.json": [OBJECT], "empty.json": [], "none.json": "{}\r\n"})
    _, *others = objects(data)
    assert others == [OtherFiles([name])] * is_named


@pytest.mark.parametrize(
    ("files", "named"),
    [
        (
            {"MyActivity.html": "<p>", "media/a.png": "x", "media/": "", "__MACOSX/b": "x"},
            ["MyActivity.html", "media/a.png"],
        ),
        (
            {"conversations.json": '{"a": 1', "projects.json": [OBJECT], "user.json": [{}]},
            ["conversations.json", "projects.json"],
        ),
        (
            {"conversations-000.json": [OBJECT], "conversations-001.json": "no JSON", "a.png": "x"},
            ["conversations-001.json"],
        ),
        ({"a/b.json": "1234567", "a/c.json": [OBJECT]}, ["a/b.json", "a/c.json"]),
        ({"../conversations.json": [OBJECT]}, ["../conversations.json"]),
    ],
)
def test_a_refused_archive_names_what_is_not_read(files: dict[str, Any], named: list[str]) -> None:
    told: list[Any] = []
    with pytest.raises(FileProblem):
        told.extend(objects(zipped(files)))
    assert told[-1] == OtherFiles(named)


def test_a_json_file_is_read_as_well() -> None:
    assert read(json.dumps([OBJECT]).encode()) == [OBJECT]


def claiming(data: bytes, size: int) -> bytes:
    """The archive with another uncompressed size of its only file, in both of its headers."""
    local, central = data.index(b"PK\x03\x04"), data.index(b"PK\x01\x02")
    made = bytearray(data)
    struct.pack_into("<L", made, local + 22, size)
    struct.pack_into("<L", made, central + 24, size)
    return bytes(made)


def flagged(data: bytes, flag: int) -> bytes:
    made = bytearray(data)
    for mark, at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        struct.pack_into("<H", made, data.index(mark) + at, flag)
    return bytes(made)


def changed(data: bytes) -> bytes:
    """The archive with one byte of its compressed data changed."""
    made = bytearray(data)
    made[60] ^= 0xFF
    return bytes(made)


def nameless(data: bytes) -> bytes:
    """The archive with no name of its only file in its directory."""
    made = bytearray(data)
    at = data.index(b"PK\x01\x02")
    (length,) = struct.unpack_from("<H", made, at + 28)
    struct.pack_into("<HHH", made, at + 28, 0, 0, length)  # the name is a comment now
    return bytes(made)


BOMB = zipped({"conversations.json": b"[" + b" " * (30 * MB) + b"]"})
EXPORT = zipped({"conversations.json": [OBJECT] * 50})
HOSTILE = {
    "a bomb": (BOMB, "too_big"),
    "a bomb that claims to be small": (claiming(BOMB, 10), "damaged"),
    "a claim of 4 GB": (claiming(EXPORT, 0xFFFFFFF0), "too_big"),
    "a path upwards": (zipped({"../conversations.json": [OBJECT]}), "names"),
    "a path upwards beside an export": (zipped({"conversations.json": [OBJECT], "a/../../b": ""}), "names"),
    "an absolute path": (zipped({"/etc/conversations.json": [OBJECT]}), "names"),
    "a path of Windows": (zipped({"C:/conversations.json": [OBJECT]}), "names"),
    "a backslash": (zipped({"a\\..\\conversations.json": [OBJECT]}), "names"),
    "an encrypted file": (flagged(EXPORT, 1), "encrypted"),
    "another method": (zipped({"conversations.json": [OBJECT]}, zipfile.ZIP_BZIP2), "compression"),
    "no conversations": (zipped({"readme.txt": "x"}), "no_conversations"),
    "half an archive": (EXPORT[: len(EXPORT) // 2], "damaged"),
    "no directory": (EXPORT[:-30], "damaged"),
    "only its magic": (b"PK\x03\x04", "damaged"),
    "a changed byte": (changed(EXPORT), "damaged"),
    "a file without a name": (nameless(EXPORT), "no_conversations"),
    "a file before the beginning": (EXPORT[:4] + EXPORT[40:], "damaged"),
    "a picture": (b"\x89PNG\r\n", "not_json"),
    "nothing": (b"", "not_json"),
    "a page": (b"<!DOCTYPE html>", "not_json"),
    "a number": (b"1", "not_json"),
}


@pytest.mark.parametrize("what", HOSTILE)
def test_a_file_that_is_no_export_is_refused(what: str) -> None:
    data, code = HOSTILE[what]
    with pytest.raises(FileProblem) as refused:
        read(data)
    assert refused.value.code == code
    assert FILE_PROBLEMS[code]


def test_a_directory_that_would_fill_the_memory_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    data = zipped({f"{number}.json": {} for number in range(50)})
    assert len(read(data)) == 50
    monkeypatch.setattr(json_files, "MAX_DIRECTORY_BYTES", 1_000)
    with pytest.raises(FileProblem) as refused:
        read(data)
    assert refused.value.code == "too_many_files"


@pytest.mark.parametrize("between", [b"", bytes(100)])  # where newer versions of Python find it, too
def test_a_directory_whose_size_zip64_says_is_not_read(between: bytes) -> None:
    made = zipped({"conversations.json": [OBJECT]})
    end, size = made[-22:], json_files.MAX_DIRECTORY_BYTES + 1
    record = struct.pack("<4sQ2H2L4Q", b"PK\x06\x06", 44, 45, 45, 0, 0, 1, 1, size, 0)
    locator = struct.pack("<4sLQL", b"PK\x06\x07", 0, len(made) - 22, 1)
    with pytest.raises(FileProblem) as refused:
        read(made[:-22] + record + between + locator + end)
    assert refused.value.code == "too_many_files"
    with pytest.raises(FileProblem) as refused:
        read(b"PK" + locator + end)
    assert refused.value.code == "damaged"
