"""The transcript of a conversation for reviewers: one page of one branch, with links to all others."""

import uuid
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from django.db import connection
from django.db.models import Sum, TextField
from django.db.models.functions import Cast

from chat.catalog.catalog import dollars, model_name
from chat.conversations.tools.shown import shown_steps
from chat.formats import grouped_number, written_cost
from chat.message_rendering import Text, render_page_sync
from chat.models import Attachment, Citation, Conversation, Feedback, Message, Run, Step, TitleRequest
from chat.models.citation import CitedSource, by_source
from chat.rendering.message_html import MessageHtml

TRANSCRIPT_MESSAGES = 100  # shown at once
Newest = Literal[""]
NEWEST: Newest = ""  # the value of `before` for the newest page
# A message's id and times, as texts of the database or in the form of Python; all of one tree in the same.
NodeKey = Any
Moment = Any
NodeRow = tuple[NodeKey, NodeKey | None, Moment, Moment | None]


class Tree:
    """All messages of a conversation, from rows (id, parent, created, selected_at), oldest first."""

    def __init__(self, rows: Iterable[NodeRow]) -> None:
        self._parent: dict[NodeKey, NodeKey | None] = {}
        self._chosen: dict[NodeKey, Moment] = {}
        self._versions: dict[NodeKey | None, list[NodeKey]] = defaultdict(list)
        for key, parent, created, picked in rows:
            self._parent[key] = parent
            self._chosen[key] = max(created, picked or created)
            self._versions[parent].append(key)

    def __contains__(self, key: NodeKey) -> bool:
        return key in self._parent

    def __len__(self) -> int:
        return len(self._parent)

    @property
    def ends(self) -> int:
        return sum(key not in self._versions for key in self._parent)

    def versions(self, key: NodeKey) -> list[NodeKey]:
        """Return the message and its siblings, oldest first."""
        return self._versions[self._parent[key]]

    def branch(self, leaf: NodeKey) -> list[NodeKey]:
        """Return the messages from the root to `leaf`. It ends at a cycle, which nothing here writes."""
        path: dict[NodeKey, None] = {}
        key: NodeKey | None = leaf
        while key in self._parent and key not in path:
            path[key] = None
            key = self._parent[key]
        return list(reversed(path))

    def through(self, key: NodeKey | None) -> list[NodeKey]:
        """Return the branch through message `key`, or from the root if None, down to a leaf.

        Below `key`, each step takes the child that was created or selected last, as the author's page does.
        """
        path = dict.fromkeys(self.branch(key) if key else [])
        while (following := self._versions.get(key)) and not path.keys() & following:
            key = max(following, key=self._chosen.__getitem__)
            path[key] = None
        return list(path)


@dataclass(frozen=True, slots=True)
class TranscriptEntry:
    """A message with its whole text, which includes the text so far of a live run; `runs` oldest first."""

    message: Message
    text: str
    reasoning: str
    runs: list[Run]
    versions: list[uuid.UUID]
    feedback: Feedback | None
    pictures: list[Attachment]
    documents: list[Attachment]
    sources: list[CitedSource]
    steps: dict[str, Any] | None
    html: MessageHtml | None = None  # once it is rendered

    @property
    def state(self) -> str:
        """The status of the latest run; "" for a question."""
        return self.runs[-1].status if self.runs else ""

    @property
    def is_live(self) -> bool:
        return bool(self.runs and self.runs[-1].is_live)

    @property
    def model(self) -> str:
        return model_name(self.message.model)


@dataclass(frozen=True, slots=True)
class CostSummary:
    """Tokens over all branches and of the title request, and their cost, with that of the steps."""

    prompt_tokens: int
    completion_tokens: int
    cost: str

    @property
    def prompt_count(self) -> str:
        return grouped_number(self.prompt_tokens)

    @property
    def completion_count(self) -> str:
        return grouped_number(self.completion_tokens)


@dataclass(frozen=True, slots=True)
class Transcript:
    """A page of a branch. `older` and `newer` are values of `before`, None if there is no such page."""

    entries: list[TranscriptEntry]
    messages: int
    branches: int
    on_branch: int
    active: bool
    older: uuid.UUID | None
    newer: uuid.UUID | Newest | None
    bill: CostSummary = field(repr=False)

    @property
    def has_attachments(self) -> bool:
        return any(entry.pictures or entry.documents for entry in self.entries)

    def rendered_for(self, person: int) -> "Transcript":
        """Return the transcript with the messages' HTML. Slow, so call it outside of a transaction."""
        texts = [
            Text(
                entry.text,
                str(entry.message.pk),
                not entry.is_live,
                typed=entry.message.role == Message.Role.USER,
                sources=len(entry.sources),
            )
            for entry in self.entries
        ]
        rendered = zip(self.entries, render_page_sync(person, texts), strict=True)
        return replace(self, entries=[replace(entry, html=html) for entry, html in rendered])


def read(conversation: Conversation, leaf: uuid.UUID | None, before: uuid.UUID | None) -> Transcript:
    """Return the newest page of a branch, or the page that ends just before the message `before`.

    The branch is the one through `leaf`, or else the one that the owner sees.

    Raises LookupError: when `leaf` is not in the conversation, or `before` not on the branch.
    """
    tree = Tree(_shape(conversation))
    active = _active(conversation, tree)
    through, until = (_to_db(key) if key else None for key in (leaf, before))
    branch = tree.through(through) if through else active
    if (through and through not in tree) or (until and until not in branch):
        raise LookupError("There is no such message on this branch.")
    end = branch.index(until) if until else len(branch)
    start = max(0, end - TRANSCRIPT_MESSAGES)
    return Transcript(
        entries=_entries(tree, branch[start:end]),
        messages=len(tree),
        branches=tree.ends,
        on_branch=len(branch),
        active=branch == active,
        older=_to_python(branch[start]) if start else None,
        newer=_newer(branch, end),
        bill=_bill(conversation),
    )


def _shape(conversation: Conversation) -> list[Any]:
    """Return the rows of the tree as texts, since a long conversation has thousands.

    Converting their keys and times took 100 ms for 10,000 messages, 25 ms of it in the driver. The times of
    one database session have the same format and time zone, so their texts sort as the times do.
    """
    rows = Message.objects.filter(conversation=conversation).order_by("created", "pk")
    columns = (Cast(name, TextField()) for name in ("pk", "parent_id", "created", "selected_at"))
    statement = rows.values_list(*columns).query.sql_with_params()
    with connection.cursor() as cursor:
        cursor.execute(*statement)
        return cursor.fetchall()


def _to_db(key: uuid.UUID) -> NodeKey:
    return str(Message._meta.pk.get_db_prep_value(key, connection))


def _to_python(key: NodeKey) -> uuid.UUID:
    return Message._meta.pk.to_python(key)


def _active(conversation: Conversation, tree: Tree) -> list[NodeKey]:
    leaf = conversation.active_leaf_id and _to_db(conversation.active_leaf_id)
    return tree.branch(leaf) if leaf is not None and leaf in tree else tree.through(None)


def _newer(branch: list[NodeKey], end: int) -> uuid.UUID | Newest | None:
    if end == len(branch):
        return None
    return (
        _to_python(branch[end + TRANSCRIPT_MESSAGES]) if end + TRANSCRIPT_MESSAGES < len(branch) else NEWEST
    )


def _entries(tree: Tree, branch: list[NodeKey]) -> list[TranscriptEntry]:
    keys = [_to_python(key) for key in branch]
    runs = defaultdict(list)
    for run in Run.objects.filter(message__in=keys).order_by("created"):  # before the messages: it may end
        runs[run.message_id].append(run)
    found = Message.objects.select_related("feedback").in_bulk(keys)
    attachments = Attachment.objects.of_messages(keys)
    citations = Citation.objects.of_messages(keys, for_others=True)
    steps = Step.objects.of_messages(keys)
    return [
        _entry(
            tree,
            found[key],
            runs[key],
            attachments.get(key, []),
            by_source(citations.get(key, ())),
            steps.get(key, []),
        )
        for key in keys
        if key in found
    ]


def _entry(
    tree: Tree,
    message: Message,
    runs: list[Run],
    attachments: list[Attachment],
    sources: list[CitedSource],
    steps: list[Step],
) -> TranscriptEntry:
    text, reasoning = message.text, message.reasoning
    if runs and runs[-1].is_live:
        text, reasoning = runs[-1].texts_of_message()
    judged = getattr(message, "feedback", None)
    versions = [_to_python(key) for key in tree.versions(_to_db(message.pk))]
    pictures = [each for each in attachments if each.is_picture]
    documents = [each for each in attachments if not each.is_picture]
    shown = shown_steps(steps, live=bool(runs and runs[-1].is_live)) if steps else None
    return TranscriptEntry(
        message, text, reasoning, runs, versions, judged, pictures, documents, sources, shown
    )


def _bill(conversation: Conversation) -> CostSummary:
    counted: list[tuple[str, int, int]] = []
    for requests in (Run.objects, TitleRequest.objects):
        by_model = requests.filter(conversation=conversation).order_by().values_list("model")
        counted += by_model.annotate(Sum("prompt_tokens", default=0), Sum("completion_tokens", default=0))
    paid = Step.objects.filter(run__conversation=conversation).aggregate(paid=Sum("cost", default=0))["paid"]
    cost = written_cost(*(dollars([row]) for row in counted), paid)
    return CostSummary(sum(row[1] for row in counted), sum(row[2] for row in counted), cost)
