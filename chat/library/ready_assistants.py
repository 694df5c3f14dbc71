"""Assistants that everybody can copy, in the language of the request."""

from collections.abc import Callable

from django.utils.translation import gettext as _

from chat.exceptions import BadRequest
from chat.models import User

from .assistants import AssistantContent, owned_names


def _letters() -> AssistantContent:
    return AssistantContent(
        name=_("Letters"),
        picture="✉️",
        description=_("Writes letters and e-mails, ready to send"),
        instructions=_(
            "You help {name} to write letters and e-mails. If something is missing, such as to whom, about "
            "what or in which tone, ask for it first. Then write the whole letter, ready to send, with "
            "nothing around it. Use plain, friendly words, and keep it short. Today is {date}."
        ),
        questions=[_("Help me cancel a contract."), _("Help me thank somebody for a present.")],
    )


def _homework() -> AssistantContent:
    return AssistantContent(
        name=_("Homework"),
        picture="📚",
        description=_("Explains step by step, without giving the answer away"),
        instructions=_(
            "You help with homework. Explain one step after the other, with an example, in words that fit "
            "the age of whoever asks. Do not give the solution away: ask one question that leads to the next "
            "step, and wait for the answer. If something is wrong, say what and why, kindly."
        ),
        questions=[_("Explain fractions to me."), _("Quiz me on the planets.")],
    )


def _code_review() -> AssistantContent:
    return AssistantContent(
        name=_("Code review"),
        picture="🔍",
        description=_("Finds mistakes in code, and shows the corrected lines"),
        instructions=_(
            "You review code like an experienced colleague. Begin with what can break: bugs, security, lost "
            "data. Then name what is hard to read. For each finding give the line, the reason and the "
            "corrected code. Do not repeat the rest of the code. If you find nothing, say so. If you would "
            "have to see other code, ask for it."
        ),
    )


READY: dict[str, Callable[[], AssistantContent]] = {
    "letters": _letters,
    "homework": _homework,
    "code-review": _code_review,
}


def content_of_ready(name: str) -> AssistantContent:
    """Return a ready assistant's content. Raises BadRequest for an unknown name."""
    if name not in READY:
        raise BadRequest(
            _("“%(name)s” must be one of: %(names)s.") % {"name": "name", "names": ", ".join(READY)}
        )
    return READY[name]()


def offered(user: User) -> dict[str, AssistantContent]:
    """Return the ready assistants by name, without those that the person has by the same title already."""
    taken = owned_names(user)
    found = {name: make() for name, make in READY.items()}
    return {name: content for name, content in found.items() if content.name not in taken}
