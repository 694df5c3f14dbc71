"""The lines of a child that a file has taken control of: each is refused before anything of it is stored."""

import io
import json
from collections.abc import Iterator
from typing import Any

import pytest

from chat.files.confinement import Crashed
from chat.limits import MAX_MODEL_CHARS
from chat.transfer import reader, records
from chat.transfer.problems import FileProblem
from chat.transfer.reader import Untrusted, objects
from chat.transfer.records import (
    MAX_IMPORTED_TEXT_CHARS,
    ImportedAttachment,
    ImportedConversation,
    ImportedMessage,
    encode,
)

Line = dict[str, Any]
CREATED = "2024-05-01T10:00:00Z"
END = {"type": "end"}
QUESTION: Line = {
    "type": "message",
    "key": "a",
    "parent": None,
    "role": "user",
    "text": "?",
    "created": CREATED,
}
REPLY = QUESTION | {"key": "b", "parent": "a", "role": "assistant"}
TALK: Line = {
    "type": "conversation",
    "source": "claude",
    "key": "c",
    "title": "t",
    "messages": [],
    "leaf": "a",
}
FILE: Line = {"file": "", "name": "a.txt", "alt": "", "size": 2}
CONTENT: Line = {"type": "file", "content": "YWI="}  # two bytes
CITATION: Line = {"title": "t", "url": "https://a.example/", "page": 0, "text": "", "created": None}
PROMPT: Line = {"type": "prompt", "title": "t", "command": "c", "text": "x"}
EMPTY = dict.fromkeys(("description", "instructions", "picture", "model"), "")
LISTS: Line = {"parameters": {}, "questions": [], "documents": [], "image": None}
VERSION: Line = {"number": 1, "created": CREATED, "name": "n"} | EMPTY | LISTS
HELPER: Line = {"type": "assistant", "key": "k", "created": CREATED, "versions": [VERSION]}


def told(monkeypatch: pytest.MonkeyPatch, *lines: Line | bytes, content_bytes: int = 10) -> list[Any]:
    """Return what the server takes from a child that tells these lines."""

    def stream(*_: object, **__: object) -> Iterator[bytes]:
        yield from (line if isinstance(line, bytes) else json.dumps(line).encode() for line in lines)

    monkeypatch.setattr(reader, "stream_confined", stream)
    kept: list[bytes] = []

    def keep(content: bytes) -> int:
        kept.append(content)
        return len(kept)

    return list(objects(io.BytesIO(b"x"), lambda: None, keep, content_bytes=content_bytes))


def test_what_an_honest_child_tells_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    found = told(
        monkeypatch,
        QUESTION | {"attachments": [FILE]},
        CONTENT,
        REPLY | {"citations": [CITATION | {"attachment": ["a", 0]}], "runs": [{"a": 1, "b": {"c": None}}]},
        TALK | {"leaf": "b", "left_out": {"tool": ["x"]}},
        PROMPT,
        HELPER,
        {"type": "refusal", "code": "loop"},
        END,
    )
    assert [type(each).__name__ for each in found] == [
        *("ImportedConversation", "ImportedPrompt", "ImportedAssistant", "Refusal")
    ]
    assert [each.key for each in found[0].messages] == ["a", "b"]
    assert found[0].messages[0].attachments[0].offset == 1


@pytest.mark.parametrize(
    "lines",
    [
        [b"x"],
        [b"[]"],
        [b"\xff"],
        [b'{"type":"end"'],
        [b"[" * 2_000],
        [b'{"type":"end","x":' + b"[" * 2_000],
        [{"type": "unknown"}],
        [{"type": "end", "problem": 1}],
        [{"type": "refusal", "code": "unknown"}],
        [{"type": "refusal", "code": "loop", "error": "x" * 101}],
        [QUESTION | {"role": "system"}],
        [QUESTION | {"key": ""}],
        [QUESTION | {"key": 1}],
        [QUESTION | {"text": None}],
        [QUESTION | {"text": "a\0b"}],
        [QUESTION | {"runs": [{"a": {"b\0": 1}}]}],
        [QUESTION | {"text": "x" * (MAX_IMPORTED_TEXT_CHARS + 1)}],
        [QUESTION | {"model": "x" * (MAX_MODEL_CHARS + 1)}],
        [QUESTION | {"created": "yesterday"}],
        [QUESTION | {"created": "2024-05-01T10:00:00"}],
        [QUESTION | {"feedback": [1, ""]}],
        [QUESTION | {"feedback": [True, "x" * 1_001]}],
        [QUESTION | {"runs": [1]}],
        [QUESTION | {"runs": [{"a": [[]]}]}],
        [QUESTION | {"runs": [{"a": {"b": {}}}]}],
        [QUESTION, TALK | {"parameters": {"a": []}}],
        [QUESTION, TALK | {"parameters": dict.fromkeys(map(str, range(51)), 1)}],
        [QUESTION | {"attachments": [FILE] * 9}],
        [QUESTION | {"attachments": [FILE | {"file": "../../etc/passwd"}]}],
        [QUESTION | {"attachments": [FILE | {"stored": {"file_id": "of somebody else"}}]}],
        [QUESTION | {"attachments": [FILE | {"size": -1}]}],
        [QUESTION | {"citations": [CITATION | {"title": ""}]}],
        [CONTENT],
        [QUESTION, CONTENT],
        [QUESTION | {"attachments": [FILE | {"size": 3}]}, CONTENT],
        [QUESTION | {"attachments": [FILE]}, CONTENT, CONTENT],
        [TALK],
        [REPLY | {"parent": None}, TALK | {"leaf": "b"}],
        [REPLY, QUESTION, TALK],
        [QUESTION, QUESTION, TALK],
        [QUESTION | {"parent": "a"}, TALK],
        [QUESTION, TALK | {"leaf": ""}],
        [QUESTION, TALK | {"leaf": "z"}],
        [QUESTION, TALK | {"source": "mine"}],
        [QUESTION, TALK | {"tags": ["x" * 41]}],
        [QUESTION, TALK | {"title": None}],
        [QUESTION | {"citations": [CITATION | {"url": "javascript:alert(1)"}]}, TALK],
        [QUESTION | {"citations": [CITATION | {"attachment": ["z", 0]}]}, TALK],
        [PROMPT | {"text": "x" * 20_001}],
        [PROMPT | {"text": "\0"}],
        [HELPER | {"versions": []}],
        [HELPER | {"versions": [VERSION | {"parameters": {"a": {}}}]}],
        [HELPER | {"versions": [VERSION | {"number": 2**31}]}],
        [HELPER | {"versions": [VERSION | {"questions": ["a"] * 5}]}],
        [HELPER | {"versions": [VERSION | {"documents": [FILE] * 9}]}],
    ],
)
def test_what_no_honest_child_tells_is_refused(
    monkeypatch: pytest.MonkeyPatch, lines: list[Line | bytes]
) -> None:
    with pytest.raises(Untrusted):
        told(monkeypatch, *lines, END)


def test_messages_without_end_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(records, "MAX_IMPORTED_MESSAGES", 2)
    with pytest.raises(Untrusted):
        told(monkeypatch, *[QUESTION | {"key": str(number)} for number in range(3)])


def test_a_child_that_tells_no_end_has_died(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(Crashed):
        told(monkeypatch, QUESTION, TALK)


@pytest.mark.parametrize(("problem", "code"), [("damaged", "damaged"), ("<script>", "failed")])
def test_a_problem_of_the_whole_file_is_one_that_is_known(
    monkeypatch: pytest.MonkeyPatch, problem: str, code: str
) -> None:
    with pytest.raises(FileProblem) as refused:
        told(monkeypatch, END | {"problem": problem})
    assert refused.value.code == code


def test_the_bytes_of_a_file_do_not_stand_in_its_message() -> None:
    message = ImportedMessage(
        "a", None, "user", "", attachments=[ImportedAttachment("", "a", "", content=b"x")]
    )
    with pytest.raises(Untrusted):
        reader._record(encode(message))
    assert reader._record(encode(ImportedConversation("claude", "c", "t", [])))
