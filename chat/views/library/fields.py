"""Parsing of an assistant's fields and of a publication, from JSON or a form.

Every function raises BadRequest, PayloadTooLarge and UnsupportedMediaType.
"""

import uuid
from collections.abc import Sequence
from typing import Any

from django.http import HttpRequest
from django.utils.translation import gettext as _

from chat.exceptions import BadRequest
from chat.library.assistants import AssistantContent, check_picture
from chat.limits import (
    MAX_ASSISTANT_NAME_CHARS,
    MAX_DESCRIPTION_CHARS,
    MAX_INSTRUCTIONS_CHARS,
    MAX_MODEL_CHARS,
    MAX_STARTER_QUESTION_CHARS,
    MAX_STARTER_QUESTIONS,
)
from chat.upstream.parameters import Value

from ..requests import access, parameter_form, request_fields, request_parsers
from ..requests.request_fields import is_form

MAX_GROUPS = 1_000
MAX_DIGITS = 9  # of an id; no site has more groups
ASSISTANT_FIELDS = (
    "name",
    "description",
    "instructions",
    "picture",
    "model",
    "questions",
    "documents",
    "image",
    "web_search",
)
# In a form: the model whose controls it has, which need not be the chosen one.
CONTROLS_FIELD = "parameters_of"
MAX_SENT_PICTURE_CHARS = 100  # with spaces around it


def groups(sent: dict[str, Any]) -> list[int]:
    """Return the ids of the chosen groups. Raises BadRequest."""
    values = sent.get("groups", [])
    if not isinstance(values, list) or len(values) > MAX_GROUPS or not all(map(_is_id, values)):
        raise BadRequest(_("“%(name)s” must be a list of numbers.") % {"name": "groups"})
    return [int(value) for value in values]


def _is_id(value: Any) -> bool:
    """Return True for the id of a row, also as a form writes it."""
    if isinstance(value, str):
        return value.isascii() and value.isdecimal() and len(value) <= MAX_DIGITS
    return isinstance(value, int) and not isinstance(value, bool) and 0 < value < 10**MAX_DIGITS


def content(
    request: HttpRequest,
    kept_model: str = "",
    uploaded: Sequence[uuid.UUID] = (),
    image: uuid.UUID | None = None,
) -> AssistantContent:
    """Parse all fields of an assistant; those that are missing are empty. `model` must be offered.

    `kept_model`: the one that it has, which may have been withdrawn since. `uploaded`, `image`: ids of the
    documents and of the picture that came with the form.
    """
    forms_own = (CONTROLS_FIELD,) if is_form(request) else ()
    sent = request_fields.parse(
        request, *ASSISTANT_FIELDS, *forms_own, *request_parsers.parameter_fields(request)
    )
    model = request_fields.parse_text(sent, "model", MAX_MODEL_CHARS) or ""
    if model and model != kept_model:
        access.get_model_or_400(access.get_models(request), model)
    chosen = _parameters(request, sent, model)
    return AssistantContent(
        name=_line(sent, "name", MAX_ASSISTANT_NAME_CHARS, required=True),
        description=_line(sent, "description", MAX_DESCRIPTION_CHARS),
        instructions=(request_fields.parse_text(sent, "instructions", MAX_INSTRUCTIONS_CHARS) or "").strip(),
        picture=check_picture(request_fields.parse_text(sent, "picture", MAX_SENT_PICTURE_CHARS) or ""),
        model=model,
        parameters=chosen,
        questions=_questions(sent),
        documents=[*_documents(sent), *uploaded],
        image=image or request_fields.parse_uuid(sent, "image"),
        web_search=_optional_switch(request, sent, "web_search"),
    )


def _optional_switch(request: HttpRequest, sent: dict[str, Any], name: str) -> bool | None:
    return request_fields.parse_switch(request, sent, name) if sent.get(name) is not None else None


def has_other_controls(request: HttpRequest, model: str) -> bool:
    """Return True if the form has the controls of another model than the one chosen on it."""
    shown = request.POST.get(CONTROLS_FIELD)
    return bool(shown) and shown != access.get_models(request).resolve_or_default(model).id


def _parameters(request: HttpRequest, sent: dict[str, Any], model: str) -> dict[str, Value]:
    sent_values = request_parsers.sent_parameters(request, sent) or {}
    chosen = {name: value for name, value in sent_values.items() if value is not None}
    if not has_other_controls(request, model):
        return chosen
    return parameter_form.fit(access.get_models(request).resolve_or_default(model), chosen)


def publication(request: HttpRequest) -> tuple[bool, list[int]]:
    """Parse `{"everybody"?: bool, "groups"?: [id, …]}` into (everybody, groups)."""
    sent = request_fields.parse(request, "everybody", "groups", required=False)
    return request_fields.parse_switch(request, sent, "everybody"), groups(sent)


def _questions(sent: dict[str, Any]) -> list[str]:
    """Return the opening questions, without the blank ones that a form sends."""
    values = [
        " ".join(
            (
                request_fields.parse_text({"questions": each}, "questions", MAX_STARTER_QUESTION_CHARS) or ""
            ).split()
        )
        for each in _list(sent, "questions")
    ]
    found = list(dict.fromkeys(filter(None, values)))
    if len(found) > MAX_STARTER_QUESTIONS:
        words = _("An assistant can have %(most)s opening questions.")
        raise BadRequest(words % {"most": MAX_STARTER_QUESTIONS})
    return found


def _documents(sent: dict[str, Any]) -> tuple[uuid.UUID, ...]:
    return request_fields.parse_uuids(sent, "documents") if "documents" in sent else ()


def _list(sent: dict[str, Any], name: str) -> list[Any]:
    values = sent.get(name, [])
    if not isinstance(values, list):
        raise BadRequest(_("“%(name)s” must be a list.") % {"name": name})
    return values


def _line(sent: dict[str, Any], name: str, longest: int, *, required: bool = False) -> str:
    """Return a text with its white space collapsed to one line."""
    return " ".join((request_fields.parse_text(sent, name, longest, required=required) or "").split())
