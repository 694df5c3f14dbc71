"""An invitation: a link with which one person makes their own account, once, within seven days."""

import hashlib
import secrets
from datetime import datetime, timedelta
from typing import ClassVar, Self

from django.conf import settings
from django.db import models, transaction
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from .user import User

VALID_FOR = timedelta(days=7)
TOKEN_BYTES = 32


def fingerprint(token: str) -> str:
    """What is stored of a token: who reads the database cannot use the link."""
    return hashlib.sha256(token.encode()).hexdigest()


class InviteManager(models.Manager["Invite"]):
    def issue(self: Self, made_by: User, note: str = "") -> tuple["Invite", str]:
        """A new invitation and its token, which is shown this once."""
        invite = Invite(made_by=made_by, note=note)
        token = invite.generate_token()
        invite.save(force_insert=True)
        return invite, token

    def open(self: Self, token: str) -> "models.QuerySet[Invite]":
        """The invitation of this token, if it was not used and its time is not over."""
        since = timezone.now() - VALID_FOR
        return self.filter(digest=fingerprint(token), used=None, created__gt=since)

    def claim(self: Self, token: str, user: User) -> bool:
        """Use the invitation up and store the new `user`; False when it is wrong, used or too old.

        The update is the claim: of two people at once the database lets one change the row, and the other,
        who waited for that transaction, finds it used.

        :raises IntegrityError: the name or the address was taken a moment ago; the invitation stays open.
        """
        with transaction.atomic():
            if not self.open(token).update(used=timezone.now()):
                return False
            user.save(force_insert=True)
            self.filter(digest=fingerprint(token)).update(used_by=user)
        return True


class Invite(models.Model):
    digest = models.CharField(max_length=64, unique=True, editable=False)
    note = models.CharField(_("for whom"), max_length=200, default="", blank=True)
    made_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.SET_NULL,
        null=True,
        editable=False,
        related_name="+",
        verbose_name=_("made by"),
    )
    created = models.DateTimeField(default=timezone.now, editable=False)
    used = models.DateTimeField(null=True, editable=False)
    used_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, editable=False, related_name="+"
    )

    objects: ClassVar[InviteManager] = InviteManager()

    class Meta:
        verbose_name, verbose_name_plural = _("invitation"), _("invitations")

    def __str__(self) -> str:
        return self.note or _("invitation %(number)s") % {"number": self.pk}

    @property
    def expires(self) -> datetime:
        return self.created + VALID_FOR

    @property
    def is_open(self) -> bool:
        return self.used is None and timezone.now() < self.expires

    def generate_token(self) -> str:
        """Give this new invitation its token, of which only a digest is kept."""
        token = secrets.token_urlsafe(TOKEN_BYTES)
        self.digest = fingerprint(token)
        return token
