"""User accounts, and their roles: the three usual sets of rights in the administration."""

from typing import TYPE_CHECKING

from django.contrib.auth.models import Group, Permission
from django.db import models
from django.db.models import Case, Exists, OuterRef, Q, Value, When
from django.utils.translation import gettext_lazy as _

if TYPE_CHECKING:
    pass

from collections.abc import Iterable
from typing import Any, ClassVar, Self

from django.contrib.auth import SESSION_KEY
from django.contrib.auth.hashers import UNUSABLE_PASSWORD_PREFIX, make_password
from django.contrib.auth.models import AbstractUser, UserManager
from django.contrib.sessions.models import Session
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models.functions import Lower

from .api_key import ApiKey
from .identifier import Identifier
from .preferences import JOINED_COLUMNS_SQL, Preferences

REVIEWERS = "Reviewers"  # the group that a migration creates
REVIEW = Q(content_type__app_label="chat", codename="view_conversation")
# Raw SQL, because every request runs it and Django's query compiler takes longer than the database.
SIGNED_IN = (
    f"SELECT u.*, {JOINED_COLUMNS_SQL} FROM chat_user u LEFT JOIN chat_preferences p ON p.user_id = u.id "  # noqa: S608
    "WHERE u.id = %s"
)
NAME_TAKEN = _("Another account already uses this name or one that looks like it.")
ADDRESS_TAKEN = _("Another account already uses this email address or a name that looks like it.")


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


class AccountManager(UserManager["User"]):
    """Django's manager, with the one rule for what a user may type as the login: the name or the address."""

    def by_login(self: Self, login: str) -> "User | None":
        """Return the account with the name `login`, or with that e-mail address in any case; None if none."""
        return next(iter(self.all_by_login(login)), None)

    def all_by_login(self: Self, login: str) -> "list[User]":
        """Return all accounts that `by_login` could mean, the owner of the identifier first.

        There are two if one's name is the other's address, from before that was refused. Names are compared
        exactly, so a name that only looks alike is another name.
        """
        if not login or "\0" in login:
            return []
        named = Q(username=login) | Q(address=Lower(Value(login)))
        found = list(self.alias(address=Lower("email")).filter(named).order_by("pk"))
        if len(found) > 1:
            owner = Identifier.objects.owner(login)
            found.sort(key=lambda user: user.pk != owner)
        return found

    def with_preferences(self: Self, user_id: Any) -> "User | None":
        """Return the account and its preferences, read in one query; None if there is no such account."""
        user = next(iter(self.raw(SIGNED_IN, [user_id])), None)
        if user is not None:
            Preferences.attach(user)
        return user

    def is_last_administrator(self: Self, user: "User") -> bool:
        """Return True if `user` is the only account that can open the admin with all rights.

        Call it in the transaction that removes those rights: it locks the administrators' rows, so that of
        two administrators who demote each other the second waits, and sees the first one's change.
        """
        able = self.select_for_update().filter(**dict.fromkeys(User.ADMINISTRATOR, True)).order_by("pk")
        return list(able.values_list("pk", flat=True)) == [user.pk]


class User(AbstractUser):
    """Django's user, with an e-mail address that is unique regardless of case."""

    ADMINISTRATOR = ("is_active", "is_staff", "is_superuser")  # an administrator has all three

    objects: ClassVar[AccountManager] = AccountManager()
    _replaces_password = False  # True once a password was set on this object that is not yet saved

    class Meta(AbstractUser.Meta):
        verbose_name = _("person")  # type: ignore[assignment]
        verbose_name_plural = _("people")  # type: ignore[assignment]
        constraints = [
            models.UniqueConstraint(
                Lower("email"),
                condition=~Q(email=""),
                name="user_email_unique",
                violation_error_message=_("Another account already uses this email address."),
            ),
        ]

    def lock(self) -> None:
        """Lock this account's row until the transaction ends, so that requests together exceed no limit.

        Rows that refer to the account can still be inserted. On SQLite there is only one writer anyway.
        """
        User.objects.select_for_update(no_key=True).filter(pk=self.pk).first()

    def clean(self) -> None:
        """Raise ValidationError if the name or the address is another account's, or looks like it."""
        super().clean()
        wrong: dict[str, Any] = {}
        if Identifier.objects.taken(self.pk, self.username, ""):
            wrong["username"] = ValidationError(NAME_TAKEN, code="unique")
        if Identifier.objects.taken(self.pk, "", self.email or ""):
            wrong["email"] = ValidationError(ADDRESS_TAKEN, code="unique")
        if wrong:
            raise ValidationError(wrong)

    def set_unusable_password(self) -> None:
        super().set_unusable_password()
        self._replaces_password = True

    def set_password(self, raw_password: str | None) -> None:
        super().set_password(raw_password)
        self._replaces_password = True

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Store the account and its identifiers; with a new password, also revoke its API keys.

        Sessions end by themselves: each holds a hash of the password that it began with. Of a disabled
        account both end for good, and links for a new password: enabling it must not let in again who was to
        be shut out.

        Raises IntegrityError when another account has this name or address, or one that looks like it.
        """
        fields = kwargs.get("update_fields")
        renames = fields is None or not {"username", "email"}.isdisjoint(fields)
        revokes = self._revokes_keys() and (fields is None or "password" in fields)
        disables = not (self.is_active or self._state.adding) and (fields is None or "is_active" in fields)
        with transaction.atomic():
            super().save(*args, **kwargs)
            if renames:
                Identifier.objects.claim(self.pk, self.username, self.email or "")
            if revokes or disables:
                ApiKey.objects.owned_by(self).revoke()
            if revokes:
                self._replaces_password = False
            if disables:
                self._end_sessions()
                self._end_reset_links()

    def _end_sessions(self) -> None:
        """Delete the sessions. Only their data names their user, so all of them are read: some 20 µs each."""
        own = [
            each.pk
            for each in Session.objects.iterator()
            if each.get_decoded().get(SESSION_KEY) == str(self.pk)
        ]
        Session.objects.filter(pk__in=own).delete()

    def _end_reset_links(self) -> None:
        """Replace an unusable password by another one, which each link for a new password is signed with.

        Making such a link ends the password, so none is open of an account that has one.
        """
        own = User.objects.filter(pk=self.pk, password__startswith=UNUSABLE_PASSWORD_PREFIX)
        unusable = make_password(None)
        if own.update(password=unusable):
            self.password = unusable

    def _revokes_keys(self) -> bool:
        """Return True if this object holds a new password, or an unusable one in place of the stored one.

        Django also calls `set_password` to renew an outdated hash of the same password, and then clears the
        raw password: that is not a new password.
        """
        replaces = self._replaces_password and not self._state.adding
        return replaces and (self._password is not None or not self.has_usable_password())

    def replace_password(self, password: str, keep: Iterable[Any] = ()) -> bool:
        """Store a new password. Return False if the stored one has changed since this object was read.

        Only that column is written, so a user who is disabled at the same moment stays disabled. All sessions
        that began with the old password end, and all API keys except those with a primary key in `keep` are
        revoked.
        """
        before = self.password
        self.set_password(password)
        with transaction.atomic():
            changed = User.objects.filter(pk=self.pk, password=before).update(password=self.password)
            if changed:
                ApiKey.objects.owned_by(self).revoke(keep)
        self._password, self._replaces_password = None, False
        return bool(changed)
