"""The people who can log in."""

from collections.abc import Iterable
from typing import Any, ClassVar, Self

from django.contrib.auth.models import AbstractUser, UserManager
from django.core.exceptions import ValidationError
from django.db import models, transaction
from django.db.models import Q, Value
from django.db.models.functions import Lower
from django.utils.translation import gettext_lazy as _

from .api_key import ApiKey
from .identifier import Identifier

NAME_TAKEN = _("Another account has this name, or one that looks like it.")
ADDRESS_TAKEN = _("Another account has this e-mail address, or a name that looks like it.")


class AccountManager(UserManager["User"]):
    """Django's manager, and the one rule of what a person may type as "who I am"."""

    def by_login(self: Self, login: str) -> "User | None":
        """The account whose name is `login`, or whose e-mail address is, in any case."""
        return next(iter(self.all_by_login(login)), None)

    def all_by_login(self: Self, login: str) -> "list[User]":
        """The same; two where one's name was another's address before that was refused, the owner first.

        Names are compared as they are, so a name that only looks alike is another name.
        """
        if not login or "\0" in login:
            return []
        named = Q(username=login) | Q(address=Lower(Value(login)))
        found = list(self.alias(address=Lower("email")).filter(named).order_by("pk"))
        if len(found) > 1:
            owner = Identifier.objects.owner(login)
            found.sort(key=lambda user: user.pk != owner)
        return found

    def is_last_administrator(self: Self, user: "User") -> bool:
        """Whether `user` can open the admin with all rights, and nobody else can.

        Call it in the transaction that takes that away: of two who demote each other the second one waits
        here, and sees what the first one did.
        """
        able = self.select_for_update().filter(**dict.fromkeys(User.ADMINISTRATOR, True)).order_by("pk")
        return list(able.values_list("pk", flat=True)) == [user.pk]


class User(AbstractUser):
    """Django's user with an e-mail address that belongs to one person only, in whatever case."""

    ADMINISTRATOR = ("is_active", "is_staff", "is_superuser")  # all three, to administer

    objects: ClassVar[AccountManager] = AccountManager()
    _replaces_password = False  # set where this object was given another one than is stored

    class Meta(AbstractUser.Meta):
        constraints = [
            models.UniqueConstraint(
                Lower("email"),
                condition=~Q(email=""),
                name="user_email_unique",
                violation_error_message=_("Another account has this e-mail address."),
            ),
        ]

    def clean(self) -> None:
        """Refuse a name or an address that another account has, or could be taken for."""
        super().clean()
        wrong: dict[str, Any] = {}
        if Identifier.objects.taken(self, self.username, ""):
            wrong["username"] = ValidationError(NAME_TAKEN, code="unique")
        if Identifier.objects.taken(self, "", self.email or ""):
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

        Sessions need nothing done: each holds a hash of the password that it began with.

        :raises IntegrityError: another account has this name or address, or one that looks like it.
        """
        fields = kwargs.get("update_fields")
        renames = fields is None or not {"username", "email"}.isdisjoint(fields)
        revokes = self._revokes_keys() and (fields is None or "password" in fields)
        with transaction.atomic():
            super().save(*args, **kwargs)
            if renames:
                Identifier.objects.claim(self)
            if revokes:
                ApiKey.objects.owned_by(self).revoke()
                self._replaces_password = False

    def _revokes_keys(self) -> bool:
        """Whether this object holds another password than the stored account, as text or as none.

        Django renews an outdated hash of the same password through `set_password` as well, and then forgets
        the text: that is no new password.
        """
        replaces = self._replaces_password and not self._state.adding
        return replaces and (self._password is not None or not self.has_usable_password())

    def replace_password(self, password: str, keep: Iterable[Any] = ()) -> bool:
        """Store another password, unless the one this object was read with was replaced meanwhile.

        Only that column is written: whoever is disabled at the same moment stays disabled. Every session that
        began with the old one ends, and every API key is revoked whose primary key is not in `keep`.
        """
        before = self.password
        self.set_password(password)
        with transaction.atomic():
            changed = User.objects.filter(pk=self.pk, password=before).update(password=self.password)
            if changed:
                ApiKey.objects.owned_by(self).revoke(keep)
        self._password, self._replaces_password = None, False
        return bool(changed)
