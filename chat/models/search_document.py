"""The documents of the search index, and the progress of indexing older messages."""

from typing import ClassVar, Self

from django.db import models

# First id of documents that are indexed when their text is stored; older ones descend.
FIRST_NEW = 1_000_000_000


class SearchDocument(models.Model):
    """A message, or the title of a conversation: exactly one of both is set.

    The words of the document `id` are in the table `chat_search_words`, which is FTS5's on SQLite and has a
    `tsvector` on PostgreSQL. A later document has a higher id, so that a search reads the newest first. The
    columns are keys without constraints: `chat.search.index` deletes the words and the row together.
    """

    id = models.BigAutoField(primary_key=True)
    owner = models.BigIntegerField(editable=False)
    message = models.UUIDField(null=True, editable=False)
    conversation = models.UUIDField(null=True, editable=False)

    class Meta:
        default_permissions = ()
        constraints = [
            models.UniqueConstraint(
                fields=[name], condition=models.Q(**{f"{name}__isnull": False}), name=f"search_one_{name}"
            )
            for name in ("message", "conversation")
        ]

    def __str__(self) -> str:
        return f"{self.message or self.conversation}"


class SearchBuildManager(models.Manager["SearchBuild"]):
    def is_running(self: Self) -> bool:
        return self.filter(finished=False).exists()


class SearchBuild(models.Model):
    """The one row that says how far older conversations are indexed: from the newest to the oldest.

    `created` and `conversation` are those of the last one that is indexed. `next_id` is the id of the next
    document: they descend from those of newer documents.
    """

    id = models.PositiveSmallIntegerField(primary_key=True, default=1)
    finished = models.BooleanField(default=False)
    next_id = models.BigIntegerField(default=FIRST_NEW - 1)
    created = models.DateTimeField(null=True)
    conversation = models.UUIDField(null=True)

    objects: ClassVar[SearchBuildManager] = SearchBuildManager()

    class Meta:
        default_permissions = ()

    def __str__(self) -> str:
        return "finished" if self.finished else f"before {self.created}"
