"""The prompt library in the export of a person's data, and its import.

The file `prompts.json` is described by prompts.schema.json. A prompt's groups are not exported.
"""

import json
from dataclasses import dataclass
from typing import Any

from django.db import transaction

from chat.db.executor import write_lock
from chat.exceptions import BadRequest
from chat.library.prompts import MAX_PROMPTS, PromptContent, command_of
from chat.limits import MAX_COMMAND_CHARS
from chat.models import Prompt, User

from .problems import PromptProblem
from .records import PROMPT_FORMAT, PROMPT_FORMAT_VERSION, ImportedPrompt, written

PROMPTS_FILE = "prompts.json"


def prompts_json(user: User) -> str:
    """Return the person's own prompts as a JSON array, "" if there are none. At most 4 million characters."""
    own = Prompt.objects.owned_by(user).order_by("command")
    lines = [json.dumps(_object(prompt), ensure_ascii=False) for prompt in own]
    return "[\n" + ",\n".join(lines) + "\n]\n" if lines else ""


def _object(prompt: Prompt) -> dict[str, Any]:
    return {
        "format": PROMPT_FORMAT,
        "version": PROMPT_FORMAT_VERSION,
        "id": str(prompt.pk),
        "title": prompt.title,
        "command": prompt.command,
        "text": prompt.text,
        "created": written(prompt.created),
        "updated": written(prompt.updated),
    }


def content_of(found: ImportedPrompt) -> PromptContent:
    """Return the prompt as it can be stored. Raises PromptProblem."""
    title = " ".join(found.title.split())
    try:
        command = command_of(found.command, title)
    except BadRequest as error:
        raise PromptProblem from error
    if not (title and found.text.strip()):
        raise PromptProblem
    return PromptContent(title, command, found.text)


@dataclass(slots=True)
class OwnPrompts:
    """The person's prompts as an import compares and adds to them: {command: (title, text)}."""

    prompts: dict[str, tuple[str, str]]

    @classmethod
    def of(cls, user: User) -> "OwnPrompts":
        own = Prompt.objects.owned_by(user).values_list("command", "title", "text")
        return cls({command: (title, text) for command, title, text in own})

    def add(self, content: PromptContent) -> PromptContent | None:
        """Add a prompt, and return it with a command that is free; None if it is here already.

        A prompt with the same title and text is the same one, whatever its command. Raises PromptProblem
        at the limit.
        """
        if (content.title, content.text) in self.prompts.values():
            return None
        if len(self.prompts) >= MAX_PROMPTS:
            raise PromptProblem
        command = self._free(content.command)
        self.prompts[command] = (content.title, content.text)
        return PromptContent(content.title, command, content.text)

    def _free(self, wanted: str) -> str:
        """Return the command, with a number if it is taken."""
        command, number = wanted, 1
        while command in self.prompts:
            number += 1
            command = f"{wanted[: MAX_COMMAND_CHARS - len(str(number)) - 1]}-{number}"
        return command


def store(user: User, content: PromptContent) -> bool:
    """Store a prompt unless it is here already; return True if it was stored. Raises PromptProblem."""
    with write_lock(), transaction.atomic():
        user.lock()
        new = OwnPrompts.of(user).add(content)
        if new:
            Prompt.objects.create(owner=user, title=new.title, command=new.command, text=new.text)
        return new is not None
