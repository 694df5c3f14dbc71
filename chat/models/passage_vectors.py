"""The embeddings of a document's passages."""

from django.db import models

from .attachment import MAX_EMBEDDING_MODEL_CHARS, MAX_MEDIA_TYPE_CHARS, READING_CHARS, AttachmentFile


class PassageVectors(models.Model):
    """The embeddings, by `model`, of `count` consecutive passages of a document from number `start` on.

    Documents with the same file and reading share them, and they are deleted with the file. They count for
    the people for whom they were computed (`Attachment.embedded`): otherwise the time would tell whether
    another person has a file. `vectors` is written by `chat/files/passages/embeddings.py`.
    """

    file = models.ForeignKey(
        AttachmentFile,
        models.CASCADE,
        related_name="vectors",
        db_column="sha256",
        db_index=False,  # the constraint below begins with it
        editable=False,
    )
    media_type = models.CharField(max_length=MAX_MEDIA_TYPE_CHARS)
    reading = models.CharField(max_length=READING_CHARS, default="", db_default="")
    model = models.CharField(max_length=MAX_EMBEDDING_MODEL_CHARS)
    start = models.PositiveIntegerField()
    count = models.PositiveIntegerField()
    vectors = models.BinaryField()

    class Meta:
        default_permissions = ()
        constraints = [
            models.UniqueConstraint(
                fields=["file", "media_type", "reading", "model", "start"], name="passage_vectors"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.file_id} {self.model} {self.start}"
