"""Files of other chats, read in the confined child and stored."""

import base64
from typing import Any

import pytest

from chat.models import Attachment, Conversation, ImportJob, User
from tests.files import pictures
from tests.transfer import samples
from tests.transfer.exported import as_json
from tests.transfer.importing import imported, zipped

PART = {"content_type": "image_asset_pointer"}
pytestmark = [
    pytest.mark.database,
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("attachments", "folder"),
]


def messages(user: User, sent: Any) -> tuple[list[dict[str, Any]], ImportJob]:
    job = imported(user, sent)
    return as_json(Conversation.objects.get(user=user))["messages"], job


def test_the_text_that_claude_took_from_a_file_is_a_document(ann: User) -> None:
    sent = samples.claude()
    sent["chat_messages"][0] |= {
        "attachments": [{"file_name": "m.docx", "extracted_content": "Item 1"}],
        "files": [],
    }
    (question, _), job = messages(ann, sent)
    document = Attachment.objects.get(owner=ann)
    assert [each["name"] for each in question["attachments"]] == ["m.docx"]
    assert (document.media_type, document.pages, job.preview["lost"]) == ("text/plain", 1, {})


def test_a_picture_in_the_text_is_an_attachment_or_named(ann: User) -> None:
    url = f"data:image/png;base64,{base64.b64encode(pictures.png(9, 8)).decode()}"
    sent = samples.open_webui()
    texts = sent["chat"]["history"]["messages"]
    texts["q"] |= {"content": f"What? ![cat]({url}) ![bad](data:image/png;base64,QUJDRA==)", "files": []}
    texts["a1"]["content"] = f"This: ![dog]({url})"
    (question, reply, _), job = messages(ann, sent)
    assert (question["text"], reply["text"]) == (
        "What? [picture: cat] [picture: bad]",
        "This: [picture: dog]",
    )
    assert [(each["name"], each["width"]) for each in question["attachments"]] == [("cat.png", 9)]
    assert sorted(job.preview["lost"]["attachment"]["names"]) == ["bad", "dog"]


def test_files_in_an_archive_of_chatgpt_are_attachments(ann: User) -> None:
    sent = samples.chatgpt()
    question = sent["mapping"]["q"]["message"]
    question["metadata"]["attachments"] = [
        {"id": "file-AbC123", "name": "cat.png"},
        {"id": "file_00ab12", "name": "notes.txt"},
        {"id": "file-Gone12", "name": "gone.pdf"},
    ]
    question["content"]["parts"] = ["What are these?", PART | {"asset_pointer": "file-service://file-AbC123"}]
    packed = {"file-AbC123-cat.png": pictures.png(9, 8), "user-x/file_00ab12-notes.txt": "Item 1"}
    found, job = messages(ann, zipped({"conversations.json": [sent], **packed}))
    assert [(each["name"], each["media_type"]) for each in found[0]["attachments"]] == [
        ("cat.png", "image/png"),
        ("notes.txt", "text/plain"),
    ]
    assert job.preview["without"]["attachment"] == {"count": 1, "names": ["gone.pdf"]}


def test_a_pattern_without_end_does_not_lose_the_conversation(ann: User) -> None:
    sent = samples.chatgpt()
    update = '{"updates": [{"pattern": "(a+)+$", "replacement": "the end"}]}'
    created = '{"name": "d", "type": "document", "content": "' + "a" * 60 + 'b"}'
    for key, kind, text in (("call", "create", created), ("tool", "update", update)):
        message = sent["mapping"][key]["message"]
        message |= {"author": {"role": "assistant"}, "recipient": f"canmore.{kind}_textdoc"}
        message["content"] = {"content_type": "code", "language": "json", "text": text}
    found, _ = messages(ann, sent)
    assert found[-1]["text"] == f"**d**\n\n{'a' * 60}b\n\nthe end\n\nA cat."
