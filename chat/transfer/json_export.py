"""The JSON of an exported conversation, which docs/api.md and conversation.schema.json describe.

The other exports are made of the same objects. Fields that are added later are optional, so that older files
stay valid. An incompatible change increases the version. Messages are read in batches of bounded size,
however long a conversation is.
"""

import json
import uuid
from collections.abc import Iterable, Iterator
from operator import itemgetter
from typing import Any

from django.db.models import OuterRef, Subquery, Sum
from django.db.models.functions import Coalesce, Length

from chat.db.batches import batches_by_size
from chat.files.uploads import MAX_EXTENSION_CHARS
from chat.models import Attachment, Citation, Conversation, Message, Run, Step
from chat.models.attachment import EXTENSIONS
from chat.models.citation import CitedSource, by_source
from chat.models.message import MAX_BRANCH_DEPTH

from . import records

READ_BATCH_MESSAGES = 100
READ_BATCH_CHARS = 1_000_000  # code points of text and reasoning; a single message may have more
UNKNOWN_EXTENSION = "bin"
EXPORTED_CITATION_FIELDS = ("title", "url", "page", "text", "date")
# The code points that the models were sent as results for a reply.
RESULTS = (
    Step.objects.filter(message=OuterRef("pk"))
    .order_by()
    .values("message")
    .values(chars=Sum(Length("result")))
)

Ids = list[uuid.UUID]  # of a batch of messages


def json_pieces(conversation: Conversation) -> Iterator[str]:
    """Yield the file of a conversation, all its branches, with one message on each line.

    It comes in pieces, each read from the database only when it is needed.
    """
    yield f'{_dumps(_head(conversation))[:-1]}, "messages": ['
    between = "\n"
    rows = Message.objects.filter(conversation_id=conversation.pk, deleted=None).order_by("created", "pk")
    chars = Length("text") + Length("reasoning") + Coalesce(Subquery(RESULTS), 0)
    for batch in _batches(rows.values_list("pk", chars).iterator(chunk_size=2_000)):
        for message in read(batch, whole=True):
            yield between + _dumps(message)
            between = ",\n"
    yield "\n]}\n"


def _dumps(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _head(conversation: Conversation) -> records.Object:
    leaf = conversation.active_leaf_id
    is_there = leaf and Message.objects.filter(pk=leaf, deleted=None).exists()
    version = conversation.assistant_version
    found: records.Object = {
        "format": records.CONVERSATION_FORMAT,
        "version": records.CONVERSATION_FORMAT_VERSION,
        "id": str(conversation.pk),
        "title": conversation.title,
        "model": conversation.model,
        "system": conversation.system,
        "parameters": conversation.parameters,
        "tools": conversation.tools,
        "created": records.written(conversation.created),
        "updated": records.written(conversation.updated),
        "pinned_at": records.written(conversation.pinned_at),
        "archived_at": records.written(conversation.archived_at),
        "tags": sorted(tag.name for tag in conversation.tags.all()),
        "active_leaf": str(leaf) if is_there else None,
    }
    if version:  # without the instructions
        of_assistant = {"version": version.number, "name": version.name}
        found["assistant"] = {"id": str(version.assistant_id), **of_assistant}
    return found


def shown_batches(conversation: Conversation) -> list[Ids]:
    """Return the messages of the active branch, the root first."""
    return branch_batches(conversation.active_leaf_id) if conversation.active_leaf_id else []


def branch_batches(leaf: uuid.UUID) -> list[Ids]:
    path = [(node.id, node.length) for node in Message.objects.ancestors(leaf, MAX_BRANCH_DEPTH)]
    return _batches(reversed(path))


def _batches(sized: Iterable[tuple[uuid.UUID, int]]) -> list[Ids]:
    """Return the messages in batches. `sized`: their ids and lengths."""
    batches = batches_by_size(sized, itemgetter(1), max_items=READ_BATCH_MESSAGES, max_size=READ_BATCH_CHARS)
    return [[key for key, _ in batch] for batch in batches]


def read(batch: Ids, *, whole: bool = False) -> list[records.Object]:
    """Return the messages of a batch, with their runs, feedback, pictures and citations; no deleted ones.

    `whole`: with the steps, too, and what the models were sent in them.
    """
    runs: dict[uuid.UUID, list[Run]] = {}
    # Before the messages: the text of one that ends now is in its message from then on.
    for run in Run.objects.filter(message_id__in=batch).order_by("created", "pk"):
        runs.setdefault(run.message_id, []).append(run)
    found = Message.objects.filter(deleted=None).select_related("feedback", "imported_runs").in_bulk(batch)
    attachments = Attachment.objects.of_messages(found)
    citations = Citation.objects.of_messages(found)
    read = [
        _message(found[key], runs.get(key, []), attachments.get(key, []), citations.get(key, []))
        for key in batch
        if key in found
    ]
    steps = Step.objects.of_messages(found, with_results=True) if whole else {}
    for message in read:
        if several := steps.get(uuid.UUID(message["id"])):
            message["steps"] = [_step(n, each) for n, each in enumerate(several[: records.MAX_STEPS], 1)]
    return read


def _message(
    message: Message, runs: list[Run], attachments: list[Attachment], citations: list[Citation]
) -> records.Object:
    """Return a message, with what a live run has written so far.

    A message without pictures and documents has no field `attachments`, one without citations no field
    `citations`.
    """
    text, reasoning = message.text, message.reasoning
    if runs and runs[-1].is_live:
        text, reasoning = runs[-1].texts_of_message()
    feedback: Any = getattr(message, "feedback", None)
    imported: Any = getattr(message, "imported_runs", None)
    found = {
        "id": str(message.pk),
        "parent": str(message.parent_id) if message.parent_id else None,
        "role": message.role,
        "text": text,
        "reasoning": reasoning,
        "model": message.model,
        "created": records.written(message.created),
        "selected_at": records.written(message.selected_at),
        "feedback": feedback and {"thumb": feedback.thumb, "reason": feedback.reason},
        "runs": [*(imported.runs if imported else []), *map(_run, runs)],
    }
    if attachments:
        found["attachments"] = [attachment_object(each) for each in attachments]
    if citations:
        found["citations"] = [_citation(each) for each in citations]
    return found


def attachment_object(attachment: Attachment) -> records.Object:
    """Return a picture or document without its bytes. `file` is its name in an archive."""
    found: records.Object = {
        "id": str(attachment.pk),
        "file": file_name(attachment),
        "name": attachment.name,
        "alt": attachment.alt,
        "media_type": attachment.media_type,
        "width": attachment.width,
        "height": attachment.height,
        "size": attachment.size,
    }
    return found if attachment.is_picture else found | {"pages": attachment.pages}


def is_picture(attachment: records.Object) -> bool:
    """Return True if what `attachment_object` returned is a picture."""
    return attachment["media_type"] in EXTENSIONS


def file_name(attachment: Attachment) -> str:
    """Return the name of the attachment's file in an archive. The extension of a document is its owner's."""
    extension = EXTENSIONS.get(attachment.media_type) or attachment.name.rpartition(".")[2].lower()
    known = extension.isascii() and extension.isalnum() and len(extension) <= MAX_EXTENSION_CHARS
    return f"{records.ATTACHMENTS_FOLDER}{attachment.sha256}.{extension if known else UNKNOWN_EXTENSION}"


def _citation(citation: Citation) -> records.Object:
    """Return a passage that a reply was written from. `page` is 0 for none, `url` and `date` "" for none.

    `attachment` is the id of the document that it is from, if that is known.
    """
    found = {name: getattr(citation, name) for name in EXPORTED_CITATION_FIELDS} | {
        "created": records.written(citation.created)
    }
    return found | ({"attachment": str(citation.attachment_id)} if citation.attachment_id else {})


def sources_of(message: records.Object) -> list[CitedSource]:
    found = enumerate(message.get("citations", ()), 1)
    return by_source(
        Citation(number=n, **{name: each[name] for name in EXPORTED_CITATION_FIELDS}) for n, each in found
    )


def sha256_in(name: str) -> str:
    """Return the hash in what `file_name` returned."""
    return name.removeprefix(records.ATTACHMENTS_FOLDER).partition(".")[0]


def _step(number: int, step: Step) -> records.Object:
    """Return the call of a tool. `n` counts within the reply, over all its runs."""
    found: records.Object = {"n": number} | {
        name: getattr(step, name) for name in records.EXPORTED_STEP_FIELDS
    }
    return found | {"created": records.written(step.created), "finished": records.written(step.finished)}


def _run(run: Run) -> records.Object:
    """Return one attempt at a reply. `usage` is null if the model's server did not report it."""
    found: records.Object = {name: getattr(run, name) for name in records.RUN_TEXTS}
    found |= {"parameters": run.parameters, "max_tokens": run.max_tokens}
    found |= {name: records.written(getattr(run, name)) for name in records.RUN_TIMES}
    reported = run.completion_tokens is not None
    return found | {
        "usage": {name: getattr(run, name) for name in records.USAGE_FIELDS} if reported else None
    }
