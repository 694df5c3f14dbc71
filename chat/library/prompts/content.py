"""The content of a prompt, as a person writes it, and the checks of its command."""

import re
import unicodedata
from dataclasses import dataclass

from django.utils.translation import gettext as _

from chat.exceptions import BadRequest
from chat.limits import MAX_COMMAND_CHARS

COMMAND = re.compile(rf"[\w-]{{1,{MAX_COMMAND_CHARS}}}")  # letters and digits of any script
FALLBACK = "prompt"  # the command of a title without letters and digits


@dataclass(frozen=True, slots=True)
class PromptContent:
    """The fields of a prompt: see `chat.models.Prompt`."""

    title: str
    command: str
    text: str


def command_of(typed: str, title: str) -> str:
    """Return the command in its stored form: lowercase, without the slash. An empty one is made of the title.

    Raises BadRequest for other characters than letters, digits, hyphens and underscores.
    """
    command = _folded(typed.strip().removeprefix("/")) or command_from(title)
    if not COMMAND.fullmatch(command):
        words = _("A command has up to %(most)s letters, digits, hyphens and underscores, and no spaces.")
        raise BadRequest(words % {"most": MAX_COMMAND_CHARS})
    return command


def command_from(title: str) -> str:
    """Return a command made of a title."""
    return "-".join(re.findall(r"\w+", _folded(title)))[:MAX_COMMAND_CHARS].strip("-") or FALLBACK


def _folded(text: str) -> str:
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).lower())
