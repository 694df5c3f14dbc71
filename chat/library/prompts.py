"""The prompt library: a person's prompts, and those that staff publish to everybody or to groups.

The fields of a prompt and their values are for pages without scripts: as in static/js/prompt_fields.js.
"""

import re
import unicodedata
import uuid
from collections.abc import Mapping
from dataclasses import dataclass

from django.db import transaction
from django.db.models import BooleanField, ExpressionWrapper, Q, TextField
from django.db.models.functions import Substr
from django.utils import timezone
from django.utils.translation import gettext as _

from chat.db.executor import write_lock
from chat.exceptions import BadRequest, Conflict, NotFound
from chat.library import publication
from chat.library.publication import Audience, may_publish
from chat.limits import MAX_COMMAND_CHARS
from chat.models import Prompt, User
from chat.models.library import PromptQuerySet

# White space as JavaScript's `\s` has it.
WHITE = "\t-\r \xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
EDGE = f"[^{{}}:{WHITE}]"
PROMPT_FIELD = re.compile(rf"\{{\{{[ \t]*({EDGE}(?:[^{{}}:\n]*{EDGE})?)[ \t]*(?::([^{{}}]*))?\}}\}}")
COMMAND = re.compile(rf"[\w-]{{1,{MAX_COMMAND_CHARS}}}")  # letters and digits of any script
FALLBACK = "prompt"  # the command of a title without letters and digits
MAX_PROMPTS = 200  # per person
MAX_LISTED = 1_000  # in the menu; more can only come from many people who publish
PROMPT_EXCERPT_CHARS = 120  # of a text, in lists


def fields_of(text: str) -> dict[str, str]:
    """Return the fields by name with their defaults, in their order. The first default of a name counts."""
    found: dict[str, str] = {}
    for field in PROMPT_FIELD.finditer(text):
        found[field[1]] = found.get(field[1]) or field[2] or ""
    return found


def filled_length(text: str, values: Mapping[str, str]) -> int:
    """Return the length of `fill_fields(text, values)`: a field that stands often can make it huge."""
    found = PROMPT_FIELD.finditer(text)
    return len(text) + sum(len(values[each[1]]) - len(each[0]) for each in found if each[1] in values)


def fill_fields(text: str, values: Mapping[str, str]) -> str:
    """Return the text with its fields filled in; a field without a value stays as it is written."""
    return PROMPT_FIELD.sub(lambda field: values.get(field[1], field[0]), text)


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


def listed(user: User) -> PromptQuerySet:
    """Return what the user may use, their own first, each with `beginning` instead of its text."""
    is_own = ExpressionWrapper(Q(owner_id=user.pk), output_field=BooleanField())
    found = Prompt.objects.usable_by(user).defer("text")
    found = found.annotate(beginning=Substr("text", 1, PROMPT_EXCERPT_CHARS, output_field=TextField()))
    return found.order_by(is_own.desc(), "command", "pk")[:MAX_LISTED]


def find(user: User, prompt: uuid.UUID) -> Prompt:
    """Return a prompt that the user may use. Raises NotFound, also for a stranger's."""
    return _one(Prompt.objects.usable_by(user), prompt)


def find_own(user: User, prompt: uuid.UUID) -> Prompt:
    """Return a prompt that the user may edit. Raises NotFound."""
    return _one(Prompt.objects.owned_by(user), prompt)


def _one(among: PromptQuerySet, key: uuid.UUID) -> Prompt:
    found = among.filter(pk=key).first()
    if found is None:
        raise NotFound(_("This prompt doesn’t exist."))
    return found


def create(user: User, content: PromptContent, audience: Audience | None = None) -> Prompt:
    """Store a new prompt, published to `audience`. Raises Conflict at the limit, or for a taken command."""
    with write_lock(), transaction.atomic():
        user.lock()
        if Prompt.objects.owned_by(user).count() >= MAX_PROMPTS:
            words = _("You can have at most %(most)s prompts. Delete one first.")
            raise Conflict(words % {"most": MAX_PROMPTS})
        _require_free(user, content.command, None)
        prompt = Prompt.objects.create(
            owner=user, title=content.title, command=content.command, text=content.text
        )
        if audience:
            publication.publish(prompt, audience)
        return prompt


def edit(user: User, key: uuid.UUID, content: PromptContent, audience: Audience | None = None) -> Prompt:
    """Change a prompt; without an `audience` it stays published as it is.

    Raises NotFound, and Conflict if the command is taken, or it is published and the user may not publish.
    """
    with write_lock(), transaction.atomic():
        user.lock()
        prompt = find_own(user, key)
        if not may_publish(user, Prompt) and Prompt.objects.published().filter(pk=key).exists():
            raise Conflict(
                _("This prompt is published, and you may no longer publish prompts. You can delete it.")
            )
        _require_free(user, content.command, key)
        prompt.title, prompt.command, prompt.text = content.title, content.command, content.text
        prompt.updated = timezone.now()
        prompt.save(update_fields=["title", "command", "text", "updated"])
        if audience:
            publication.publish(prompt, audience)
        return prompt


def delete(user: User, key: uuid.UUID) -> None:
    """Delete a prompt. Raises NotFound."""
    with write_lock(), transaction.atomic():
        find_own(user, key).delete()


def published_by_others(user: User) -> PromptQuerySet:
    """Return the prompts of other people that are published, whose publication this user may end."""
    others = Prompt.objects.published().exclude(owner_id=user.pk)
    return others.select_related("owner").defer("text").order_by("command", "pk")


def withdraw(user: User, key: uuid.UUID) -> None:
    """End the publication of a prompt of any owner. Raises Forbidden and NotFound."""
    publication.require_permission(user, Prompt)
    with write_lock(), transaction.atomic():
        publication.publish(_one(Prompt.objects.published(), key), Audience())


def _require_free(user: User, command: str, key: uuid.UUID | None) -> None:
    taken = Prompt.objects.owned_by(user).filter(command=command)
    if (taken.exclude(pk=key) if key else taken).exists():
        words = _("You already have a prompt with the command /%(command)s. Choose another command.")
        raise Conflict(words % {"command": command})
