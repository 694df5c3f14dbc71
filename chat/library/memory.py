"""Memory: short facts that models are told in a person's chats, as a part of the system prompt."""

import re
import uuid
from datetime import datetime

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from chat.db.executor import write_lock
from chat.exceptions import BadRequest, Conflict, NotFound, PayloadTooLarge
from chat.formats import grouped_number
from chat.limits import MAX_FACT_CHARS
from chat.models import Conversation, Memory, Preferences, User
from chat.upstream import token_budget
from chat.upstream.catalog import LlmModel

MAX_MEMORIES = 200  # per person
HEADING = "What the person wants you to remember:"
WINDOW_DIVISOR = 4  # the facts get at most a quarter of the context window
# What a person says who wants something kept, in the languages of the page. Nothing else offers the tool, so
# no page or document can have a model keep anything.
_ASKED = re.compile(
    r"\b(remember|memori[sz]e|keep in mind|don[’']t forget|merk(e|en)?|vergiss (das |es )?nicht"
    r"|denk daran|souviens|rappelle|retiens|retenez|n[’']oublie|mémorise)\b",
    re.IGNORECASE,
)


def applies(conversation: Conversation) -> bool:
    """Return True if the conversation may use the memory: it is switched on, and the chat not temporary."""
    preferences = Preferences.of(conversation.user)
    return not conversation.temporary and (preferences is None or preferences.memory)


def is_asked(question: str) -> bool:
    """Return True if a person's question asks to keep something."""
    return _ASKED.search(question) is not None


def told(conversation: Conversation, model: LlmModel) -> str:
    """Return what the system prompt says of the memory, the oldest fact first; "" if there is nothing to say.

    A small context window gets the newest facts.
    """
    if not applies(conversation):
        return ""
    room, lines = model.window // WINDOW_DIVISOR, [HEADING]
    for fact in Memory.objects.owned_by(conversation.user).reverse().values_list("fact", flat=True):
        line = f"- {fact}"
        room -= token_budget.estimate_text_tokens(f"{line}\n", local=model.local)
        if room < 0:
            break
        lines.insert(1, line)
    return "\n".join(lines) if len(lines) > 1 else ""


def remember(user: User, fact: str, created: datetime | None = None) -> tuple[Memory, bool]:
    """Return the fact, and whether it was stored now, which `forget` undoes; or it was there already.

    Raises BadRequest, PayloadTooLarge, and Conflict at the limit.
    """
    fact = _in_one_line(fact)
    with write_lock(), transaction.atomic():
        user.lock()
        own = Memory.objects.owned_by(user)
        if known := own.filter(fact=fact).first():
            return known, False
        if own.count() >= MAX_MEMORIES:
            words = _("You can have at most %(most)s memories. Delete one first.")
            raise Conflict(words % {"most": MAX_MEMORIES})
        now = timezone.now()
        return Memory.objects.create(owner=user, fact=fact, created=min(created or now, now)), True


def edit(user: User, key: uuid.UUID, fact: str) -> Memory:
    """Change a fact, which keeps its place. Raises BadRequest, PayloadTooLarge and NotFound."""
    fact = _in_one_line(fact)
    with write_lock(), transaction.atomic():
        Memory.objects.owned_by(user).filter(pk=key).update(fact=fact)
        return find(user, key)


def find(user: User, key: uuid.UUID) -> Memory:
    """Return one of the person's own. Raises NotFound."""
    found = Memory.objects.owned_by(user).filter(pk=key).first()
    if found is None:
        raise NotFound(_("This memory doesn’t exist."))
    return found


def forget(user: User, key: uuid.UUID) -> None:
    """Delete a fact. Raises NotFound."""
    with write_lock(), transaction.atomic():
        find(user, key).delete()


def forget_all(user: User) -> int:
    """Delete all facts, and return how many there were."""
    with write_lock():
        return Memory.objects.owned_by(user).delete()[0]


def _in_one_line(fact: str) -> str:
    fact = " ".join(fact.split())
    if not fact:
        raise BadRequest(_("Write what models should remember."))
    if len(fact) > MAX_FACT_CHARS:
        words = _("A memory can have %(longest)s characters; this one has %(length)s.")
        raise PayloadTooLarge(words % {"longest": MAX_FACT_CHARS, "length": grouped_number(len(fact))})
    return fact
