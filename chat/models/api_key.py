"""API keys, with which programs send requests in a user's name, and the digests of secrets."""

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

SECRET_BYTES = 32
KEY_MARK = "chat_"  # lets scanners for leaked secrets recognise a key of this software
PREFIX_LENGTH = 12  # characters of the secret that are stored as they are, to tell a user's keys apart
MAX_KEY_NAME_CHARS = 80
USE_INTERVAL = timedelta(minutes=1)  # least time between two writes of `last_used`


def new_secret() -> str:
    """Return a secret for a URL."""
    return secrets.token_urlsafe(SECRET_BYTES)


def digest_of(secret: str) -> str:
    """Return the SHA-256 digest (hex). One fast hash is safe, because a secret has 256 random bits."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


class ApiKeyQuerySet(models.QuerySet["ApiKey"]):
    def owned_by(self, user: Any) -> Self:
        """Return the user's keys, including revoked ones."""
        return self.filter(user_id=user.pk)

    def valid(self) -> Self:
        """Return the keys that are accepted now: not revoked, not expired, and of an active user."""
        in_time = Q(expires=None) | Q(expires__gt=timezone.now())
        return self.filter(in_time, revoked=None, user__is_active=True)

    def revoke(self, keep: Iterable[Any] = ()) -> int:
        """Revoke the keys for good, except those whose primary key is in `keep`. Return their number."""
        return self.filter(revoked=None).exclude(pk__in=list(keep)).update(revoked=timezone.now())

    def by_secret(self, secret: str) -> "ApiKey | None":
        """Return the valid key with this secret and its user, in one query; None if there is none."""
        return self.valid().select_related("user").filter(digest=digest_of(secret)).first()


class ApiKey(models.Model):
    """An API key of a user.

    `may_run`, `may_list` and `may_export` are its scopes. `keeps_conversations`: its calls are stored like
    turns of the chat. `may_set_gateway`: its calls may choose the AI Gateway and its settings. Only an
    administrator may allow that, because a gateway's log, cache and costs belong to the account.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, related_name="api_keys", verbose_name=_("person")
    )
    name = models.CharField(_("name"), max_length=MAX_KEY_NAME_CHARS)
    prefix = models.CharField(_("begins with"), max_length=PREFIX_LENGTH)
    digest = models.CharField(max_length=64, unique=True, editable=False)
    may_run = models.BooleanField(_("can run models"), default=True)
    may_list = models.BooleanField(_("can list models"), default=True)
    may_export = models.BooleanField(_("can export chats"), default=False, db_default=False)
    may_set_gateway = models.BooleanField(_("can set AI Gateway options"), default=False)
    keeps_conversations = models.BooleanField(_("stores chats"), default=False)
    created = models.DateTimeField(_("created"), default=timezone.now, editable=False)
    expires = models.DateTimeField(_("expires"), null=True, blank=True)
    last_used = models.DateTimeField(_("last used"), null=True, blank=True)
    revoked = models.DateTimeField(_("revoked"), null=True, blank=True)

    objects = ApiKeyQuerySet.as_manager()

    class Meta:
        verbose_name, verbose_name_plural = _("API key"), _("API keys")
        constraints = [
            models.CheckConstraint(condition=~Q(name=""), name="api_key_has_name"),
            models.CheckConstraint(
                condition=Q(may_run=True) | Q(may_list=True) | Q(may_export=True), name="api_key_has_scope"
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def is_valid(self) -> bool:
        """True if the key is neither revoked nor expired. Unlike `valid()`, it ignores the user's state."""
        return self.revoked is None and not self.has_expired

    @property
    def has_expired(self) -> bool:
        return self.expires is not None and self.expires <= timezone.now()

    def generate_secret(self) -> str:
        """Set and return the secret of this new key. Only its digest and its first characters are stored."""
        secret = KEY_MARK + new_secret()
        self.prefix, self.digest = secret[:PREFIX_LENGTH], digest_of(secret)
        return secret

    def revoke(self) -> bool:
        """Revoke the key for good. Return True if this call did it, False if it was revoked before."""
        return bool(ApiKey.objects.filter(pk=self.pk, revoked=None).update(revoked=timezone.now()))

    def mark_used(self) -> None:
        """Set `last_used` to now, at most once a minute."""
        now = timezone.now()
        if self.last_used is None or now - self.last_used >= USE_INTERVAL:
            ApiKey.objects.filter(pk=self.pk).update(last_used=now)
