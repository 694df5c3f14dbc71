"""The embeddings of a document's passages."""

from django.db import models

from .attachment import MAX_EMBEDDING_MODEL_CHARS, MAX_MEDIA_TYPE_CHARS, AttachmentFile


class PassageVectors(models.Model):
    """The embeddings, by `model`, of `count` consecutive passages of a document from number `start` on.

    Documents with the same file and type share them, and they are deleted with the file. So that nobody can
    tell by the time whether another person has a file, those of one's own documents are computed again (see
    `Attachment.embedded`). `vectors` is written by `chat/documents/vectors.py`.
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
    model = models.CharField(max_length=MAX_EMBEDDING_MODEL_CHARS)
    start = models.PositiveIntegerField()
    count = models.PositiveIntegerField()
    vectors = models.BinaryField()

    class Meta:
        default_permissions = ()
        constraints = [
            models.UniqueConstraint(fields=["file", "media_type", "model", "start"], name="passage_vectors"),
        ]

    def __str__(self) -> str:
        return f"{self.file_id} {self.model} {self.start}"
