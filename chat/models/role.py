"""Roles: the three usual sets of rights in the administration. Every other set is a custom one."""

from typing import TYPE_CHECKING

from django.contrib.auth.models import Group, Permission
from django.db import models
from django.db.models import Case, Exists, OuterRef, Q, Value, When
from django.utils.translation import gettext_lazy as _

if TYPE_CHECKING:
    from .user import User

REVIEWERS = "Reviewers"  # the group that a migration creates
REVIEW = Q(content_type__app_label="chat", codename="view_conversation")


class Role(models.TextChoices):
    PERSON = "person", _("Person")
    REVIEWER = "reviewer", _("Reviewer")
    ADMINISTRATOR = "administrator", _("Administrator")
    CUSTOM = "custom", _("Custom")


def role_expression() -> Case:
    """Return the role of each user of a queryset, by the permissions that have an effect.

    Without access to the administration, permissions have none. A reviewer has exactly one, whether from a
    group or directly.
    """
    held = Permission.objects.filter(Q(user=OuterRef("pk")) | Q(group__user=OuterRef("pk")))
    reviews_only = Q(Exists(held.filter(REVIEW))) & ~Q(Exists(held.exclude(REVIEW)))
    return Case(
        When(is_staff=False, is_superuser=False, then=Value(Role.PERSON.value)),
        When(is_staff=True, is_superuser=True, then=Value(Role.ADMINISTRATOR.value)),
        When(reviews_only, is_staff=True, is_superuser=False, then=Value(Role.REVIEWER.value)),
        default=Value(Role.CUSTOM.value),
        output_field=models.CharField(),
    )


def flags_of(role: Role) -> dict[str, bool]:
    """Return the columns of `User` that the role sets."""
    return {"is_staff": role != Role.PERSON, "is_superuser": role == Role.ADMINISTRATOR}


def set_permissions(user: "User", role: Role) -> None:
    """Replace the user's permissions by those of the role. Groups without permissions stay.

    An administrator has all permissions anyway, so theirs stay as they are.
    """
    if role == Role.ADMINISTRATOR:
        return
    user.user_permissions.clear()
    user.groups.remove(*user.groups.filter(permissions__isnull=False).distinct())
    if role == Role.REVIEWER:
        _let_review(user)


def _let_review(user: "User") -> None:
    """Add the user to the group, or grant the permission directly if the group was changed or deleted."""
    review = Permission.objects.get(REVIEW)
    group = Group.objects.filter(name=REVIEWERS).first()
    if group and list(group.permissions.all()) == [review]:
        user.groups.add(group)
    else:
        user.user_permissions.add(review)
