"""Rows written and read as an older version does, by the models of its schema."""

import uuid
from datetime import UTC, datetime
from itertools import count
from typing import Any

from django.db import models

AT = datetime(2026, 1, 22, 12, tzinfo=UTC)
VALUES = {
    models.BinaryField: b"",
    models.BooleanField: False,
    models.DateField: AT.date(),
    models.DateTimeField: AT,
    models.FloatField: 1.0,
    models.JSONField: {},
}
# Values that constraints demand of columns with a default.
ALSO = {"chat_message": {"text": "Which?"}, "chat_run": {"status": "complete", "finished": AT}}

_number = count(1)


def create(model: type[models.Model], made: dict[type[models.Model], Any]) -> Any:
    """Store a row with a value in every column that needs one, after the rows that it refers to.

    `made` has the rows so far, by model.
    """
    values = {
        field.name: _value(field, made)
        for field in model._meta.local_concrete_fields
        if not (field.has_default() or field.null or isinstance(field, models.AutoField))
    }
    made[model] = model._default_manager.create(**values | ALSO.get(model._meta.db_table, {}))
    return made[model]


def _value(field: Any, made: dict[type[models.Model], Any]) -> Any:
    if field.remote_field:
        target = field.remote_field.model
        return made.get(target) or create(target, made)
    if field.choices:
        return field.choices[0][0]
    if isinstance(field, models.UUIDField):
        return uuid.uuid4()
    if isinstance(field, models.CharField | models.TextField):
        return f"v{next(_number)}"[: field.max_length]
    return VALUES.get(type(field), next(_number))
