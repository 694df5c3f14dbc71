"""The transcript of a conversation for reviewers: one page of one branch, with links to all others."""

import uuid
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Literal

from chat.formats import grouped_number
from chat.message_rendering import Text, render_page_sync
from chat.model_catalog.catalog import current
from chat.models import Conversation, Feedback, Message, Run
from chat.rendering.message_html import MessageHtml
from chat.upstream.catalogue import LlmModel, bundled

from .tree import Tree

PAGE = 100  # messages shown at once
Newest = Literal[""]
NEWEST: Newest = ""  # the value of `before` for the newest page


@dataclass(frozen=True, slots=True)
class TranscriptEntry:
    """A message with its whole text, which includes the text so far of a live run; `runs` oldest first."""

    message: Message
    text: str
    reasoning: str
    runs: list[Run]
    versions: list[uuid.UUID]
    feedback: Feedback | None
    html: MessageHtml | None = None  # of a rendered reply

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
    """Tokens over all branches, and their cost in dollars, None unless every model's price is known."""

    prompt_tokens: int
    completion_tokens: int
    dollars: float | None

    @property
    def asked(self) -> str:
        return grouped_number(self.prompt_tokens)

    @property
    def said(self) -> str:
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

    def rendered_for(self, person: int) -> "Transcript":
        """Return the transcript with the replies' HTML. Slow, so call it outside of a transaction."""
        replies = [entry for entry in self.entries if entry.message.role == Message.Role.ASSISTANT]
        texts = [Text(entry.text, str(entry.message.pk), not entry.is_live) for entry in replies]
        made = dict(
            zip((entry.message.pk for entry in replies), render_page_sync(person, texts), strict=True)
        )
        return replace(
            self, entries=[replace(entry, html=made.get(entry.message.pk)) for entry in self.entries]
        )


def read(conversation: Conversation, leaf: uuid.UUID | None, before: uuid.UUID | None) -> Transcript:
    """Return the newest page of a branch, or the page that ends just before the message `before`.

    The branch is the one through `leaf`, or else the one that the owner sees.

    Raises LookupError: when `leaf` is not in the conversation, or `before` not on the branch.
    """
    shape = Message.objects.filter(conversation=conversation).order_by("created", "pk")
    tree = Tree(shape.values_list("pk", "parent_id", "created", "selected_at"))
    active = _active(conversation, tree)
    branch = tree.through(leaf) if leaf else active
    if (leaf and leaf not in tree) or (before and before not in branch):
        raise LookupError("There is no such message on this branch.")
    end = branch.index(before) if before else len(branch)
    start = max(0, end - PAGE)
    return Transcript(
        entries=_entries(tree, branch[start:end]),
        messages=len(tree),
        branches=tree.ends,
        on_branch=len(branch),
        active=branch == active,
        older=branch[start] if start else None,
        newer=_newer(branch, end),
        bill=_bill(conversation),
    )


def _active(conversation: Conversation, tree: Tree) -> list[uuid.UUID]:
    leaf = conversation.active_leaf_id
    return tree.branch(leaf) if leaf is not None and leaf in tree else tree.through(None)


def _newer(branch: list[uuid.UUID], end: int) -> uuid.UUID | Newest | None:
    if end == len(branch):
        return None
    return branch[end + PAGE] if end + PAGE < len(branch) else NEWEST


def _entries(tree: Tree, keys: list[uuid.UUID]) -> list[TranscriptEntry]:
    found = Message.objects.select_related("feedback").in_bulk(keys)
    runs = defaultdict(list)
    for run in Run.objects.filter(message__in=keys).order_by("created"):
        runs[run.message_id].append(run)
    return [_entry(tree, found[key], runs[key]) for key in keys if key in found]


def _entry(tree: Tree, message: Message, runs: list[Run]) -> TranscriptEntry:
    text, reasoning = message.text, message.reasoning
    if runs and runs[-1].is_live:
        more, thoughts = runs[-1].texts()
        text, reasoning = text + more, reasoning + thoughts
    judged = getattr(message, "feedback", None)
    return TranscriptEntry(message, text, reasoning, runs, tree.versions(message.pk), judged)


def _bill(conversation: Conversation) -> CostSummary:
    used = conversation.runs.values_list("model", "prompt_tokens", "completion_tokens")
    counted = [(model, asked or 0, said or 0) for model, asked, said in used]
    return CostSummary(sum(row[1] for row in counted), sum(row[2] for row in counted), dollars(counted))


def dollars(used: Iterable[tuple[str, int, int]]) -> float | None:
    """Return the cost of (model, tokens in, tokens out); None if the price of a model used is unknown."""
    total = 0.0
    for name, asked, said in used:
        model = _known(name)
        if model is None or model.price_in is None or model.price_out is None:
            if asked or said:
                return None
            continue
        total += (asked * model.price_in + said * model.price_out) / 1_000_000
    return total


def model_name(key: str) -> str:
    """Return the model's display name; the id of an unknown model."""
    model = _known(key)
    return model.name if model else current.get().name_of(key)


def _known(key: str) -> LlmModel | None:
    """Return the model from the catalogue, else from this software's own list, else None."""
    return current.get().get_known(key) or next((model for model in bundled() if model.id == key), None)
