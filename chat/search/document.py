"""The texts of the index. Each is indexed under a tag, which names its owner and its kind.

A tag begins with an underscore, so no word of a text can equal it.
"""

import uuid
from dataclasses import dataclass

from . import words


def message_tag(owner: int) -> str:
    """Return the tag of the messages of this user."""
    return f"_m{owner}"


def title_tag(owner: int) -> str:
    """Return the tag of the titles of this user's conversations."""
    return f"_t{owner}"


@dataclass(frozen=True, slots=True)
class Document:
    """A text to index: of a message, or the title of a conversation."""

    owner: int
    text: str
    message: uuid.UUID | None = None
    conversation: uuid.UUID | None = None

    @property
    def words(self) -> list[str]:
        """The words of the text, after the tag of its kind and its owner. They are computed each time."""
        tag = message_tag(self.owner) if self.message else title_tag(self.owner)
        return [tag, *words.indexed(self.text)]
