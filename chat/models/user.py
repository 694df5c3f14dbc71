"""The people who can log in."""

from typing import ClassVar, Self

from django.contrib.auth.models import AbstractUser, UserManager
from django.db import models
from django.db.models import Q, Value
from django.db.models.functions import Lower
from django.utils.translation import gettext_lazy as _


class AccountManager(UserManager["User"]):
    """Django's manager, and the one rule of what a person may type as "who I am"."""

    def by_login(self: Self, login: str) -> "User | None":
        """The account whose name is `login`, or whose e-mail address is, in any case.

        With an @ the address goes first: a name that imitates an address must not shut its owner out.
        Names are compared as they are, so a name that only looks alike is another name.
        """
        if not login or "\0" in login:
            return None
        found = self.alias(address=Lower("email")).filter(Q(username=login) | Q(address=Lower(Value(login))))
        return min(found, key=lambda user: (user.username == login) == ("@" in login), default=None)

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

    class Meta(AbstractUser.Meta):
        constraints = [
            models.UniqueConstraint(
                Lower("email"),
                condition=~Q(email=""),
                name="user_email_unique",
                violation_error_message=_("Another account has this e-mail address."),
            ),
        ]

    def replace_password(self, password: str) -> bool:
        """Store another password, unless the one this object was read with was replaced meanwhile.

        Only that column is written: whoever is disabled at the same moment stays disabled. Every session that
        began with the old password ends.
        """
        before = self.password
        self.set_password(password)
        return bool(User.objects.filter(pk=self.pk, password=before).update(password=self.password))
