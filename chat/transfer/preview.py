"""The preview of an import: the counts of what it would store, and of what it would leave out."""

import logging
from collections import Counter
from collections.abc import Mapping
from typing import Any

from chat.library.memory import MAX_MEMORIES
from chat.models import Memory, User

from . import library, records
from .attachments import Attachments
from .merging import Planned, new_messages
from .problems import LEFT_OUT, PromptProblem
from .storing import id_of, ids_of, is_in_trash, is_known

logger = logging.getLogger(__name__)

SHOWN_NAMES = 20  # of each kind
NAME_CHARS = 100
COUNTS = (
    *("conversations", "messages", "assistants", "grown", "added", "known", "trashed"),
    *("prompts", "known_prompts", "refused_prompts", "memories", "refused_memories"),
)


def attachments_of(messages: list[records.ImportedMessage]) -> list[records.ImportedAttachment]:
    return [each for message in messages for each in message.attachments]


def add_left_out(counted: dict[str, Any], more: Mapping[str, list[str]]) -> None:
    """Count what is left out by kind, and keep the names that are shown."""
    for kind, names in more.items():
        if names and kind in LEFT_OUT:
            of_kind = counted.setdefault(kind, {"count": 0, "names": []})
            of_kind["count"] += len(names)
            room = SHOWN_NAMES - len(of_kind["names"])
            of_kind["names"] += [name[:NAME_CHARS] for name in names[:room]]


class Preview:
    """Counts of what an import would store, shown before it is started."""

    def __init__(self, user: User, files: Attachments) -> None:
        self._user, self._files = user, files
        self._own_prompts = library.OwnPrompts(user)
        self._facts = set(Memory.objects.owned_by(user).values_list("fact", flat=True))
        self._counts: Counter[str] = Counter()  # COUNTS, and more for `problem`
        self._sources: dict[str, None] = {}
        self._skipped: Counter[str] = Counter()
        self._left_out: dict[str, Any] = {}
        self._planned = Planned()

    def add(self, found: records.Imported | records.Refusal) -> None:
        match found:
            case records.Refusal(code="prompt"):
                self._counts["refused_prompts"] += 1
            case records.Refusal(code=code, error=error):
                self._skipped[code] += 1
                if error:
                    logger.error("a conversation of an imported file could not be read: %s", error)
            case records.ImportedPrompt():
                self._add_prompt(found)
            case records.ImportedMemory(fact=fact):
                self._add_fact(fact)
            case records.ImportedAssistant() if library.is_known(self._user, found):
                self._counts["known_assistants"] += 1
            case records.ImportedAssistant():
                self._counts["assistants"] += 1
                self._leave_out(attachment=self._files.left_out(found.files))
            case records.ImportedConversation():
                self._add_conversation(found)
            case records.OtherFiles(names=names):
                self._leave_out(file=names)

    def _leave_out(self, **names: list[str]) -> None:
        add_left_out(self._left_out, names)

    def _add_prompt(self, prompt: records.ImportedPrompt) -> None:
        try:
            is_new = self._own_prompts.add(library.prompt_content(prompt))
        except PromptProblem:
            self._counts["refused_prompts"] += 1
        else:
            self._counts["prompts" if is_new else "known_prompts"] += 1

    def _add_fact(self, fact: str) -> None:
        if fact in self._facts:
            self._counts["known_memories"] += 1
        elif len(self._facts) >= MAX_MEMORIES:
            self._counts["refused_memories"] += 1
        else:
            self._facts.add(fact)
            self._counts["memories"] += 1

    def _add_conversation(self, conversation: records.ImportedConversation) -> None:
        user = self._user
        key = id_of(user, conversation)
        ids = ids_of(key, conversation)
        if key not in self._planned and not is_known(user, conversation):
            self._planned.add(key, ids.values())
            self._sources[conversation.source] = None
            self._counts += Counter(conversations=1, messages=len(conversation.messages))
            add_left_out(self._left_out, conversation.left_out)
            self._leave_out(attachment=self._files.left_out(attachments_of(conversation.messages)))
        elif new := new_messages(user, conversation, self._planned.get(key)):
            self._planned.add(key, (ids[each.key] for each in new))
            self._counts += Counter(grown=1, added=len(new))
            self._leave_out(attachment=self._files.left_out(attachments_of(new)))
        else:
            is_trashed = key not in self._planned and is_in_trash(user, conversation)
            self._counts["trashed" if is_trashed else "known"] += 1

    @property
    def is_empty(self) -> bool:
        new = ("conversations", "grown", "prompts", "assistants", "memories")
        return not any(self._counts[each] for each in new)

    @property
    def problem(self) -> str:
        """The reason for which an empty one is refused: a key of `problems.FILE_PROBLEMS`."""
        if self._skipped or self._counts["refused_prompts"] or self._counts["refused_memories"]:
            return "nothing"
        known = ("known", "trashed", "known_prompts", "known_assistants", "known_memories")
        return "known" if any(self._counts[each] for each in known) else "no_conversations"

    def as_dict(self) -> dict[str, Any]:
        return {
            **{name: self._counts[name] for name in COUNTS},
            "sources": list(self._sources),
            "skipped": dict(self._skipped),
            "without": self._left_out,
        }
