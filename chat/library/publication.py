"""Publication: staff offer a row of their own to everybody, or to the people in some groups."""

from collections.abc import Collection
from dataclasses import dataclass

from django.contrib.auth.models import Group
from django.utils.translation import gettext as _

from chat.exceptions import BadRequest, Forbidden
from chat.models import Assistant, Prompt, User

Publishable = Assistant | Prompt
PublicationKind = type[Assistant] | type[Prompt]


@dataclass(frozen=True, slots=True)
class Audience:
    """The people to whom a row is published; by default nobody."""

    everybody: bool = False
    groups: tuple[Group, ...] = ()

    @property
    def is_empty(self) -> bool:
        return not (self.everybody or self.groups)


def permission(kind: PublicationKind) -> str:
    return f"chat.publish_{kind._meta.model_name}"


def may_publish(user: User, kind: PublicationKind) -> bool:
    return user.is_staff and user.has_perm(permission(kind))


def require_permission(user: User, kind: PublicationKind) -> None:
    """Raise Forbidden without the permission."""
    if not may_publish(user, kind):
        raise Forbidden(_("You don’t have the permission to publish this."))


def audience(user: User, kind: PublicationKind, *, everybody: bool, groups: Collection[int]) -> Audience:
    """Return whom to publish to. Raises Forbidden without the permission, BadRequest for an unknown group."""
    require_permission(user, kind)
    found = list(Group.objects.filter(pk__in=groups))
    if len(found) < len(set(groups)):
        raise BadRequest(_("One of these groups doesn’t exist."))
    return Audience(everybody, () if everybody else tuple(found))


def publish(row: Publishable, audience: Audience) -> None:
    """Publish a row to this audience only; to nobody ends the publication. Call it in a transaction.

    The row is locked first: a publication that ends at the same time would take the groups along that this
    one finds.
    """
    type(row)._default_manager.select_for_update(no_key=True).filter(pk=row.pk).first()
    row.groups.set(audience.groups)
    row.everybody = audience.everybody
    row.save(update_fields=["everybody"])
