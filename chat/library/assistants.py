"""A person's assistants: created, edited as new versions, published, deleted, restored and copied.

Variables in their instructions are replaced when a prompt is built. The values are in English, because models
read them; only the name of the language is the reader's choice.
"""

import re
import unicodedata
import uuid
from collections.abc import Collection
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Case, Max, When
from django.utils import timezone, translation
from django.utils.formats import date_format
from django.utils.translation import get_language, get_language_info
from django.utils.translation import gettext as _

from chat.db.executor import write_lock
from chat.exceptions import BadRequest, Conflict, NotFound
from chat.library import publication
from chat.library.publication import Audience, may_publish
from chat.limits import MAX_ASSISTANT_NAME_CHARS, MAX_PICTURE_CHARS
from chat.models import Assistant, AssistantVersion, User
from chat.models.library import AssistantQuerySet
from chat.upstream.catalog import Catalog, LlmModel, UnknownModel

from . import assistant_documents
from .assistant_documents import ids_of

JOINER = "\u200d"  # between two emoji that are shown as one
PARTS_OF_EMOJI = ("So", "Sk", "Mn", "Cf")  # Unicode categories
INSTRUCTION_VARIABLE = re.compile(r"\{(date|time|name|language)\}")
MAX_ASSISTANTS = 100  # per person


@dataclass(frozen=True, slots=True)
class AssistantContent:
    """The fields of a version: see `chat.models.AssistantVersion`. `documents`: ids, in their order.

    `image`: the id of the uploaded picture.
    """

    name: str
    description: str = ""
    instructions: str = ""
    picture: str = ""
    model: str = ""
    parameters: dict[str, Any] = field(default_factory=dict)
    questions: list[str] = field(default_factory=list)
    web_search: bool | None = None
    documents: list[uuid.UUID] = field(default_factory=list)
    image: uuid.UUID | None = None

    def columns(self) -> dict[str, Any]:
        """Return the columns of a version; its documents are rows of their own."""
        found = asdict(self)
        del found["documents"]
        return found | {"image_id": found.pop("image")}


def content_of(version: AssistantVersion) -> AssistantContent:
    """Return the content of a stored version. Queries its documents."""
    names = [name for name in AssistantContent.__dataclass_fields__ if name not in ("documents", "image")]
    found = {name: getattr(version, name) for name in names}
    return AssistantContent(**found, documents=ids_of(version), image=version.image_id)


def model_of(version: AssistantVersion, offered: Catalog) -> LlmModel | None:
    """Return the assistant's model, or its successor; None if it has none, or none that is `offered`."""
    try:
        return offered.resolve(version.model) if version.model else None
    except UnknownModel:
        return None


def check_picture(text: str) -> str:
    """Return the emoji without spaces around it, "" if there is none. Raises BadRequest for other text."""
    picture = text.strip()
    if picture and not is_emoji(picture):
        raise BadRequest(_("The picture must be one emoji."))
    return picture


def is_emoji(text: str) -> bool:
    """Return True for one emoji: a symbol, or a sequence such as a flag, a skin tone or a family."""
    if not 0 < len(text) <= MAX_PICTURE_CHARS or unicodedata.category(text[0]) != "So":
        return False
    if any(unicodedata.category(character) not in PARTS_OF_EMOJI for character in text):
        return False
    symbols = sum(unicodedata.category(part[0]) == "So" for part in text.split(JOINER) if part)
    total = sum(unicodedata.category(character) == "So" for character in text)
    return total == symbols or (total == 2 and all(_is_flag_letter(each) for each in text))


def _is_flag_letter(character: str) -> bool:
    return "\U0001f1e6" <= character <= "\U0001f1ff"


def fill(text: str, user: Any) -> str:
    """Return the text with `{date}`, `{time}`, `{name}` and `{language}` replaced; other braces stay.

    Date and time are those of the active time zone, and the language is the active one: the request's.
    """
    if "{" not in text:
        return text
    return INSTRUCTION_VARIABLE.sub(lambda found: _value(found[1], user), text)


def _value(name: str, user: Any) -> str:
    if name == "name":
        return user.get_full_name() or user.get_username()
    if name == "language":
        return str(get_language_info(get_language() or "en")["name"])
    return _written(timezone.localtime(), "l, j F Y" if name == "date" else "H:i")


def _written(moment: datetime, form: str) -> str:
    with translation.override("en"):
        return date_format(moment, form)


def usable(user: User) -> AssistantQuerySet:
    """Return what the user may begin a conversation with, each with its content; their own ones first."""
    found = Assistant.objects.usable_by(user).filter(current__isnull=False).select_related("current", "owner")
    return found.order_by(Case(When(owner_id=user.pk, then=0), default=1), "current__name", "pk")


def owned_names(user: User) -> set[str]:
    """Return the names of the person's own assistants."""
    return set(Assistant.objects.owned_by(user).values_list("current__name", flat=True))


def find(user: User, assistant: uuid.UUID) -> Assistant:
    """Return an assistant that the user may use. Raises NotFound, also for a stranger's."""
    return _one(usable(user), assistant)


def find_own(user: User, assistant: uuid.UUID) -> Assistant:
    """Return an assistant that the user may edit. Raises NotFound."""
    return _one(Assistant.objects.owned_by(user).select_related("current"), assistant)


def _one(among: AssistantQuerySet, key: uuid.UUID) -> Assistant:
    found = among.filter(pk=key).first()
    if found is None or found.current is None:
        raise NotFound(_("This assistant doesn’t exist."))
    return found


def create(user: User, content: AssistantContent) -> Assistant:
    """Store a new assistant. Raises Conflict at the limit, and what `assistant_documents.check` raises."""
    with write_lock(), transaction.atomic():
        user.lock()
        return _create(user, content)


def _create(user: User, content: AssistantContent) -> Assistant:
    require_room(user)
    assistant_documents.check(user, content.documents, content.image)
    made = add(user, uuid.uuid4(), [AssistantVersion(number=1, **content.columns())])
    assert made.current
    assistant_documents.link(made.current, content.documents)
    return made


def add(user: User, key: uuid.UUID, versions: list[AssistantVersion]) -> Assistant:
    """Store a new assistant with these versions, of which the last is the current one, in a transaction."""
    made = Assistant.objects.create(id=key, owner=user)
    for version in versions:
        version.assistant = made
    made.current = AssistantVersion.objects.bulk_create(versions)[-1]
    made.save(update_fields=["current"])
    return made


def require_room(user: User, wanted: int = 1) -> None:
    """Raise Conflict if the person would have more than MAX_ASSISTANTS. Call it with the account locked."""
    if Assistant.objects.owned_by(user).count() + wanted > MAX_ASSISTANTS:
        words = _("You can have at most %(most)s assistants. Delete one first.")
        raise Conflict(words % {"most": MAX_ASSISTANTS})


def edit(user: User, key: uuid.UUID, content: AssistantContent) -> Assistant:
    """Store a new version, unless nothing has changed.

    Raises NotFound, Conflict if it is published and the user may not publish, and as
    `assistant_documents.check`.
    """
    with write_lock(), transaction.atomic():
        user.lock()
        assistant = find_own(user, key)
        assert assistant.current
        if content_of(assistant.current) != content:
            _require_may_change(user, assistant)
            assistant_documents.check(user, content.documents, content.image)
            last: Any = assistant.versions.aggregate(last=Max("number"))["last"]
            version = AssistantVersion(assistant=assistant, number=last + 1, **content.columns())
            version.save(force_insert=True)
            assistant_documents.link(version, content.documents)
            assistant.current = version
            assistant.save(update_fields=["current"])
        return assistant


def _require_may_change(user: User, assistant: Assistant) -> None:
    if not may_publish(user, Assistant) and Assistant.objects.published().filter(pk=assistant.pk).exists():
        raise Conflict(
            _("This assistant is published, and you may no longer publish assistants. You can delete it.")
        )


def publish(user: User, key: uuid.UUID, *, everybody: bool, groups: Collection[int]) -> Assistant:
    """Publish an own assistant to `groups`, or to everybody; without either end its publication.

    Conversations that began with it go on. Raises NotFound, and as `chat.library.publication.audience`.
    """
    with write_lock(), transaction.atomic():
        user.lock()
        audience = publication.audience(user, Assistant, everybody=everybody, groups=groups)
        assistant = find_own(user, key)
        publication.publish(assistant, audience)
        assistant.published_by = None if audience.is_empty else user
        assistant.save(update_fields=["published_by"])
        return assistant


def withdraw(assistants: Collection[uuid.UUID]) -> int:
    """End the publication of these assistants, of any owner. Return the number of those published."""
    with write_lock(), transaction.atomic():
        found = list(Assistant.objects.published().filter(pk__in=assistants).select_for_update())
        return end_publication(Assistant.objects.filter(pk__in=[each.pk for each in found]))


def end_publication(assistants: AssistantQuerySet) -> int:
    """End the publication of these assistants. Return their number. Call it in a transaction."""
    for assistant in assistants:
        publication.publish(assistant, Audience())
    return assistants.update(published_by=None)


def delete(user: User, key: uuid.UUID) -> None:
    """Delete an assistant, which can be undone. Conversations go on with their versions. Raises NotFound."""
    with write_lock():
        if not Assistant.objects.owned_by(user).filter(pk=key).update(deleted=timezone.now()):
            raise NotFound(_("This assistant doesn’t exist."))


def restore(user: User, key: uuid.UUID) -> None:
    """Undo a deletion; an assistant that is not deleted stays as it is. Raises NotFound and Conflict."""
    with write_lock(), transaction.atomic():
        user.lock()
        mine = Assistant.objects.filter(owner=user, pk=key)
        if not mine.exists():
            raise NotFound(_("This assistant doesn’t exist."))
        if mine.filter(deleted__isnull=False).exists():
            require_room(user)
            bring_back(user, mine)


def bring_back(user: User, assistants: AssistantQuerySet) -> int:
    """Undo the deletion of the user's assistants, in a transaction. Return their number.

    They are published again only if the user may publish.
    """
    if not may_publish(user, Assistant):
        end_publication(assistants)
    return assistants.update(deleted=None)


def deleted(user: User, key: uuid.UUID) -> Assistant | None:
    """Return the assistant if the user has deleted it and can undo that."""
    found = Assistant.objects.filter(owner=user, pk=key, deleted__isnull=False)
    return found.select_related("current").first()


def duplicate(user: User, key: uuid.UUID) -> Assistant:
    """Copy an assistant that the user may use, as it is now, into one of their own.

    Two assistants of one person share their documents and their image; those of another's are copied. Raises
    as `create`, and QuotaExceeded.
    """
    with write_lock(), transaction.atomic():
        user.lock()
        source = find(user, key).current
        assert source
        content = content_of(source)
        if source.assistant.owner_id == user.pk:
            name = _("Copy of %(name)s") % {"name": source.name}
            return _create(user, replace(content, name=name[:MAX_ASSISTANT_NAME_CHARS]))
        copies = assistant_documents.copies(user, source)
        image = copies.get(content.image) if content.image else None
        return _create(
            user, replace(content, documents=[copies[key] for key in content.documents], image=image)
        )
