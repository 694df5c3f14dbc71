"""The calls of tools in exports, and the rows of imported ones."""

import json
import uuid
from datetime import datetime

from django.utils import timezone
from msgspec import structs

from chat.models import Step

from .records import EXPORTED_STEP_FIELDS, MAX_STEPS, ImportedStep, Object, written
from .tree import EARLIEST_TIME


def step_objects(steps: list[Step]) -> list[Object]:
    """Return the steps of a reply as they are exported. `n` counts within the reply, over all its runs."""
    return [_object(number, step) for number, step in enumerate(steps[:MAX_STEPS], 1)]


def _object(number: int, step: Step) -> Object:
    found: Object = {"n": number}
    found |= {name: getattr(step, name) for name in EXPORTED_STEP_FIELDS}
    return found | {"created": written(step.created), "finished": written(step.finished)}


def rows_of(message: uuid.UUID, steps: list[ImportedStep], created: datetime) -> list[Step]:
    """Return the rows of an imported reply's steps. Their costs do not count here: see `Step`.

    A time that cannot be right is replaced by `created`, or left out.
    """
    now = timezone.now()

    def known(moment: datetime | None) -> datetime | None:
        return moment if moment and EARLIEST_TIME <= moment <= now else None

    return [
        Step(
            message_id=message,
            number=number,
            turn=0,
            revision=number,
            **structs.asdict(step)
            | {
                "arguments": json.loads(step.arguments),
                "sources": [structs.asdict(each) for each in step.sources],
                "created": known(step.created) or created,
                "finished": known(step.finished),
            },
        )
        for number, step in enumerate(steps, 1)
    ]
