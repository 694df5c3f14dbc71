"""Invitations: links with which a person creates their own account, once, within seven days."""

from datetime import datetime, timedelta
from typing import ClassVar, Self

from django.conf import settings
from django.db import models, transaction
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from .digest import digest_of, new_secret
from .user import User

VALID_FOR = timedelta(days=7)


class InviteManager(models.Manager["Invite"]):
    def open(self: Self, token: str) -> "models.QuerySet[Invite]":
        """Return a queryset of the invitation with this token; empty if it is unknown, used or expired.

        Also while the account that made it is disabled. No join: in `claim`, `used` must be a condition of
        the UPDATE itself, which PostgreSQL checks again after it waited.
        """
        since = timezone.now() - VALID_FOR
        maker = Q(made_by=None) | Q(made_by__in=User.objects.filter(is_active=True))
        return self.filter(maker, digest=digest_of(token), used=None, created__gt=since)

    def claim(self: Self, token: str, user: User) -> bool:
        """Use the invitation up and store the new `user`; False if it is not open.

        The UPDATE is the claim: of two concurrent requests the second waits for the first one's transaction,
        then finds the invitation used.

        Raises IntegrityError: when the name or the address was taken meanwhile; the invitation stays open.
        """
        with transaction.atomic():
            if not self.open(token).update(used=timezone.now()):
                return False
            user.save(force_insert=True)
            self.filter(digest=digest_of(token)).update(used_by=user)
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
        maker_is_active = self.made_by is None or self.made_by.is_active
        return self.used is None and timezone.now() < self.expires and maker_is_active

    def generate_token(self) -> str:
        """Set and return the token of this new invitation. Only its digest is stored."""
        token = new_secret()
        self.digest = digest_of(token)
        return token
