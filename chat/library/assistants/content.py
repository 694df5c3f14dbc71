"""The content of an assistant, as a person writes it: its limits and its checks."""

import unicodedata
import uuid
from dataclasses import asdict, dataclass, field
from typing import Any

from django.utils.translation import gettext as _

from chat.exceptions import BadRequest
from chat.limits import MAX_PICTURE_CHARS
from chat.models import AssistantVersion
from chat.upstream.catalog import Catalog, LlmModel, UnknownModel

from .documents import ids_of

JOINER = "\u200d"  # between two emoji that are shown as one
PARTS_OF_EMOJI = ("So", "Sk", "Mn", "Cf")  # Unicode categories


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
