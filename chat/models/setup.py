"""The one-time set-up link, with which the first user creates the administrator's account."""

from typing import ClassVar, Self

from django.db import models, transaction
from django.db.models import Q

from chat.models.digest import new_secret
from chat.models.user import User


class SetupLinkManager(models.Manager["SetupLink"]):
    def pending(self: Self) -> "SetupLink | None":
        """Return the link while no user exists, however users are created; None afterwards.

        The link is a single row, so every process and every start prints the same one until it is used.
        """
        if User.objects.exists():
            return None
        return self.get_or_create(pk=SetupLink.ONLY, defaults={"token": new_secret()})[0]

    def is_open(self: Self, token: str) -> bool:
        """Return True if `token` could create an administrator now."""
        return "\0" not in token and not User.objects.exists() and self.filter(token=token).exists()

    def claim(self: Self, token: str, username: str, email: str, password: str) -> User | None:
        """Use the link up and create the administrator; None if the token is wrong or used, or a user exists.

        The DELETE is the claim: of two concurrent requests the second waits for the first one's transaction,
        then finds no row.
        """
        with transaction.atomic():
            used, _ = self.filter(token=token).delete()
            if not used or User.objects.exists():
                return None
            return User.objects.create_superuser(username, email, password)


class SetupLink(models.Model):
    """The set-up link, in at most one row.

    The token is stored in plain text, because the next start has to print it again. While no user exists, a
    reader of this table finds nothing else in the database.
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
