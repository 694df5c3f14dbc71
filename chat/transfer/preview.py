"""The objects of an imported file, and the counts of what an import would store."""

import logging
import uuid
from collections import Counter
from collections.abc import Mapping
from typing import Any

from chat.models import User

from . import assistants, prompts
from .attachments import Attachments
from .merging import Planned, new_messages
from .problems import LEFT_OUT, PromptProblem
from .records import (
    Imported,
    ImportedAssistant,
    ImportedAttachment,
    ImportedConversation,
    ImportedMessage,
    ImportedPrompt,
    OtherFiles,
    Refusal,
)
from .storing import id_of, ids_of, is_in_trash, is_known

logger = logging.getLogger(__name__)

SHOWN_NAMES = 20  # of each kind
NAME_CHARS = 100


def attachments_of(messages: list[ImportedMessage]) -> list[ImportedAttachment]:
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
        self._own_prompts = prompts.OwnPrompts.of(user)
        self._prompts = self._known_prompts = self._refused_prompts = 0
        self.conversations = self._messages = self._known = self._trashed = 0
        self._grown = self._added = self.assistants = self._known_assistants = 0
        self._sources: Counter[str] = Counter()
        self._skipped: Counter[str] = Counter()
        self._left_out: dict[str, Any] = {}
        self._planned = Planned()

    def add(self, found: Imported | Refusal) -> None:
        match found:
            case Refusal(code="prompt"):
                self._refused_prompts += 1
            case Refusal(code=code, error=error):
                self._skipped[code] += 1
                if error:
                    logger.error("a conversation of an imported file could not be read: %s", error)
            case ImportedPrompt():
                self._add_prompt(found)
            case ImportedAssistant():
                self._add_assistant(found)
            case ImportedConversation():
                self._add_conversation(found)
            case OtherFiles(names=names):
                add_left_out(self._left_out, {"file": names})

    def _add_prompt(self, prompt: ImportedPrompt) -> None:
        try:
            is_new = self._own_prompts.add(prompts.content_of(prompt))
        except PromptProblem:
            self._refused_prompts += 1
        else:
            self._prompts += bool(is_new)
            self._known_prompts += not is_new

    def _add_conversation(self, conversation: ImportedConversation) -> None:
        user = self._user
        key = id_of(user, conversation)
        if key not in self._planned and not is_known(user, conversation):
            self._add_new(key, conversation)
            return
        new = new_messages(user, conversation, self._planned.get(key)).messages
        if new:
            ids = ids_of(key, conversation)
            self._planned.add(key, (ids[each.key] for each in new))
            self._grown += 1
            self._added += len(new)
            add_left_out(self._left_out, {"attachment": self._files.left_out(attachments_of(new))})
        elif key not in self._planned and is_in_trash(user, conversation):
            self._trashed += 1
        else:
            self._known += 1

    def _add_assistant(self, assistant: ImportedAssistant) -> None:
        if assistants.is_known(self._user, assistant):
            self._known_assistants += 1
        else:
            self.assistants += 1
            add_left_out(self._left_out, {"attachment": self._files.left_out(assistant.files)})

    def _add_new(self, key: uuid.UUID, conversation: ImportedConversation) -> None:
        self._planned.add(key, ids_of(key, conversation).values())
        self._sources[conversation.source] += 1
        self.conversations += 1
        self._messages += len(conversation.messages)
        add_left_out(self._left_out, conversation.left_out)
        lost = self._files.left_out(attachments_of(conversation.messages))
        add_left_out(self._left_out, {"attachment": conversation.attachments + lost})

    @property
    def is_empty(self) -> bool:
        """True if there is nothing to import."""
        return not (self.conversations or self._grown or self._prompts or self.assistants)

    @property
    def problem(self) -> str:
        """The reason for which an empty one is refused: a key of `problems.FILE_PROBLEMS`."""
        if self._skipped or self._refused_prompts:
            return "nothing"
        known = self._known or self._trashed or self._known_prompts or self._known_assistants
        return "known" if known else "no_conversations"

    def as_dict(self) -> dict[str, Any]:
        return {
            "sources": list(self._sources),
            "conversations": self.conversations,
            "messages": self._messages,
            "assistants": self.assistants,
            "grown": self._grown,
            "added": self._added,
            "known": self._known,
            "trashed": self._trashed,
            "skipped": dict(self._skipped),
            "without": self._left_out,
            "prompts": self._prompts,
            "known_prompts": self._known_prompts,
            "refused_prompts": self._refused_prompts,
        }
