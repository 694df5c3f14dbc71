"""Chunks of a live run's text: appended as it arrives, moved into the message when the run ends."""

import uuid
from collections.abc import Iterable

from django.db import models
from django.db.models import F
from django.db.models.functions import Length

TEXT, REASONING = "t", "r"


class RunChunkQuerySet(models.QuerySet["RunChunk"]):
    def texts(self, run: uuid.UUID, text_from: int = 0, reasoning_from: int = 0) -> tuple[str, str]:
        """Return the stored (text, reasoning) of a live run from these positions (code points) on.

        The chunks of a run join without a gap from 0; if there is a gap, return the text before it.
        """
        rows = self.filter(run_id=run).order_by("start").annotate(end=F("start") + Length("text"))
        wanted = rows.filter(
            models.Q(kind=TEXT, end__gt=text_from) | models.Q(kind=REASONING, end__gt=reasoning_from)
        ).values_list("kind", "start", "text")
        found = list(wanted)
        return _join(found, TEXT, text_from), _join(found, REASONING, reasoning_from)


def _join(rows: Iterable[tuple[str, int, str]], kind: str, position: int) -> str:
    parts = []
    for row_kind, start, text in rows:
        if row_kind != kind:
            continue
        if start > position:
            break
        parts.append(text[position - start :])
        position = start + len(text)
    return "".join(parts)


class RunChunk(models.Model):
    run = models.ForeignKey("Run", models.CASCADE, related_name="chunks")
    kind = models.CharField(max_length=1, choices=[(TEXT, "text"), (REASONING, "reasoning")])
    start = models.PositiveIntegerField()
    text = models.TextField()

    objects = RunChunkQuerySet.as_manager()

    class Meta:
        constraints = [
            # Also the index to read a run in order; a repeated insert violates it.
            models.UniqueConstraint(fields=["run", "kind", "start"], name="chunk_once"),
            models.CheckConstraint(condition=models.Q(kind__in=[TEXT, REASONING]), name="chunk_kind"),
            models.CheckConstraint(condition=~models.Q(text=""), name="chunk_has_text"),
        ]

    def __str__(self) -> str:
        return f"{self.kind}{self.start}+{len(self.text)}"
