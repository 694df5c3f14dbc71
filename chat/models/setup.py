"""The one-time link with which the first person makes the administrator's account."""

import secrets
from typing import ClassVar, Self

from django.db import models, transaction
from django.db.models import Q

from chat.models.user import User

TOKEN_BYTES = 32


class SetupLinkManager(models.Manager["SetupLink"]):
    def pending(self: Self) -> "SetupLink | None":
        """The link while no user exists, however users are made; None afterwards.

        It is one row, so every process and every start prints the same link until it is used.
        """
        if User.objects.exists():
            return None
        return self.get_or_create(pk=SetupLink.ONLY, defaults={"token": secrets.token_urlsafe(TOKEN_BYTES)})[
            0
        ]

    def is_open(self: Self, token: str) -> bool:
        """Whether `token` would make an administrator now."""
        return "\0" not in token and not User.objects.exists() and self.filter(token=token).exists()

    def claim(self: Self, token: str, username: str, email: str, password: str) -> User | None:
        """Use the link up and make the administrator; None when it is wrong, used, or no longer owed.

        The deletion is the claim: of two people at once the database lets one delete the row, and the other,
        who waited for that transaction, finds none.
        """
        with transaction.atomic():
            used, _ = self.filter(token=token).delete()
            if not used or User.objects.exists():
                return None
            return User.objects.create_superuser(username, email, password)


class SetupLink(models.Model):
    """At most one row.

    The token is kept as it is, because it has to be printed again at the next start. Whoever can read this
    table while no user exists finds nothing else in the database.
    """

    ONLY = 1

    id = models.PositiveSmallIntegerField(primary_key=True, default=ONLY, editable=False)
    token = models.CharField(max_length=64, unique=True)
    created = models.DateTimeField(auto_now_add=True)

    objects: ClassVar[SetupLinkManager] = SetupLinkManager()

    class Meta:
        constraints = [models.CheckConstraint(condition=Q(id=1), name="setup_link_only_one")]

    def __str__(self) -> str:
        return "The set-up link"
