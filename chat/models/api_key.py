"""An API key: with it a program asks in a person's name."""

import hashlib
import secrets
import uuid
from collections.abc import Iterable
from datetime import timedelta
from typing import Any, Self

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

PREFIX = "chat_"  # by which programs that look for leaked secrets know one of ours
SECRET_BYTES = 32
SHOWN = 12  # characters of a key by which its owner tells it from the others
LONGEST_NAME = 80
USE_NOTED = timedelta(minutes=1)  # the last use is written at most so often


def digest_of(secret: str) -> str:
    """What is stored of a key. It has 256 random bits, so nobody guesses it from one fast hash."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


class ApiKeyQuerySet(models.QuerySet["ApiKey"]):
    def owned_by(self, user: Any) -> Self:
        """A person's own keys, the revoked ones too."""
        return self.filter(user_id=user.pk)

    def valid(self) -> Self:
        """Keys that open something now: not revoked, not expired, of a person who is not disabled."""
        in_time = Q(expires=None) | Q(expires__gt=timezone.now())
        return self.filter(in_time, revoked=None, user__is_active=True)

    def revoke(self, keep: Iterable[Any] = ()) -> int:
        """For good, but for those whose primary keys are in `keep`. Says how many it were."""
        return self.filter(revoked=None).exclude(pk__in=list(keep)).update(revoked=timezone.now())

    def by_secret(self, secret: str) -> "ApiKey | None":
        """The valid key that reads `secret`, with its person."""
        return self.valid().select_related("user").filter(digest=digest_of(secret)).first()


class ApiKey(models.Model):
    """`may_run` and `may_list` are its scopes; `keeps_conversations`: calls are kept like a chat's turns.

    `may_set_gateway`: its calls may say through which AI Gateway they go, and how. An administrator allows
    it, for a gateway's log, cache and costs are the account's.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, related_name="api_keys", verbose_name=_("person")
    )
    name = models.CharField(_("name"), max_length=LONGEST_NAME)
    shown = models.CharField(_("begins with"), max_length=SHOWN)
    digest = models.CharField(max_length=64, unique=True, editable=False)
    may_run = models.BooleanField(_("may run models"), default=True)
    may_list = models.BooleanField(_("may list models"), default=True)
    may_set_gateway = models.BooleanField(_("may set the AI Gateway"), default=False)
    keeps_conversations = models.BooleanField(_("keeps conversations"), default=False)
    created = models.DateTimeField(_("created"), default=timezone.now, editable=False)
    expires = models.DateTimeField(_("expires"), null=True, blank=True)
    last_used = models.DateTimeField(_("last used"), null=True, blank=True)
    revoked = models.DateTimeField(_("revoked"), null=True, blank=True)

    objects = ApiKeyQuerySet.as_manager()

    class Meta:
        verbose_name, verbose_name_plural = _("API key"), _("API keys")
        constraints = [
            models.CheckConstraint(condition=~Q(name=""), name="api_key_has_name"),
            models.CheckConstraint(condition=Q(may_run=True) | Q(may_list=True), name="api_key_has_scope"),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def is_valid(self) -> bool:
        """As `valid` says, but for the person."""
        return self.revoked is None and not self.has_expired

    @property
    def has_expired(self) -> bool:
        return self.expires is not None and self.expires <= timezone.now()

    def generate_secret(self) -> str:
        """Give this new key its secret, of which only a digest and the beginning are kept."""
        secret = PREFIX + secrets.token_urlsafe(SECRET_BYTES)
        self.shown, self.digest = secret[:SHOWN], digest_of(secret)
        return secret

    def revoke(self) -> bool:
        """For good. Says whether it was this call."""
        return bool(ApiKey.objects.filter(pk=self.pk, revoked=None).update(revoked=timezone.now()))

    def mark_used(self) -> None:
        """That it is used now, where the last note is a minute old."""
        now = timezone.now()
        if self.last_used is None or now - self.last_used >= USE_NOTED:
            ApiKey.objects.filter(pk=self.pk).update(last_used=now)
