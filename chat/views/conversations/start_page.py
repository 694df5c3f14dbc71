"""The start page: a greeting, assistants, the latest chat, an administrator's first steps."""

import json
import re
import uuid
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest
from django.http.request import QueryDict
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils.translation import gettext as _

from chat.catalog import config
from chat.exceptions import NotFound
from chat.library import assistants
from chat.library.assistants import model_of
from chat.models import AssistantVersion, Attachment, Conversation, Invite, SiteDoor, SiteModel, User
from chat.models.site import identity
from chat.upstream.catalog import Catalog
from chat.upstream.providers.llama_cpp import BUNDLED_ID

from ..requests import access, request_fields
from ..requests.responses import HttpResponseSeeOther, set_cookie
from .sidebar import Listing

# Holds the id of the administrator who dismissed the checklist in this browser.
CHECKLIST_COOKIE = "checklist"
COOKIE_SECONDS = 365 * 24 * 60 * 60
NAME_PART = re.compile(r"[\s._+@]")  # what ends the first of several names; “Anna-Lena” is one
MAX_OFFERED_ASSISTANTS = 6  # on the empty page


def context(request: HttpRequest, user: User, catalog: Catalog, listing: Listing) -> dict[str, Any]:
    """Return the empty page's context; `latest`: the conversation to go on with, if there is one."""
    by_id = {model.id: model for model in catalog}
    return {
        "first_name": first_name(user),
        "latest": listing.latest,
        "small_model": by_id.get(BUNDLED_ID),
        "checklist": _checklist() if _wants_checklist(request, user) else [],
    }


def first_name(user: User) -> str:
    """Return the name to greet with: the first name, else a name of the account that looks like one."""
    written = user.first_name or user.get_username()
    name = NAME_PART.split(written.strip(), maxsplit=1)[0]
    return name if user.first_name or (name.istitle() and name.replace("-", "").isalpha()) else ""


@dataclass(frozen=True, slots=True)
class ChecklistItem:
    """A step of setting up the site, and where it is done."""

    name: str
    url: str
    done: bool


def _wants_checklist(request: HttpRequest, user: User) -> bool:
    return user.is_superuser and request.COOKIES.get(CHECKLIST_COOKIE) != str(user.pk)


def _checklist() -> list[ChecklistItem]:
    """Return the steps of setting up this site; none once all are done."""
    items = [
        ChecklistItem(_("Connect Cloudflare"), reverse("connect"), config.account() is not None),
        ChecklistItem(
            _("Choose the models that people see"),
            reverse("admin:chat_sitemodel_doors"),
            SiteDoor.objects.exists() or SiteModel.objects.filter(is_default=True).exists(),
        ),
        ChecklistItem(_("Give the site a name and a picture"), reverse("site"), bool(identity().name)),
        ChecklistItem(
            _("Invite someone"),
            reverse("admin:chat_invite_add"),
            Invite.objects.exists() or User.objects.filter(is_superuser=False).exists(),
        ),
    ]
    return [] if all(item.done for item in items) else items


@access.require_methods("POST", page=True)
def dismiss_checklist(request: HttpRequest) -> HttpResponseBase:
    """Remember in this browser that the user has dismissed the checklist, then show the empty page."""
    user = access.get_user(request)
    response = HttpResponseSeeOther(reverse("chat:home"))
    set_cookie(response, CHECKLIST_COOKIE, str(user.pk), COOKIE_SECONDS)
    return response


def wanted(request: HttpRequest) -> AssistantVersion | None:
    """Return the version that `?assistant=` begins with. Raises BadRequest and NotFound."""
    key = request_fields.parse_uuid(request.GET, "assistant")
    return assistants.find(access.get_user(request), key).current if key else None


def typed_for(user: User, sent: QueryDict) -> AssistantVersion | None:
    """Return the version that a refused form would have begun with; None if it has or there is none."""
    try:
        return assistants.find(user, uuid.UUID(sent.get("assistant", ""))).current
    except (ValueError, NotFound):
        return None


def model_of_assistant(version: AssistantVersion | None, offered: Catalog) -> str:
    """Return the model with which the assistant begins, "" if it has none that is offered."""
    found = model_of(version, offered) if version else None
    return found.id if found else ""


def of_conversation(conversation: Conversation) -> dict[str, Any]:
    return {"assistant": conversation.assistant_version}


def of_start(user: User, version: AssistantVersion | None, offered: Catalog) -> dict[str, Any]:
    """Return the context of the empty page: of the chosen version, otherwise of what is offered.

    `unset`: JSON of a request that resets the assistant's parameters. `is_model_missing`: the assistant has a
    model that the user may not use.
    """
    if version is None:
        found = list(assistants.usable(user).defer("current__instructions")[: MAX_OFFERED_ASSISTANTS + 1])
        return {
            "assistants": found[:MAX_OFFERED_ASSISTANTS],
            "more_assistants": len(found) > MAX_OFFERED_ASSISTANTS,
        }
    return {
        "assistant": version,
        "unset": json.dumps(dict.fromkeys(version.parameters)),
        # Not its name, which would tell that a hidden model exists.
        "is_model_missing": bool(version.model and not model_of(version, offered)),
        "documents": Attachment.objects.of_version(version.pk),
    }
